import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Death } from './die-at.ts';
import { newTally, Survivor } from './kill-kit.ts';

/**
 * A process that dies before each change it would make outside itself (a write, a flush, a rename, a row, a
 * process started), in the middle of each write, and right after each start of a process.
 *
 *   WRIT_LONG=1                     every point; otherwise two
 *   WRIT_KILL_POINTS=0-99           these alone, of every point: a slice
 *   WRIT_KILL_TALLY=tally.jsonl     where the sums of this slice are added
 */
const { env } = process;
const EVERY = env.WRIT_LONG === '1' || env.WRIT_KILL_POINTS !== undefined;
const [FROM, TO] = (env.WRIT_KILL_POINTS ?? '0-100000').split('-').map(Number) as [number, number];
const TWO: readonly Death[] = [
  { at: 30, how: 'before' },
  { at: 65, how: 'torn' },
];

describe.each(['from its start to the question', 'from the answer to its end'] as const)(
  'a flight killed %s',
  (part) => {
    it('[FLT-N1][FLT-O44][FLT-O51] at each change it makes: no approval lost, nothing twice, and it ends', {
      timeout: EVERY ? 3_600_000 : 120_000,
    }, async () => {
      const points = EVERY ? (await deaths(part)).slice(FROM, TO + 1) : TWO;
      const tally = newTally();
      for (const point of points) {
        const flight = new Survivor(tally);
        if (part === 'from the answer to its end') await flight.goOn();
        // A point behind the end, when this flight made fewer changes than the one that was counted, is no kill.
        await flight.killed(point);
        await flight.end();
      }
      const said = JSON.stringify({ part, points: points.length, ...tally });
      if (env.WRIT_KILL_TALLY !== undefined) appendFileSync(env.WRIT_KILL_TALLY, `${said}\n`);
      expect(tally).toMatchObject({ lostApprovals: 0, twice: 0, leftRunning: 0, ended: points.length });
    });
  },
);

/** Every point of what one undisturbed process changes in this part. */
async function deaths(part: string): Promise<readonly Death[]> {
  const flight = new Survivor(newTally());
  if (part === 'from the answer to its end') await flight.goOn();
  const { changes } = await flight.drive(null);
  await flight.end();
  expect(changes.length).toBeGreaterThan(20);
  return changes.flatMap((name, at): readonly Death[] => [
    { at, how: 'before' },
    ...(name === 'writeSync' ? [{ at, how: 'torn' as const }] : []),
  ]);
}
