import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { createAuthority } from '../src/authority/index.ts';
import { systemClock, systemIds } from '../src/core/index.ts';
import { openLedger, statePaths } from '../src/ledger/index.ts';
import { loadPolicy, PASSED } from '../src/policy/index.ts';
import {
  createCallJudge,
  loadPlan,
  openRunReader,
  openRunStore,
  replayRun,
  runPlan,
  verifyRunStore,
} from '../src/runner/index.ts';
import { createRegistry, defineTool } from '../src/tools/index.ts';
import { type Bench, type BenchRow, median } from './bench.ts';

const noop = defineTool({
  name: 'no.op',
  description: 'does nothing',
  effect: 'none',
  args: z.strictObject({ n: z.number() }),
  rules: z.strictObject({}),
  prepare: () => ({}),
  evaluator: () => () => PASSED,
  execute: async (writ) => {
    writ.use(writ.action);
    return { status: 'success', data: { ok: true } };
  },
});
const registry = createRegistry([noop]);
const policy = loadPolicy('tools: { no.op: {} }', 'policy.yaml', registry.otherRules);
const planOf = (steps: number) =>
  loadPlan(
    JSON.stringify({
      version: '1.0',
      steps: Array.from({ length: steps }, (_, n) => ({ tool: 'no.op', args: { n } })),
    }),
    'plan.json',
  );

function place() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-')));
  const ledger = openLedger({ stateDir: join(dir, '.writ') });
  return { dir, ledger, dbPath: statePaths(ledger.stateDir).database };
}

/** Runs no-op steps and gives the time of each in milliseconds. */
async function runSteps(
  home: ReturnType<typeof place>,
  steps: number,
  durability: 'step' | 'group',
  onStep?: (n: number) => void,
) {
  const store = openRunStore({ ...home, clock: systemClock, ids: systemIds });
  const times: number[] = [];
  let last = 0;
  const summary = await runPlan(planOf(steps), {
    judge: createCallJudge(policy, registry, { workingDir: home.dir, masked: [] }),
    authority: createAuthority({ clock: systemClock, ids: systemIds }),
    store,
    clock: systemClock,
    ids: systemIds,
    requester: 'bench',
    whenApprovalNeeded: 'never',
    keepGoing: false,
    durability,
    onProgress: ({ index, status }) => {
      const now = performance.now();
      if (status === 'started' && index === 0) last = now;
      if (status !== 'success') return;
      times.push(now - last);
      last = now;
      onStep?.(index);
    },
  });
  store.close();
  return { times, runId: summary.run_id };
}

async function overhead(durability: 'step' | 'group', rounds: number): Promise<BenchRow> {
  const home = place();
  const medians: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const { times } = await runSteps(home, 1000, durability);
    if (round > 0) medians.push(median(times));
  }
  rmSync(home.dir, { recursive: true });
  return {
    what: durability === 'group' ? 'overhead of a step, flushes shared' : 'overhead of a step, a flush each',
    value: median(medians),
    unit: 'ms p50',
    target: durability === 'group' ? '<= 0.1' : '<= 1',
    inside: `1,000 no-op steps: references, policy, authority, writ, redaction, chained record${durability === 'group' ? ', one commit per 100 steps' : ', one SQLite commit (synchronous FULL) and signed checkpoint per step'}; median of ${rounds} rounds after a warm-up`,
    spread: `${Math.min(...medians).toFixed(3)}–${Math.max(...medians).toFixed(3)}`,
  };
}

