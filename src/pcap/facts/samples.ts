/**
 * Durations and their distribution. Values are kept as they are up to a bound; beyond it they are counted in
 * logarithmic buckets one percent wide, and the result says so.
 */
import type { Spread } from '../analysis.ts';
import { nth } from './select.ts';

const MAX_EXACT = 1 << 20;
const FIRST = 256;
/** Buckets from a nanosecond up, each 1 % wider than the one before. */
const STEP = Math.log(1.01);
const BUCKETS = 4096;
const SMALLEST = 1e-6;

export class Samples {
  count = 0;
  #values = new Float64Array(FIRST);
  #buckets: Float64Array | undefined;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** Takes one duration in milliseconds. */
  add(value: number): void {
    const at = this.count++;
    this.#sum += value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    if (this.#buckets !== undefined) {
      this.#buckets[bucketOf(value)]!++;
      return;
    }
    if (at === this.#values.length) {
      if (at >= MAX_EXACT) {
        this.#toBuckets();
        this.#buckets![bucketOf(value)]!++;
        return;
      }
      const bigger = new Float64Array(at * 2);
      bigger.set(this.#values);
      this.#values = bigger;
    }
    this.#values[at] = value;
  }

  spread(): Spread | null {
    if (this.count === 0) return null;
    const mean = this.#sum / this.count;
    if (this.#buckets !== undefined) {
      return {
        count: this.count,
        min: this.#min,
        median: this.#quantile(0.5),
        p95: this.#quantile(0.95),
        max: this.#max,
        mean,
        exact: false,
      };
    }
    return { ...spreadOf(this.#values.subarray(0, this.count)), mean, exact: true };
  }

  /** How many values lie above. */
  above(limit: number): number {
    let n = 0;
    if (this.#buckets !== undefined) {
      for (let i = bucketOf(limit) + 1; i < BUCKETS; i++) n += this.#buckets[i]!;
      return n;
    }
    for (let i = 0; i < this.count; i++) if (this.#values[i]! > limit) n++;
    return n;
  }

  #toBuckets(): void {
    const buckets = new Float64Array(BUCKETS);
    for (const value of this.#values) buckets[bucketOf(value)]!++;
    this.#buckets = buckets;
    this.#values = new Float64Array(0);
  }

  #quantile(q: number): number {
    let left = Math.floor(q * this.count);
    for (let i = 0; i < BUCKETS; i++) {
      left -= this.#buckets![i]!;
      if (left < 0) return Math.min(this.#max, Math.max(this.#min, SMALLEST * Math.exp((i + 0.5) * STEP)));
    }
    return this.#max;
  }
}

/**
 * Quantiles: the median is the middle (mean of two), p95 the value at ⌊0.95·n⌋ of the values in order. The values
 * change places.
 */
export function spreadOf(values: Float64Array): Omit<Spread, 'mean' | 'exact'> {
  const n = values.length;
  const middle = n >> 1;
  const upper = nth(values, middle);
  // What is smaller stands before it now, what is larger behind it: each half is searched for its own.
  let min = upper;
  let lower = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < middle; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > lower) lower = value;
  }
  if (n % 2 === 1) lower = upper;
  const p95 = nth(values, Math.min(n - 1, Math.floor(0.95 * n)), middle);
  let max = upper;
  for (let i = middle; i < n; i++) if (values[i]! > max) max = values[i]!;
  return { count: n, min, median: (lower + upper) / 2, p95, max };
}

function bucketOf(value: number): number {
  if (value <= SMALLEST) return 0;
  return Math.min(BUCKETS - 1, Math.floor(Math.log(value / SMALLEST) / STEP));
}
