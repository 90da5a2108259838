/**
 * IP fragments put together again.
 *
 * Invariants: 1. at most `MAX_SETS` datagrams and `MAX_BYTES` bytes wait, the oldest go first; 2. a datagram is
 * at most 65,535 bytes; 3. where fragments overlap, the one that starts first keeps its bytes.
 */
import type { Engine } from '../engine.ts';

const MAX_SETS = 4096;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DATAGRAM = 65_535;
const MAX_PIECES = 8192;

interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

interface Datagram {
  readonly pieces: Piece[];
  readonly frame: number;
  length: number;
  held: number;
}

export class Fragments {
  seen = 0;
  reassembled = 0;
  dropped = 0;
  readonly sampleFrames: number[] = [];
  #waiting = new Map<string, Datagram>();
  #held = 0;

  get incomplete(): number {
    return this.#waiting.size + this.dropped;
  }

  /** Keeps the piece; answers the whole payload when this was the last that was missing. */
  add(
    e: Engine,
    b: Uint8Array,
    start: number,
    end: number,
    protocol: number,
    offset: number,
    more: boolean,
    id: number,
  ): Uint8Array | undefined {
    this.seen++;
    if (this.sampleFrames.length < 5) this.sampleFrames.push(e.frameNumber);
    const length = end - start;
    if (offset + length > MAX_DATAGRAM) return undefined;
    const key = keyOf(e, protocol, id);
    let datagram = this.#waiting.get(key);
    if (datagram === undefined) {
      datagram = { pieces: [], frame: e.frameNumber, length: -1, held: 0 };
      this.#waiting.set(key, datagram);
    }
    if (datagram.pieces.length >= MAX_PIECES) return undefined;
    datagram.pieces.push({ offset, bytes: b.slice(start, end) });
    datagram.held += length;
    this.#held += length;
    if (!more && datagram.length < 0) datagram.length = offset + length;
    const whole = assemble(datagram);
    if (whole !== undefined) {
      this.#forget(key, datagram);
      this.reassembled++;
    } else this.#bound();
    return whole;
  }

  #forget(key: string, datagram: Datagram): void {
    this.#waiting.delete(key);
    this.#held -= datagram.held;
  }

  #bound(): void {
    while (this.#waiting.size > MAX_SETS || this.#held > MAX_BYTES) {
      const oldest = this.#waiting.entries().next().value;
      if (oldest === undefined) return;
      this.#forget(oldest[0], oldest[1]);
      this.dropped++;
    }
  }
}

function keyOf(e: Engine, protocol: number, id: number): string {
  const { src, dst } = e;
  const tail = `${protocol}.${id}.${e.family}`;
  if (e.family === 4) return `${src[0]}.${dst[0]}.${tail}`;
  return `${src.join('.')}.${dst.join('.')}.${tail}`;
}

function assemble(datagram: Datagram): Uint8Array | undefined {
  const { pieces, length } = datagram;
  if (length < 0 || datagram.held < length) return undefined;
  const sorted = [...pieces].sort((a, b) => a.offset - b.offset);
  let covered = 0;
  for (const piece of sorted) {
    // What lies beyond the end does not matter: another datagram's pieces may be mixed in.
    if (covered >= length) break;
    if (piece.offset > covered) return undefined;
    covered = Math.max(covered, piece.offset + piece.bytes.length);
  }
  if (covered < length) return undefined;
  const whole = new Uint8Array(length);
  let filled = 0;
  for (const { offset, bytes } of sorted) {
    const stop = Math.min(length, offset + bytes.length);
    if (stop <= filled) continue;
    whole.set(bytes.subarray(filled - offset, stop - offset), filled);
    filled = stop;
  }
  return whole;
}
