import { type Readable, type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

/** A body read up to a bound, whatever it unpacks to. */
export interface Body {
  readonly bytes: Buffer;
  readonly truncated: boolean;
}

const UNPACK: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};
const MAX_LAYERS = 2;

class Full extends Error {}

/**
 * Counts what comes out of the last unpacking, and stops everything at the bound: a bomb never gets to
 * unfold, because nothing asks for more of it.
 */
export async function readBody(stream: Readable, encoding: string | undefined, max: number): Promise<Body> {
  const layers = (encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (layers.length > MAX_LAYERS || layers.some((name) => UNPACK[name] === undefined))
    throw new Error(`the body is packed as "${encoding}", which is not read`);
  const chunks: Buffer[] = [];
  let total = 0;
  const sink = new Writable({
    highWaterMark: 64 * 1024,
    write: (chunk: Buffer, _encoding, next) => {
      const room = max - total;
      chunks.push(chunk.subarray(0, room));
      total += Math.min(chunk.length, room);
      next(chunk.length > room ? new Full() : null);
    },
  });
  const unpack = layers.reverse().map((name) => (UNPACK[name] as () => Transform)());
  try {
    await pipeline([stream, ...unpack, sink]);
    return { bytes: Buffer.concat(chunks, total), truncated: false };
  } catch (error) {
    if (error instanceof Full) return { bytes: Buffer.concat(chunks, total), truncated: true };
    throw error;
  }
}
