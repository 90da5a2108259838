/** What every part of an `Analysis` is made of. */
export const SAMPLE_FRAMES = 5;
export const SERIES_BINS = 512;
export const LIST_BOUND = 20;

/** A list cut to its heaviest members, with how many there were. */
export interface Bounded<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Distribution of durations in milliseconds; `exact` is false when quantiles come from a sketch or a sample. */
export interface Spread {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
  readonly mean: number;
  readonly exact: boolean;
}
