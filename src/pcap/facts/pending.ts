/**
 * Questions that wait for their answer (echo requests, DNS queries): a bounded table from a 64-bit keyed hash to
 * the time and frame of the question. The hash is seeded anew for every run, so nobody can aim at collisions.
 *
 * Invariants:
 * 1. A question gives way, and counts as unanswered, once as many newer ones were put as the table may hold.
 * 2. Rows stand in the order of the questions. When they run out, the live ones move together; the table grows only
 *    when more than half are live, so that few open questions stay in a core's own cache.
 */
import { randomFillSync } from 'node:crypto';

const EMPTY = -1;

export class Hasher {
  low = 0;
  high = 0;
  readonly #seed = new Int32Array(4);

  constructor() {
    randomFillSync(this.#seed);
  }

  start(): void {
    this.low = this.#seed[0]!;
    this.high = this.#seed[1]!;
  }

  add(word: number): void {
    let l = Math.imul(this.low ^ word, 0x9e3779b1);
    l ^= l >>> 15;
    let h = Math.imul(this.high ^ (word + this.#seed[2]!), 0x85ebca77);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae3d);
    this.low = l ^ (h >>> 16);
    this.high = h ^ (l << 7);
  }

  finish(): void {
    this.low = Math.imul(this.low ^ (this.low >>> 16), 0x7feb352d) ^ this.#seed[3]!;
    this.low ^= this.low >>> 15;
    this.high = Math.imul(this.high ^ (this.high >>> 15), 0x846ca68b);
    this.high ^= this.high >>> 16;
  }
}

/** Words of a waiting question: hash, frame, tag, link, its number (0: answered), and a double for the time. */
const ENTRY = 8;
const LOW = 0;
const HIGH = 1;
const FRAME = 2;
const TAG = 3;
const LINK = 4;
const NUMBER = 5;
const TIME = 3;
const FIRST_ROWS = 256;

export class Pending {
  /** Of the question the last `take` found. */
  time = 0;
  frame = 0;
  tag = 0;
  dropped = 0;
  size = 0;
  readonly #bound: number;
  #words = new Int32Array(FIRST_ROWS * ENTRY);
  #times = new Float64Array(this.#words.buffer);
  #buckets = new Int32Array(FIRST_ROWS * 2).fill(EMPTY);
  #mask = FIRST_ROWS * 2 - 1;
  /** No row before this one is live; none from `#used` on is in use. */
  #oldest = 0;
  #used = 0;
  #puts = 0;

  constructor(bound: number) {
    this.#bound = bound;
  }

  /** Remembers a question. `tag` is the caller's own. Answers the tag of the question that had to go, or -1. */
  put(h: Hasher, time: number, frame: number, tag: number): number {
    const number = ++this.#puts;
    const lost = this.#giveWay(number);
    if (this.#used * ENTRY === this.#words.length) this.#tidy();
    const at = this.#used++;
    const w = this.#words;
    const row = at * ENTRY;
    w[row + LOW] = h.low;
    w[row + HIGH] = h.high;
    w[row + FRAME] = frame;
    w[row + TAG] = tag;
    w[row + NUMBER] = number;
    this.#times[at * (ENTRY / 2) + TIME] = time;
    this.#link(at);
    this.size++;
    return lost;
  }

  /** Finds and removes the question; false when there is none. */
  take(h: Hasher): boolean {
    const at = this.#find(h);
    if (at < 0) return false;
    this.time = this.#times[at * (ENTRY / 2) + TIME]!;
    this.frame = this.#words[at * ENTRY + FRAME]!;
    this.tag = this.#words[at * ENTRY + TAG]!;
    this.#remove(at);
    return true;
  }

  has(h: Hasher): boolean {
    return this.#find(h) >= 0;
  }

  /** Every question still waiting, oldest first. */
  *waiting(): Generator<{ readonly tag: number; readonly frame: number }> {
    const w = this.#words;
    for (let row = this.#oldest * ENTRY; row < this.#used * ENTRY; row += ENTRY)
      if (w[row + NUMBER] !== 0) yield { tag: w[row + TAG]!, frame: w[row + FRAME]! };
  }

  #find(h: Hasher): number {
    const w = this.#words;
    for (let at = this.#buckets[h.low & this.#mask]!; at !== EMPTY; at = w[at * ENTRY + LINK]!)
      if (w[at * ENTRY + LOW] === h.low && w[at * ENTRY + HIGH] === h.high) return at;
    return -1;
  }

  /** Invariant 1: only the oldest live question can be too old. */
  #giveWay(number: number): number {
    const w = this.#words;
    while (this.#oldest < this.#used && w[this.#oldest * ENTRY + NUMBER] === 0) this.#oldest++;
    if (this.#oldest === this.#used || w[this.#oldest * ENTRY + NUMBER]! > number - this.#bound) return -1;
    const lost = w[this.#oldest * ENTRY + TAG]!;
    this.#remove(this.#oldest);
    this.dropped++;
    return lost;
  }

  #link(at: number): void {
    const bucket = this.#words[at * ENTRY + LOW]! & this.#mask;
    this.#words[at * ENTRY + LINK] = this.#buckets[bucket]!;
    this.#buckets[bucket] = at;
  }

  #remove(at: number): void {
    const w = this.#words;
    const bucket = w[at * ENTRY + LOW]! & this.#mask;
    let i = this.#buckets[bucket]!;
    if (i === at) this.#buckets[bucket] = w[at * ENTRY + LINK]!;
    else {
      while (w[i * ENTRY + LINK] !== at) i = w[i * ENTRY + LINK]!;
      w[i * ENTRY + LINK] = w[at * ENTRY + LINK]!;
    }
    w[at * ENTRY + NUMBER] = 0;
    this.size--;
  }

  /** Invariant 2. At most `bound` rows are live, so there are never more than twice as many. */
  #tidy(): void {
    const old = this.#words;
    const rows = this.#used;
    if (this.size * 2 > rows) {
      this.#words = new Int32Array(rows * 2 * ENTRY);
      this.#times = new Float64Array(this.#words.buffer);
      this.#buckets = new Int32Array(rows * 4);
      this.#mask = rows * 4 - 1;
    }
    this.#buckets.fill(EMPTY);
    this.#used = 0;
    for (let row = this.#oldest * ENTRY; row < rows * ENTRY; row += ENTRY) {
      if (old[row + NUMBER] === 0) continue;
      const to = this.#used * ENTRY;
      for (let i = 0; i < ENTRY; i++) this.#words[to + i] = old[row + i]!;
      this.#link(this.#used++);
    }
    this.#oldest = 0;
  }
}
