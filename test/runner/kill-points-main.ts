import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { systemClock, systemIds } from '../../src/core/index.ts';
import { openLedger, statePaths } from '../../src/ledger/index.ts';
import { openRunStore, verifyRunStore } from '../../src/runner/index.ts';

/**
 * Ends a store's first run before its n-th change of anything on disk, for all n. From that call on nothing
 * changes any more, as if the process had been killed; what is on disk then is copied, verified and gone on with.
 */
class Killed extends Error {}
let left = Number.POSITIVE_INFINITY;
let last = '';

function guard(target: object, names: readonly string[]): void {
  const methods = target as Record<string, (...args: unknown[]) => unknown>;
  for (const name of names) {
    const real = methods[name];
    if (real === undefined) throw new Error(`there is no ${name}`);
    methods[name] = function (this: unknown, ...args: unknown[]) {
      if (--left < 0) throw new Killed();
      last = name;
      return Reflect.apply(real, this, args);
    };
  }
}
guard(
  fs,
  'openSync closeSync writeSync writevSync writeFileSync mkdirSync renameSync linkSync unlinkSync rmSync fsyncSync fdatasyncSync fdatasync fsync ftruncateSync'.split(
    ' ',
  ),
);
guard(DatabaseSync.prototype, ['exec']);
guard(StatementSync.prototype, ['run']);
syncBuiltinESMExports();

const at = '2026-01-15T14:30:00.000Z';
const text = '{}';
const hash = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';
const runRow = (run_id: string) => ({
  run_id,
  created_at: at,
  completed_at: null,
  plan_hash: hash,
  policy_hash: hash,
  plan_json: text,
  policy_json: text,
  mode: 'run' as const,
  status: 'running' as const,
  total_steps: 1,
  completed_steps: 0,
  denied_steps: 0,
  failed_steps: 0,
  replay_of: null,
  working_dir: '/',
  plan_file: null,
  policy_file: null,
  redactions: 0,
});

/** A run of one step, as the runner records it. */
async function work(dir: string, runId: string): Promise<void> {
  const ledger = openLedger({ stateDir: join(dir, '.writ') });
  const dbPath = statePaths(ledger.stateDir).database;
  const store = openRunStore({ dbPath, ledger, clock: systemClock, ids: systemIds });
  store.beginRun(runRow(runId));
  await store.anchor(runId, 'started');
  const ids = { call_id: `${runId}.000000`, run_id: runId, redactions: 0 };
  store.addCall({
    ...ids,
    step_index: 0,
    tool_name: 'no.op',
    args_json: text,
    created_at: at,
    step_id: null,
    facts_json: text,
    approval_id: null,
  });
  store.commit();
  const outcome = { status: 'success', output_json: text, error: null, policy_decision_json: text } as const;
  store.addResult({
    ...ids,
    ...outcome,
    started_at: at,
    ended_at: at,
    input_hash: hash,
    output_hash: hash,
  });
  store.addEvent(runId, 'finished', {}, { status: 'completed' });
  store.commit();
  await store.anchor(runId, 'finished');
  store.close();
}

const status = async (dir: string) => {
  const path = statePaths(join(dir, '.writ')).database;
  if (!fs.existsSync(path)) return 'nothing';
  const verdict = await verifyRunStore(path);
  return verdict.status + (verdict.first_bad ? `: ${verdict.first_bad.what}` : '');
};

// In memory where that can be had: each point is a few dozen flushes.
const place = fs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const points: { n: number; before: string; killed: string; after: string }[] = [];
for (let n = 0; ; n++) {
  const dir = fs.mkdtempSync(join(place, 'writ-kill-'));
  const copy = `${dir}-copy`;
  last = 'the start';
  left = n;
  let killed = false;
  try {
    await work(dir, 'run_first');
  } catch (error) {
    if (left >= 0) throw error;
    killed = true;
  }
  const before = last;
  left = Number.POSITIVE_INFINITY;
  fs.cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') });
  const found = await status(copy);
  let after = 'not tried';
  try {
    await work(copy, 'run_second');
    after = await status(copy);
  } catch (error) {
    after = String(error);
  }
  points.push({ n, before, killed: found, after });
  fs.rmSync(dir, { recursive: true });
  fs.rmSync(copy, { recursive: true });
  if (!killed) break;
}
process.stdout.write(JSON.stringify(points), () => process.exit(0));