/** The collector, also when Node was started without the flag for it: garbage is no growth. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

async function memory(steps: number): Promise<BenchRow> {
  const home = place();
  await runSteps(home, 200, 'group');
  const heap: number[] = [];
  const collect = collector();
  await runSteps(home, steps, 'group', (n) => {
    if (n % Math.floor(steps / 10) !== 0) return;
    collect();
    heap.push(process.memoryUsage().heapUsed);
  });
  rmSync(home.dir, { recursive: true });
  const growth = (Math.max(...heap.slice(5)) - (heap[2] ?? 0)) / 1e6;
  return {
    what: `heap growth between step ${steps / 5} and the end of ${steps.toLocaleString('en-US')} steps`,
    value: Math.max(0, growth),
    unit: 'MB',
    target: '<= 1',
    inside: 'heapUsed after a collection, every tenth of the run',
  };
}

async function replays(steps: number, rounds: number): Promise<readonly BenchRow[]> {
  const home = place();
  const { runId } = await runSteps(home, steps, 'group');
  const rates: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const reader = openRunReader(home.dbPath);
    const store = openRunStore({ ...home, clock: systemClock, ids: systemIds });
    const original = reader.getRun(runId);
    if (!original) throw new Error('the run is gone');
    const started = performance.now();
    await replayRun(original, { store, reader, ids: systemIds });
    if (round > 0) rates.push((steps / (performance.now() - started)) * 1000);
    store.close();
    reader.close();
  }
  const started = performance.now();
  const { records, status } = await verifyRunStore(home.dbPath);
  const verified = (records / (performance.now() - started)) * 1000;
  if (status !== 'intact') throw new Error(`the store is ${status}`);
  rmSync(home.dir, { recursive: true });
  return [
    {
      what: 'replay',
      value: median(rates),
      unit: 'steps/s',
      target: '>= 50,000',
      inside: `reading ${steps.toLocaleString('en-US')} stored steps, rehashing inputs and outputs, deriving arguments from the plan, a digest over every cell, writing and committing the new run that refers to these rows, anchor in the ledger`,
      spread: `${Math.round(Math.min(...rates))}–${Math.round(Math.max(...rates))}`,
    },
    {
      what: 'verification of the run store',
      value: verified,
      unit: 'rows/s',
      target: '',
      inside: `${records.toLocaleString('en-US')} rows: chain, input and output hashes, runs, payloads, checkpoint, ledger`,
    },
  ];
}

/** A policy with 100 rules and calls that match none, the first and the last of them. */
function decisions(count: number): BenchRow {
  const allow = Array.from({ length: 50 }, (_, i) => `"./area${i}/**/*.t${i}"`);
  const deny = Array.from({ length: 50 }, (_, i) => `"**/*.secret${i}"`);
  const rules = loadPolicy(
    `tools: { fs.read: { allow_paths: [${allow}], deny_paths: [${deny}] } }`,
    'policy.yaml',
  );
  const judge = createCallJudge(rules, registry, { workingDir: '/srv', masked: [] });
  const paths = [
    '/srv/area0/x/a.t0',
    '/srv/area49/x/y/z/a.t49',
    '/srv/area25/q.t25',
    '/etc/passwd',
    '/srv/area10/x.secret49',
  ];
  const calls = paths.map((path) => ({
    args: { path },
    facts: { path: { asked: path, lexical: path, real: path, state: 'file' }, size: 10 },
  }));
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const call = calls[i % calls.length] as (typeof calls)[number];
    const started = performance.now();
    judge.find('fs.read', call.args, call.facts, 0);
    if (i > count / 2) times.push((performance.now() - started) * 1000);
  }
  return {
    what: 'policy decision with 100 rules',
    value: median(times),
    unit: 'µs p50',
    target: '<= 5',
    inside:
      'arguments checked by schema, 50 allow and 50 deny globs, quota, finding; allowed and denied calls in turn',
  };
}

export const bench: Bench = {
  name: 'Plans: run, replay, policy',
  run: async ({ quick }) => [
    decisions(quick ? 40_000 : 200_000),
    await overhead('group', quick ? 2 : 7),
    await overhead('step', quick ? 1 : 5),
    await memory(10_000),
    ...(await replays(quick ? 10_000 : 50_000, quick ? 2 : 5)),
  ],
};
