import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadTasks } from '../../src/cloud/index.ts';
import { type PreparedLab, prepareLab, worldFile } from '../../src/lab/index.ts';
import { readState } from '../../src/lab/lab/state.ts';
import { SPEED } from './lab-session.ts';
import { WORLD } from './on-lab.ts';

const DRIVER = new URL('./kill-driver.ts', import.meta.url).pathname;
/** More than any run can need: a chain that does not get on must not go on for ever. */
const MOST_PROCESSES = 60;

interface Place {
  readonly folder: string;
  readonly lab: PreparedLab;
}

async function place(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-cloud-kill-'));
  return { folder, lab: await prepareLab(worldFile(WORLD), join(folder, 'lab'), { speed: SPEED }) };
}

let sessions = 0;

/** A process that dies when it is about to write its n-th record; answers whether it lived to the end. */
function run(at: Place, dieAt: number, ...words: readonly string[]): Promise<boolean> {
  const session = `ghost_kill_${++sessions}`;
  const child = spawn(process.execPath, [DRIVER, at.folder, session, String(dieAt), ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(false);
      else if (code === 0) resolve(true);
      else reject(new Error(`the driver ended with ${code ?? signal}`));
    });
  });
}

/** Everything that exists, in the cloud or here, is in the plan of a task that has not let go of it. */
async function accountedFor(at: Place): Promise<string[]> {
  const audit = join(at.folder, 'audit');
  const { tasks, problems } = await loadTasks(audit);
  expect(problems.filter((p) => !p.includes('torn'))).toEqual([]);
  const planned = [...tasks.values()].flatMap((t) =>
    t.cleanup_plan.filter((s) => !s.executed).map((s) => s.resource),
  );
  const { captures, blobs } = readState(at.lab.dir);
  const files = readdirSync(join(audit, 'captures')).filter((name) => name.endsWith('.pcap'));
  const isUnplanned = (resource: string) => !planned.includes(resource);
  const missing = [
    ...captures.map((c) => `packet capture ${c.name} in ${c.location}`).filter(isUnplanned),
    ...blobs.map((b) => `blob ${b.container}/${b.name} in ${b.account}`).filter(isUnplanned),
    ...files.filter((name) => !planned.some((p) => p.endsWith(`/${name}`))),
  ];
  expect(missing, 'in no plan').toEqual([]);
  return [...tasks.keys()];
}

it('[CLOUD-52] kill -9 before each record of a start: the next process accounts for everything', async () => {
  const at = await place();
  // CREATED, DETECTING, APPROVED, PROVISIONING, WAITING: what each tells has happened when the process dies.
  for (const record of [1, 2, 3, 4, 5]) {
    expect(await run(at, record, 'start', 'fb-web-01')).toBe(false);
    await accountedFor(at);
  }
  expect(readState(at.lab.dir).captures).toHaveLength(2);
  expect(await finish(at, 'clean', 1000)).toBe(0);
}, 60_000);

const TARGET = process.env.WRIT_LONG ? 'fb-web-01 to fb-mq-01' : 'fb-web-01';

it('[CLOUD-52] kill -9 again and again on the way to the end: each process goes on, and nothing is lost', async () => {
  const at = await place();
  expect(await run(at, 1000, 'start', TARGET)).toBe(true);
  // Each process takes over (a record for each end), does one step, and dies before it has told of the next.
  const deaths = await finish(at, 'follow', TARGET.includes(' to ') ? 4 : 3);
  expect(deaths).toBeGreaterThan(6);
}, 240_000);

/** Processes that go on with every task until nothing is left; each dies before its n-th record. */
async function finish(at: Place, how: 'follow' | 'clean', dieAt: number): Promise<number> {
  for (let deaths = 0; deaths < MOST_PROCESSES; deaths++) {
    const lived = await run(at, dieAt, how, ...(await accountedFor(at)));
    await accountedFor(at);
    if (!lived) continue;
    const { captures, blobs } = readState(at.lab.dir);
    expect([captures, blobs]).toEqual([[], []]);
    const { tasks } = await loadTasks(join(at.folder, 'audit'));
    expect([...tasks.values()].map((t) => t.state).filter((s) => s !== 'DONE')).toEqual([]);
    return deaths;
  }
  throw new Error('the processes do not get on');
}
