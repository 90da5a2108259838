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

export class Pending {
  /** Of the question the last `take` found. */
  time = 0;
  frame = 0;
  tag = 0;
  dropped = 0;
  size = 0;
  readonly #capacity: number;
  readonly #mask: number;
  readonly #low: Int32Array;
  readonly #high: Int32Array;
  readonly #times: Float64Array;
  readonly #frames: Uint32Array;
  readonly #tags: Int32Array;
  readonly #links: Int32Array;
  readonly #live: Uint8Array;
  readonly #buckets: Int32Array;
  #head = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#mask = capacity * 2 - 1;
    this.#low = new Int32Array(capacity);
    this.#high = new Int32Array(capacity);
    this.#times = new Float64Array(capacity);
    this.#frames = new Uint32Array(capacity);
    this.#tags = new Int32Array(capacity);
    this.#links = new Int32Array(capacity);
    this.#live = new Uint8Array(capacity);
    this.#buckets = new Int32Array(capacity * 2).fill(EMPTY);
  }

  /** Remembers a question. `tag` is the caller's own. Answers the tag of the question that had to go, or -1. */
  put(h: Hasher, time: number, frame: number, tag: number): number {
    const at = this.#head;
    this.#head = (at + 1) % this.#capacity;
    let lost = -1;
    if (this.#live[at] === 1) {
      lost = this.#tags[at]!;
      this.#unlink(at);
      this.dropped++;
    }
    this.#low[at] = h.low;
    this.#high[at] = h.high;
    this.#times[at] = time;
    this.#frames[at] = frame;
    this.#tags[at] = tag;
    this.#live[at] = 1;
    const bucket = h.low & this.#mask;
    this.#links[at] = this.#buckets[bucket]!;
    this.#buckets[bucket] = at;
    this.size++;
    return lost;
  }

  /** Finds and removes the question; false when there is none. */
  take(h: Hasher): boolean {
    const at = this.#find(h);
    if (at < 0) return false;
    this.time = this.#times[at]!;
    this.frame = this.#frames[at]!;
    this.tag = this.#tags[at]!;
    this.#unlink(at);
    return true;
  }

  has(h: Hasher): boolean {
    return this.#find(h) >= 0;
  }

  /** Every question still waiting, oldest first. */
  *waiting(): Generator<{ readonly tag: number; readonly frame: number }> {
    for (let i = 0; i < this.#capacity; i++) {
      const at = (this.#head + i) % this.#capacity;
      if (this.#live[at] === 1) yield { tag: this.#tags[at]!, frame: this.#frames[at]! };
    }
  }

  #find(h: Hasher): number {
    for (let at = this.#buckets[h.low & this.#mask]!; at !== EMPTY; at = this.#links[at]!)
      if (this.#low[at] === h.low && this.#high[at] === h.high) return at;
    return -1;
  }

  #unlink(at: number): void {
    const bucket = this.#low[at]! & this.#mask;
    let i = this.#buckets[bucket]!;
    if (i === at) this.#buckets[bucket] = this.#links[at]!;
    else {
      while (this.#links[i] !== at) i = this.#links[i]!;
      this.#links[i] = this.#links[at]!;
    }
    this.#live[at] = 0;
    this.size--;
  }
}
