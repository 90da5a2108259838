/**
 * DNS names and what is counted of each, bounded. A name is a number; its counts and sample frames are a row in one
 * flat array, what every query touches in its first cache line.
 */
import { nameText } from './dns-name.ts';
import { InternTable } from './intern.ts';
import type { Hasher } from './pending.ts';

const MAX_NAMES = 32_768;
const FIRST_NAMES = 1024;
const ROW = 32;
const MAX_FRAMES = 5;

/** What is counted of a name: where its count stands in the row, and where the frames of the first few. */
export const NAME = {
  queries: { count: 0, frames: 1 },
  nxdomain: { count: 6, frames: 7 },
  servfail: { count: 12, frames: 16 },
  unanswered: { count: 13, frames: 21 },
} as const;
/** Queries that ask for text or anything at all: data can hide there. */
const TXT_OR_NULL = 14;

export type Counted = (typeof NAME)[keyof typeof NAME];

export class NameTable {
  /** Names refused for want of room. */
  dropped = 0;
  readonly names: string[] = [];
  readonly #index = new InternTable(MAX_NAMES);
  #rows = new Int32Array(FIRST_NAMES * ROW);

  /** Number of the name at `o`, whose hash is given; -1 when there is no room for another. */
  of(h: Hasher, b: Uint8Array, o: number): number {
    const known = this.#index.find(h.low, h.high);
    if (known >= 0) return known;
    const fresh = this.#index.add(h.low, h.high);
    if (fresh < 0) {
      this.dropped++;
      return -1;
    }
    if ((fresh + 1) * ROW > this.#rows.length) {
      const rows = new Int32Array(this.#rows.length * 2);
      rows.set(this.#rows);
      this.#rows = rows;
    }
    this.names.push(nameText(b, o));
    return fresh;
  }

  /** Counts once more. Frame 0 is none; the first few others are remembered. */
  add(name: number, what: Counted, frame: number): void {
    if (name < 0) return;
    const row = name * ROW;
    this.#rows[row + what.count]!++;
    if (frame === 0) return;
    for (let at = row + what.frames; at < row + what.frames + MAX_FRAMES; at++) {
      if (this.#rows[at] !== 0) continue;
      this.#rows[at] = frame;
      return;
    }
  }

  addTxtOrNull(name: number): void {
    if (name >= 0) this.#rows[name * ROW + TXT_OR_NULL]!++;
  }

  txtOrNull(name: number): number {
    return this.#rows[name * ROW + TXT_OR_NULL]!;
  }

  count(name: number, what: Counted): number {
    return this.#rows[name * ROW + what.count]!;
  }

  frames(name: number, what: Counted): number[] {
    const from = name * ROW + what.frames;
    return Array.from(this.#rows.subarray(from, from + MAX_FRAMES)).filter((frame) => frame !== 0);
  }
}
