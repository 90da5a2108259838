import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Death } from './die-at.ts';
import { newTally, Survivor } from './kill-kit.ts';

/**
 * A process that dies before each change it would make outside itself (a write, a flush, a rename, a row, a
 * process started), in the middle of each write, and right after each start of a process.
 *
 *   WRIT_LONG=1                     every point; otherwise a few, spread evenly
 *   WRIT_KILL_POINTS=0-99           these alone, of every point: a slice
 *   WRIT_KILL_TALLY=tally.jsonl     where the sums of this slice are added
 */
const { env } = process;
const FEW_POINTS = 2;
const [FROM, TO] = (env.WRIT_KILL_POINTS ?? '0-100000').split('-').map(Number) as [number, number];
const FEW =
  env.WRIT_LONG === '1' || env.WRIT_KILL_POINTS !== undefined ? Number.POSITIVE_INFINITY : FEW_POINTS;

describe.each(['from its start to the question', 'from the answer to its end'] as const)(
  'a flight killed %s',
  (part) => {
    it('[FLT-N1][FLT-O44][FLT-O51] at each change it makes: no approval lost, nothing twice, and it ends', {
      timeout: FEW === FEW_POINTS ? 60_000 : 3_600_000,
    }, async () => {
      const changes = await changesOf(part);
      expect(changes.length).toBeGreaterThan(20);
      const points = deaths(changes, FEW).slice(FROM, TO + 1);
      const tally = newTally();
      for (const point of points) {
        const flight = new Survivor(tally);
        if (part === 'from the answer to its end') await flight.goOn();
        // A point behind the end, when this flight made fewer changes than the one that was counted, is no kill.
        await flight.killed(point);
        await flight.end();
      }
      const said = JSON.stringify({ part, changes: changes.length, points: points.length, ...tally });
      if (env.WRIT_KILL_TALLY !== undefined) appendFileSync(env.WRIT_KILL_TALLY, `${said}\n`);
      expect(tally).toMatchObject({ lostApprovals: 0, twice: 0, leftRunning: 0, ended: points.length });
    });
  },
);

/** What one undisturbed process changes in this part. */
async function changesOf(part: string): Promise<readonly string[]> {
  const flight = new Survivor(newTally());
  if (part === 'from the answer to its end') await flight.goOn();
  const { changes } = await flight.drive(null);
  await flight.end();
  return changes;
}

function deaths(changes: readonly string[], most: number): readonly Death[] {
  const all = changes.flatMap((name, at): readonly Death[] => [
    { at, how: 'before' },
    ...(name === 'writeSync' ? [{ at, how: 'torn' as const }] : []),
  ]);
  const step = Math.max(1, Math.ceil(all.length / most));
  return all.filter((_, i) => i % step === Math.floor(step / 2));
}
