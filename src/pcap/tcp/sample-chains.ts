/**
 * About a hundred durations a stream: chains of small chunks in one flat array. A chain that is full keeps every
 * second of its values and from then on takes every second (fourth, eighth …) new one; beyond `MAX_CHUNKS` nothing
 * is added.
 *
 * The head of a chain lives with its owner, in three words and a double, so that adding a value touches memory the
 * caller has at hand: newest chunk (-1 for none), how many were offered, how many are kept and at which stride.
 */
import type { Spread } from '../analysis.ts';
import { spreadOf } from '../facts/samples.ts';

/** A chunk is its link and fifteen values: one cache line. */
const CHUNK = 15;
const STRIDE = 16;
const PER_CHAIN = 120;
/** Chunks of a full chain: halving leaves half of them full. */
const FULL_CHAIN = PER_CHAIN / CHUNK;
const MAX_CHUNKS = 1 << 18;
const FIRST_CHUNKS = 4096;

export class SampleChains {
  #values = new Float32Array(FIRST_CHUNKS * STRIDE);
  #links = new Int32Array(this.#values.buffer);
  readonly #order = new Int32Array(FULL_CHAIN);
  #free = -1;
  #used = 0;

  /** `at` is the first of the chain's words, `sum` its double. */
  add(w: Int32Array, at: number, d: Float64Array, sum: number, value: number): void {
    const count = w[at + 1]!++;
    d[sum]! += value;
    let packed = w[at + 2]!;
    if ((count & ((1 << (packed >>> 8)) - 1)) !== 0) return;
    if ((packed & 255) === PER_CHAIN) {
      this.#halve(w, at);
      packed = w[at + 2]!;
      if ((count & ((1 << (packed >>> 8)) - 1)) !== 0) return;
    }
    const within = (packed & 255) % CHUNK;
    let chunk = w[at]!;
    if (within === 0) {
      const fresh = this.#allocate();
      if (fresh < 0) return;
      this.#links[fresh * STRIDE] = chunk;
      w[at] = fresh;
      chunk = fresh;
    }
    this.#values[chunk * STRIDE + 1 + within] = value;
    w[at + 2] = packed + 1;
  }

  spread(w: Int32Array, at: number, d: Float64Array, sum: number): Spread | null {
    const count = w[at + 1]!;
    const values = this.#read(w, at);
    if (values.length === 0) return null;
    return { ...spreadOf(values), count, mean: d[sum]! / count, exact: count === values.length };
  }

  release(w: Int32Array, at: number): void {
    for (let chunk = w[at]!; chunk >= 0; ) {
      const next = this.#links[chunk * STRIDE]!;
      this.#links[chunk * STRIDE] = this.#free;
      this.#free = chunk;
      chunk = next;
    }
    w[at] = -1;
    w[at + 1] = 0;
    w[at + 2] = 0;
  }

  /** The values of a chain in the order they came. */
  #read(w: Int32Array, at: number): Float64Array {
    const values = new Float64Array(w[at + 2]! & 255);
    let end = values.length;
    for (let chunk = w[at]!; chunk >= 0 && end > 0; chunk = this.#links[chunk * STRIDE]!) {
      const from = end - 1 - ((end - 1) % CHUNK);
      for (let i = from; i < end; i++) values[i] = this.#values[chunk * STRIDE + 1 + i - from]!;
      end = from;
    }
    return values;
  }

  /** Every second value moves to the front chunks; the chunks behind them are given back. */
  #halve(w: Int32Array, at: number): void {
    const links = this.#links;
    const values = this.#values;
    const order = this.#order;
    let n = FULL_CHAIN;
    for (let chunk = w[at]!; chunk >= 0; chunk = links[chunk * STRIDE]!) order[--n] = chunk;
    for (let i = 0; i < PER_CHAIN / 2; i++) {
      const from = order[((2 * i) / CHUNK) | 0]! * STRIDE + 1 + ((2 * i) % CHUNK);
      values[order[(i / CHUNK) | 0]! * STRIDE + 1 + (i % CHUNK)] = values[from]!;
    }
    for (let i = FULL_CHAIN / 2; i < FULL_CHAIN; i++) {
      links[order[i]! * STRIDE] = this.#free;
      this.#free = order[i]!;
    }
    w[at] = order[FULL_CHAIN / 2 - 1]!;
    w[at + 2] = (PER_CHAIN / 2) | (((w[at + 2]! >>> 8) + 1) << 8);
  }

  #allocate(): number {
    if (this.#free >= 0) {
      const at = this.#free;
      this.#free = this.#links[at * STRIDE]!;
      return at;
    }
    if (this.#used * STRIDE === this.#values.length) {
      const size = this.#used * 2;
      if (size > MAX_CHUNKS) return -1;
      const values = new Float32Array(size * STRIDE);
      values.set(this.#values);
      this.#values = values;
      this.#links = new Int32Array(values.buffer);
    }
    return this.#used++;
  }
}
