import type { Duplex } from 'node:stream';
import * as zlib from 'node:zlib';
import type { AnswerBody, BodyReader } from './answer-body.ts';

/**
 * Answers that come compressed although nobody asked for it: what cannot be read cannot be judged.
 *
 * U1 Only as much is unpacked as the reader takes; whoever reads counts what was unpacked.
 */
const UNPACKERS: Readonly<Record<string, () => Duplex>> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
};

/** The body as it was before it was packed; undefined when nobody here can unpack it. */
export function unpacked(body: AnswerBody, encoding: string): AnswerBody | undefined {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  const make = Object.hasOwn(UNPACKERS, name) ? UNPACKERS[name] : undefined;
  return make === undefined ? undefined : unpackedBy(make(), body);
}

function unpackedBy(unpacker: Duplex, body: AnswerBody): AnswerBody {
  // Given up before anybody reads it, its error is nobody's.
  unpacker.on('error', () => undefined);
  return {
    read: (reader: BodyReader) => {
      unpacker
        .on('data', (chunk: Buffer) => reader.data(chunk))
        .on('end', () => reader.end())
        .on('error', (error: Error) => {
          body.destroy(error);
          reader.fail(error);
        })
        .on('drain', () => body.resume());
      body.read({
        data: (chunk) => {
          if (!unpacker.write(chunk)) body.pause();
        },
        end: () => void unpacker.end(),
        fail: (error) => void unpacker.destroy(error),
      });
    },
    pause: () => void unpacker.pause(),
    resume: () => void unpacker.resume(),
    destroy: (reason) => {
      body.destroy(reason);
      unpacker.destroy(reason);
    },
  };
}
