import type { ClockSegment } from './state.ts';

export const MAX_SPEED = 100_000;

export function worldTime(clock: ClockSegment, realMs: number): number {
  return Math.round(clock.worldMs + (realMs - clock.realMs) * clock.speed);
}

/** From now on at another speed; the time does not jump. */
export function atSpeed(clock: ClockSegment, realMs: number, speed: number): ClockSegment {
  return { realMs, worldMs: worldTime(clock, realMs), speed };
}

/** `WRIT_LAB_SPEED`, when it is a usable number. */
export function speedFromEnvironment(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const text = env.WRIT_LAB_SPEED;
  if (text === undefined || text === '') return undefined;
  const speed = Number(text);
  return Number.isFinite(speed) && speed > 0 && speed <= MAX_SPEED ? speed : undefined;
}
