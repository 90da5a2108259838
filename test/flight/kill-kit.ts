import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { otherFormats } from '../../src/cli/other-formats.ts';
import { type FlightStatus, flightStatus, resumeFlight, settleFlight } from '../../src/flight/index.ts';
import { loadPublicKeys, statePaths, usualDirs, verifyState } from '../../src/ledger/index.ts';
import type { Death } from './die-at.ts';
import { folder, inProcess, NOTE_ENGINE, workflow } from './kit.ts';

/** Five steps, the third of which waits for a person; what becomes of them under `kill -9`. */
export interface Tally {
  kills: number;
  flights: number;
  /** Completed, each step once and in order, with everything on record intact. */
  ended: number;
  settled: number;
  lostApprovals: number;
  twice: number;
  /** Processes that were still there when their flight had ended. */
  leftRunning: number;
  readonly killedIn: Record<string, number>;
}

export function newTally(): Tally {
  const none = { kills: 0, flights: 0, ended: 0, settled: 0, lostApprovals: 0, twice: 0, leftRunning: 0 };
  return { ...none, killedIn: {} };
}

const STEPS = ['s1', 's2', 's3', 's4', 's5'];
const ASKED = 's3';
const DRIVER = fileURLToPath(new URL('./driver.ts', import.meta.url));

/** Processes that live for a moment: what is compiled is kept from one to the next. */
const NODE_COMPILE_CACHE = mkdtempSync(join(tmpdir(), 'writ-kill-cache-'));
process.on('exit', () => rmSync(NODE_COMPILE_CACHE, { recursive: true, force: true }));

/** At take-off the engine appends the name of its step: what happened, and how often, can be read afterwards. */
const ENGINE = NOTE_ENGINE.replace('cat > /dev/null', 'input=$(cat); test -n "$input"').replace(
  'cat "$CABINCREW_ARTIFACTS_DIR/note/body.data" >> "$CABINCREW_WORKSPACE/note.txt"',
  `echo "$input" | sed 's/.*"step_id":"\\([a-z0-9]*\\)".*/\\1/' >> "$CABINCREW_WORKSPACE/log.txt"`,
);

/** One flight and the people around it. */
export class Survivor {
  readonly dir: string;
  readonly #tally: Tally;
  #id: string | undefined;
  #answered: string | undefined;
  #status: FlightStatus | undefined;

  constructor(tally: Tally) {
    const steps = STEPS.map(
      (id) =>
        `  - id: ${id}\n    engine: ./engine.sh\n${id === ASKED ? '    approval: { role: lead }\n' : ''}`,
    ).join('');
    // The file is there from the start: making it would be half of an effect.
    this.dir = folder({ 'workflow.yaml': workflow(steps), 'engine.sh': ENGINE, 'log.txt': '' });
    this.#tally = tally;
    tally.flights++;
  }

  get over(): boolean {
    return this.#status?.state === 'COMPLETED' || this.#status?.state === 'FAILED';
  }

  happened(): readonly string[] {
    return readFileSync(join(this.dir, 'log.txt'), 'utf8').split('\n').slice(0, -1);
  }

  /** Goes on in a process that is killed after so long, or dies by itself. A person may look in between. */
  async killed(how: number | Death): Promise<boolean> {
    const { killed } = await this.drive(how);
    if (killed) this.#tally.kills++;
    this.#id ??= begunFlight(this.dir);
    const id = this.#id;
    if (id === undefined) return killed;
    this.#status = (await inProcess(this.dir, (deps) => flightStatus(deps, id))).status;
    const { state } = this.#status;
    if (killed) this.#tally.killedIn[state] = (this.#tally.killedIn[state] ?? 0) + 1;
    await this.#answer();
    return killed;
  }

