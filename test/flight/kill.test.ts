import { appendFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newTally, Survivor, type Tally } from './kill-kit.ts';

/**
 * `kill -9` at random moments of five-step flights. Each flight is killed several times over, answered, settled
 * where nobody can know, and left alone to end. A campaign runs in slices: one seed is one flight.
 *
 *   WRIT_KILLS=1000                 so many kills
 *   WRIT_KILL_SEED=0                the seed of the first flight
 *   WRIT_KILL_SECONDS=400           no new flight after that; the next slice begins at the seed it says
 *   WRIT_KILL_TALLY=tally.jsonl     where the sums of this slice are added, one line a slice
 */
const { env } = process;
const KILLS = Number(env.WRIT_KILLS ?? (env.WRIT_LONG === '1' ? 1000 : 3));
const FIRST_SEED = Number(env.WRIT_KILL_SEED ?? 0);
const SECONDS = Number(env.WRIT_KILL_SECONDS ?? KILLS * 5 + 30);
const TURNS_WITH_KILLS = 20;
/** A turn that is not killed ends within a few hundred milliseconds; most kills come early, as turns do. */
const LATEST_KILL_MS = 350;

it(`[FLT-N1][FLT-O44] ${KILLS} times kill -9 at random: no approval lost, nothing twice, every flight ends`, {
  timeout: SECONDS * 1000 + 60_000,
}, async () => {
  const until = performance.now() + SECONDS * 1000;
  const tally = newTally();
  let seed = FIRST_SEED;
  for (; tally.kills < KILLS && performance.now() < until; seed++) await survive(tally, seed);
  const said = JSON.stringify({ first_seed: FIRST_SEED, next_seed: seed, ...tally });
  if (env.WRIT_KILL_TALLY !== undefined) appendFileSync(env.WRIT_KILL_TALLY, `${said}\n`);
  if (KILLS >= 100) process.stdout.write(`${said}\n`);
  expect(tally).toMatchObject({ lostApprovals: 0, twice: 0, leftRunning: 0, ended: tally.flights });
});

async function survive(tally: Tally, seed: number): Promise<void> {
  const random = seeded(seed);
  const flight = new Survivor(tally);
  for (let turn = 0; turn < TURNS_WITH_KILLS && !flight.over; turn++)
    if (turn % 4 === 3 || tally.kills >= KILLS) await flight.goOn();
    else await flight.killed(random() ** 1.5 * LATEST_KILL_MS);
  await flight.end();
}

/** A small generator, so that a flight that went wrong can be flown again. */
function seeded(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
