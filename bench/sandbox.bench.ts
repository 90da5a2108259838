import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { createAuthority, type Evaluator } from '../src/authority/index.ts';
import { sha256, systemClock, systemIds, type Writ } from '../src/core/index.ts';
import {
  baseEnvironment,
  bubblewrapAvailable,
  type RunSpec,
  run,
  runPipeline,
} from '../src/sandbox/index.ts';
import { type Bench, type BenchRow, median } from './bench.ts';

const yes: Evaluator = {
  name: 'bench',
  evaluate: () => ({ evaluator: 'bench', verdict: 'allow', rule: 'bench', reason: 'bench' }),
};
const authority = createAuthority({ clock: systemClock, ids: systemIds });
const env = baseEnvironment();
const argv = ['/usr/bin/true'];

async function writFor(
  detail: Record<string, readonly string[] | readonly (readonly string[])[]>,
): Promise<Writ> {
  const answer = await authority.authorize({
    action: { kind: 'process.start', subject: 'true', detail },
    evaluators: [yes],
    reasoning: 'bench',
    requester: 'bench',
    policyDigest: sha256('bench'),
    whenApprovalNeeded: 'never',
  });
  if (answer.outcome !== 'granted') throw new Error(answer.outcome);
  return answer.writ;
}

function spec(words: readonly string[], profile: RunSpec['profile']): RunSpec {
  return { argv: words, env, cwd: tmpdir(), timeoutMs: 10_000, ...(profile ? { profile } : {}) };
}

/** What everybody pays: spawn, read both streams to their end, wait for the exit. */
function bareSpawn(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/usr/bin/true', [], {
      env,
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    child.stdout.on('data', () => {});
    child.stderr.on('data', () => {});
    child.on('error', reject);
    child.on('close', () => resolve());
  });
}

/** The ways take turns, so that whatever else the machine does hits all of them alike. */
async function inTurns(
  ways: readonly (() => Promise<unknown>)[],
  rounds: number,
): Promise<readonly number[][]> {
  const times = ways.map((): number[] => []);
  for (let round = -3; round < rounds; round++) {
    for (const [i, way] of ways.entries()) {
      const before = performance.now();
      await way();
      if (round >= 0) times[i]?.push(performance.now() - before);
    }
  }
  return times;
}

function row(what: string, over: readonly number[], base: readonly number[], target: string): BenchRow {
  const extra = over.map((t, i) => t - (base[i] ?? 0));
  const middle = median(extra);
  const deviation = median(extra.map((t) => Math.abs(t - middle)));
  const inside = `run() of \`true\` with a fresh writ, minus a bare spawn of the same round (median ${median(base).toFixed(2)} ms)`;
  return {
    what,
    value: Number(middle.toFixed(2)),
    unit: 'ms',
    target,
    inside,
    spread: `±${deviation.toFixed(2)}`,
  };
}

export const bench: Bench = {
  name: 'sandbox',
  async run({ quick }) {
    const rounds = quick ? 60 : 400;
    const shut: RunSpec['profile'] = { kind: 'bubblewrap', network: 'none', writable: [] };
    const { available } = await bubblewrapAvailable();
    const stages = [['/bin/echo', 'x'], ['/bin/cat']];
    const ways = [
      bareSpawn,
      async () => run(await writFor({ argv }), spec(argv, undefined)),
      async () =>
        runPipeline(
          await writFor({ pipeline: stages }),
          stages.map((words) => spec(words, undefined)),
        ),
      ...(available ? [async () => run(await writFor({ argv }), spec(argv, shut))] : []),
    ];
    const [bare = [], plain = [], pipeline = [], boxed] = await inTurns(ways, rounds);
    return [
      row('overhead of run() without a profile', plain, bare, '<= 1'),
      row('overhead of a two-stage pipeline over one bare spawn', pipeline, bare, ''),
      ...(boxed ? [row('overhead of run() in bubblewrap', boxed, bare, '<= 10')] : []),
    ];
  },
};
