import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type FlightStatus, flightStatus, resumeFlight, settleFlight } from '../../src/flight/index.ts';
import { folder, inProcess, NOTE_ENGINE, workflow } from './kit.ts';

/**
 * kill -9 at random moments of five-step flights, one of whose steps waits for a person. Each flight is killed
 * several times over, answered, settled where nobody can know, and then left alone to end.
 */
const KILLS = Number(process.env.WRIT_KILLS ?? (process.env.WRIT_LONG === '1' ? 1000 : 4));
const TURNS_WITH_KILLS = 12;
const STEPS = ['s1', 's2', 's3', 's4', 's5'];
const DRIVER = fileURLToPath(new URL('./driver.ts', import.meta.url));

/** At take-off the engine appends the name of its step: what happened, and how often, can be read afterwards. */
const ENGINE = NOTE_ENGINE.replace('cat > /dev/null', 'input=$(cat); test -n "$input"').replace(
  'cat "$CABINCREW_ARTIFACTS_DIR/note/body.data" >> "$CABINCREW_WORKSPACE/note.txt"',
  `echo "$input" | sed 's/.*"step_id":"\\([a-z0-9]*\\)".*/\\1/' >> "$CABINCREW_WORKSPACE/log.txt"`,
);

interface Tally {
  kills: number;
  flights: number;
  ended: number;
  settled: number;
  lostApprovals: number;
  twice: number;
  readonly killedIn: Record<string, number>;
}

it(`[FLT-N1][FLT-O44] ${KILLS} times kill -9: no approval lost, nothing twice, every flight ends`, {
  timeout: 30_000 + KILLS * 5000,
}, async () => {
  const tally: Tally = {
    kills: 0,
    flights: 0,
    ended: 0,
    settled: 0,
    lostApprovals: 0,
    twice: 0,
    killedIn: {},
  };
  while (tally.kills < KILLS) await survive(tally);
  if (KILLS >= 100) process.stdout.write(`${JSON.stringify(tally)}\n`);
  expect(tally).toMatchObject({ lostApprovals: 0, twice: 0, ended: tally.flights });
});

async function survive(tally: Tally): Promise<void> {
  const steps = STEPS.map(
    (id) => `  - id: ${id}\n    engine: ./engine.sh\n${id === 's3' ? '    approval: { role: lead }\n' : ''}`,
  ).join('');
  // The file is there from the start: making it would be half of an effect.
  const dir = folder({ 'workflow.yaml': workflow(steps), 'engine.sh': ENGINE, 'log.txt': '' });
  const happened = () => readFileSync(join(dir, 'log.txt'), 'utf8').split('\n').slice(0, -1);
  tally.flights++;
  let id: string | undefined;
  let answered: string | undefined;
  let status: FlightStatus | undefined;
  for (let turn = 0; turn < 40; turn++) {
    const kill = turn % 4 !== 3 && turn < TURNS_WITH_KILLS && tally.kills < KILLS;
    if (kill && (await killed(dir, id))) tally.kills++;
    id ??= begunFlight(dir);
    // Killed before anything was on record: nothing happened, and it may be started again.
    if (id === undefined) {
      expect(happened()).toEqual([]);
      if (!kill) await inDriver(dir, undefined);
      continue;
    }
    const flight = id;
    status = (
      await inProcess(dir, async (deps) => (kill ? flightStatus(deps, flight) : resumeFlight(deps, flight)))
    ).status;
    if (kill) tally.killedIn[status.state] = (tally.killedIn[status.state] ?? 0) + 1;
    if (status.state === 'COMPLETED' || status.state === 'FAILED') break;
    const [pending] = status.pending_approvals;
    if (pending !== undefined && pending !== answered) {
      if (answered !== undefined) tally.lostApprovals++;
      answered = pending;
      await inProcess(dir, ({ queue }) =>
        queue.respond(pending, { approved: true, approver: 'ada', role: 'lead' }),
      );
    }
    const unknown = status.steps.find((s) => s.state === 'TAKEOFF_RUNNING');
    // A person comes when the flight was resumed and says that it does not know.
    if (!kill && unknown !== undefined) {
      const done = happened().includes(unknown.id);
      // A take-off that did not happen may have used its approval: the next request is a new one by right.
      if (!done && unknown.id === 's3') answered = undefined;
      await inProcess(dir, (deps) =>
        settleFlight(deps, flight, {
          step: unknown.id,
          outcome: done ? 'done' : 'not-done',
          by: 'ada',
          assertedBy: 'tester',
          reason: 'looked',
        }),
      );
      tally.settled++;
    }
  }
  if (new Set(happened()).size !== happened().length) tally.twice++;
  if (status?.state === 'COMPLETED' && happened().join() === STEPS.join()) tally.ended++;
  else process.stdout.write(`${dir}: ${JSON.stringify({ status, happened: happened() })}\n`);
  if (tally.ended === tally.flights) rmSync(dir, { recursive: true, force: true });
}

function begunFlight(dir: string): string | undefined {
  const flights = join(dir, '.writ/flights');
  const begun = (name: string) => {
    const wal = join(flights, name, 'wal.jsonl');
    return existsSync(wal) && readFileSync(wal).length > 0;
  };
  return existsSync(flights) ? readdirSync(flights).find(begun) : undefined;
}

/** True when the process was still at it. */
function killed(dir: string, id: string | undefined): Promise<boolean> {
  return inDriver(dir, id, Math.random() ** 1.5 * 600);
}

function inDriver(dir: string, id: string | undefined, killAfterMs?: number): Promise<boolean> {
  return new Promise((done) => {
    const what = id === undefined ? ['run', join(dir, 'workflow.yaml')] : ['resume', id];
    const child = spawn(process.execPath, [DRIVER, join(dir, '.writ'), ...what], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let timer: NodeJS.Timeout | undefined;
    child.stdout.once('data', () => {
      if (killAfterMs !== undefined) timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    });
    child.on('exit', (_, signal) => {
      clearTimeout(timer);
      done(signal === 'SIGKILL');
    });
  });
}
