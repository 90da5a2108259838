import { type Clock, systemClock } from '../../core/index.ts';

/** A clock for whoever polls the lab: sleeping takes as long as the same time in the world. */
export function labClock(speed: number, real: Clock = systemClock): Clock {
  const start = real.now().getTime();
  return {
    now: () => new Date(start + (real.now().getTime() - start) * speed),
    monotonic: () => real.monotonic() * speed,
    sleep: (ms, signal) => real.sleep(ms / speed, signal),
  };
}
