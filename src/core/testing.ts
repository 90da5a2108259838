import type { Clock, Ids } from './ports.ts';

/** Time that moves only when told to, or when somebody sleeps. */
export function testClock(start = '2026-01-15T14:30:00.000Z'): Clock & { advance(ms: number): void } {
  let now = Date.parse(start);
  const origin = now;
  return {
    now: () => new Date(now),
    monotonic: () => now - origin,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += ms;
    },
    advance: (ms) => {
      now += ms;
    },
  };
}

/** Ids that count, so golden files stay the same. */
export function testIds(): Ids {
  let n = 0;
  return { next: (prefix) => `${prefix}_${String(++n).padStart(4, '0')}` };
}
