/**
 * Questions that wait for their answer (echo requests, DNS queries): a bounded table from a 64-bit keyed hash to
 * the time and frame of the question. The hash is seeded anew for every run, so nobody can aim at collisions.
 * When full, the oldest question gives way and counts as unanswered.
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

/** Words of a waiting question: hash, frame, tag, link, whether it lives, and a double for the time. */
const ENTRY = 8;
const LOW = 0;
const HIGH = 1;
const FRAME = 2;
const TAG = 3;
const LINK = 4;
const LIVE = 5;

export class Pending {
  /** Of the question the last `take` found. */
  time = 0;
  frame = 0;
  tag = 0;
  dropped = 0;
  size = 0;
  readonly #capacity: number;
  readonly #mask: number;
  readonly #words: Int32Array;
  readonly #times: Float64Array;
  readonly #buckets: Int32Array;
  #head = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#mask = capacity * 2 - 1;
    this.#words = new Int32Array(capacity * ENTRY);
    this.#times = new Float64Array(this.#words.buffer);
    this.#buckets = new Int32Array(capacity * 2).fill(EMPTY);
  }

  /** Remembers a question. `tag` is the caller's own. Answers the tag of the question that had to go, or -1. */
  put(h: Hasher, time: number, frame: number, tag: number): number {
    const at = this.#head;
    this.#head = at + 1 === this.#capacity ? 0 : at + 1;
    const w = this.#words;
    const row = at * ENTRY;
    let lost = -1;
    if (w[row + LIVE] === 1) {
      lost = w[row + TAG]!;
      this.#unlink(at);
      this.dropped++;
    }
    w[row + LOW] = h.low;
    w[row + HIGH] = h.high;
    w[row + FRAME] = frame;
    w[row + TAG] = tag;
    w[row + LIVE] = 1;
    this.#times[at * 4 + 3] = time;
    const bucket = h.low & this.#mask;
    w[row + LINK] = this.#buckets[bucket]!;
    this.#buckets[bucket] = at;
    this.size++;
    return lost;
  }

  /** Finds and removes the question; false when there is none. */
  take(h: Hasher): boolean {
    const at = this.#find(h);
    if (at < 0) return false;
    this.time = this.#times[at * 4 + 3]!;
    this.frame = this.#words[at * ENTRY + FRAME]!;
    this.tag = this.#words[at * ENTRY + TAG]!;
    this.#unlink(at);
    return true;
  }

  has(h: Hasher): boolean {
    return this.#find(h) >= 0;
  }

  /** Every question still waiting, oldest first. */
  *waiting(): Generator<{ readonly tag: number; readonly frame: number }> {
    for (let i = 0; i < this.#capacity; i++) {
      const row = ((this.#head + i) % this.#capacity) * ENTRY;
      if (this.#words[row + LIVE] === 1)
        yield { tag: this.#words[row + TAG]!, frame: this.#words[row + FRAME]! };
    }
  }

  #find(h: Hasher): number {
    const w = this.#words;
    for (let at = this.#buckets[h.low & this.#mask]!; at !== EMPTY; at = w[at * ENTRY + LINK]!)
      if (w[at * ENTRY + LOW] === h.low && w[at * ENTRY + HIGH] === h.high) return at;
    return -1;
  }

  #unlink(at: number): void {
    const w = this.#words;
    const bucket = w[at * ENTRY + LOW]! & this.#mask;
    let i = this.#buckets[bucket]!;
    if (i === at) this.#buckets[bucket] = w[at * ENTRY + LINK]!;
    else {
      while (w[i * ENTRY + LINK] !== at) i = w[i * ENTRY + LINK]!;
      w[i * ENTRY + LINK] = w[at * ENTRY + LINK]!;
    }
    w[at * ENTRY + LIVE] = 0;
    this.size--;
  }
}