  /** Goes on undisturbed; who is asked answers, and what nobody knows a person settles who has looked. */
  async goOn(): Promise<void> {
    this.#id ??= begunFlight(this.dir);
    // Killed before anything was on record: nothing happened, and it is started again.
    if (this.#id === undefined) {
      if (this.happened().length > 0) this.#tally.twice++;
      await this.drive(null);
      this.#id = begunFlight(this.dir);
    }
    const id = this.#id ?? '';
    this.#status = (await inProcess(this.dir, (deps) => resumeFlight(deps, id))).status;
    await this.#answer();
    const unknown = this.#status.steps.find((s) => s.state === 'TAKEOFF_RUNNING');
    if (unknown === undefined) return;
    const done = this.happened().includes(unknown.id);
    // A take-off that did not happen may have used its approval: the next request is a new one by right.
    if (!done && unknown.id === ASKED) this.#answered = undefined;
    const settlement = { by: 'ada', assertedBy: 'tester', reason: 'looked' };
    await inProcess(this.dir, (deps) =>
      settleFlight(deps, id, { step: unknown.id, outcome: done ? 'done' : 'not-done', ...settlement }),
    );
    this.#tally.settled++;
  }

  async #answer(): Promise<void> {
    const [pending] = this.#status?.pending_approvals ?? [];
    if (pending === undefined || pending === this.#answered) return;
    if (this.#answered !== undefined) this.#tally.lostApprovals++;
    this.#answered = pending;
    await inProcess(this.dir, ({ queue }) =>
      queue.respond(pending, { approved: true, approver: 'ada', role: 'lead' }),
    );
  }

  /** To its end, and the account of it. */
  async end(): Promise<void> {
    for (let turn = 0; turn < 30 && !this.over; turn++) await this.goOn();
    // Killed between its last entry and all that vouches for it: resuming completes the record.
    await this.goOn();
    const happened = this.happened();
    const left = await leftRunning(this.dir);
    const damage = await damageIn(this.dir);
    if (new Set(happened).size !== happened.length) this.#tally.twice++;
    this.#tally.leftRunning += left.length;
    const fine = this.#status?.state === 'COMPLETED' && happened.join() === STEPS.join();
    if (fine && damage.length === 0 && left.length === 0) {
      this.#tally.ended++;
      rmSync(this.dir, { recursive: true, force: true });
    } else
      process.stdout.write(
        `${this.dir}: ${JSON.stringify({ status: this.#status, happened, damage, left })}\n`,
      );
  }

  /** A process of its own: killed after so many milliseconds, at a change it makes, or not at all. */
  drive(
    how: number | Death | null,
  ): Promise<{ readonly killed: boolean; readonly changes: readonly string[] }> {
    return new Promise((done) => {
      const what = this.#id === undefined ? ['run', join(this.dir, 'workflow.yaml')] : ['resume', this.#id];
      const death = typeof how === 'object' ? [JSON.stringify(how)] : [];
      const child = spawn(process.execPath, [DRIVER, join(this.dir, '.writ'), ...what, ...death], {
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, NODE_COMPILE_CACHE },
      });
      let timer: NodeJS.Timeout | undefined;
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (typeof how === 'number') timer ??= setTimeout(() => child.kill('SIGKILL'), how);
      });
      child.on('exit', (_, signal) => {
        clearTimeout(timer);
        done({ killed: signal === 'SIGKILL', changes: JSON.parse(said.split('\n')[1] || '[]') });
      });
    });
  }
}

function begunFlight(dir: string): string | undefined {
  const flights = join(dir, '.writ/flights');
  const begun = (name: string) => {
    const wal = join(flights, name, 'wal.jsonl');
    return existsSync(wal) && readFileSync(wal, 'utf8').includes('\n');
  };
  return existsSync(flights) ? readdirSync(flights).find(begun) : undefined;
}

async function damageIn(dir: string): Promise<readonly string[]> {
  const stateDir = join(dir, '.writ');
  const { catalog, keys } = statePaths(stateDir);
  const publicKeys = loadPublicKeys(keys);
  const verdicts = await verifyState(
    catalog,
    usualDirs(stateDir, join(dir, 'audit')),
    { publicKeys },
    otherFormats(stateDir, publicKeys),
  );
  // A kill at the very end may leave a record of the catalogue unsigned until somebody writes to it again.
  const unsigned = (path: string, status: string) => status === 'not_established' && path === catalog;
  return verdicts.flatMap(({ path, status }) =>
    status === 'intact' || unsigned(path, status) ? [] : [`${path}: ${status}`],
  );
}

/** Processes that carry a folder of this flight, after a moment in which they may end. */
async function leftRunning(dir: string): Promise<readonly string[]> {
  const carries = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`=${dir}/`);
    } catch {
      return false;
    }
  };
  const find = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && carries(name));
  for (let look = 0; look < 50 && find().length > 0; look++) await delay(20);
  return find();
}
