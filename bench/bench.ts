/** One measured promise. `target` is the design page's number; `inside` says what is inside the clock. */
export interface BenchRow {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** e.g. `>= 100000` or `<= 1.5`; empty when there is none. */
  readonly target: string;
  readonly inside: string;
  /** Median absolute deviation or min–max of the repeats, in the unit. */
  readonly spread?: string;
}

/** A file `bench/<room>.bench.ts` exports `bench`; `npm run bench` runs them all, `--quick` in under a minute together. */
export interface Bench {
  readonly name: string;
  run(options: { readonly quick: boolean }): Promise<readonly BenchRow[]>;
}

/** Median and spread of repeated timings in milliseconds. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
