export interface RateLimiter {
  /** False when this caller has used up its minute. No limit: always true. */
  take(name: string, perMinute: number | undefined): boolean;
}

/** Requests a minute by caller, as a bucket that refills steadily. */
export function rateLimiter(now: () => number): RateLimiter {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take: (name: string, perMinute: number | undefined): boolean => {
      if (perMinute === undefined) return true;
      const at = now();
      const bucket = buckets.get(name) ?? { left: perMinute, at };
      const left = Math.min(perMinute, bucket.left + ((at - bucket.at) * perMinute) / 60_000);
      buckets.set(name, { left: left >= 1 ? left - 1 : left, at });
      return left >= 1;
    },
  };
}
