import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../core/index.ts';
import { type Attended, attend, STATUS_FD } from './attend-bubblewrap.ts';
import { withoutLeaks } from './leaked-fds.ts';
import { whileLive } from './live.ts';
import type { Launch } from './plan-launch.ts';
import { openProcessCgroup, type ProcessCgroup } from './process-cgroup.ts';
import { descendants, isAlive, isGroupAlive, marked, newMark, signalTo, wasLast } from './process-tree.ts';
import type { NotStarted } from './types.ts';

/**
 * One started process and everything it may have left behind.
 *
 * K1 TERM goes to the whole group first; what has not gone after the grace is killed.
 * K2 When the process has ended, what remains of its group, its marked descendants and its pid namespace
 *    is killed before the run is called ended.
 */
export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Lets a shut-in program start; until then bubblewrap waits. Any other runs from the beginning. */
  release(): void;
  /** TERM to all of it, KILL to what remains after the grace. */
  terminate(graceMs: number): Promise<void>;
  /** Ends leftovers of a process that has exited, and waits until its streams are closed. */
  cleanUp(streams?: 'destroy' | 'leave'): Promise<void>;
  killNow(): void;
  /** How many processes belong to it right now. */
  population(): number;
  /** False when bubblewrap ended before it could start the program. */
  setUp(): boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Spawned =
  | { readonly ok: true; readonly child: Child }
  | { readonly ok: false; readonly failure: Promise<Omit<NotStarted, 'durationMs'>> };

/** Whoever holds our pipes this long after everything was killed is out of reach (process-tree P3). */
const CLOSE_TURNS = 50;
const MOST_TURNS = 500;
const POLL_MS = 10;
const SWEEPS = 10;

/** On a terminal the child stays in our session and group: job control belongs to the person there. */
type Session = 'own' | 'terminal';
type Stdio = readonly ('ignore' | 'pipe' | 'inherit' | number)[];

export function spawnChild(launch: Launch, mark: string, stdio: Stdio, session: Session = 'own'): Spawned {
  const { file, args, argv0, cwd, env, box } = launch;
  // Status and filter, in the order of their descriptors.
  const ours = box ? (['pipe', 'pipe'] as const) : [];
  const streams: StdioOptions = [...withoutLeaks<Stdio[number]>([...stdio, ...ours])];
  let child: ChildProcess;
  try {
    child = spawn(file, args, { argv0, cwd, env, stdio: streams, detached: session === 'own', shell: false });
  } catch (error) {
    return { ok: false, failure: Promise.resolve(spawnFailure(error)) };
  }
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  const { pid } = child;
  if (pid === undefined) return { ok: false, failure: failed.then(spawnFailure) };
  const cgroup = box?.tasks === undefined ? undefined : openProcessCgroup(newMark(), box.tasks);
  const attended = box && attend(child, box.filter, cgroup);
  return { ok: true, child: track(child, pid, mark, attended, cgroup, session === 'own') };
}

function track(
  child: ChildProcess,
  pid: number,
  mark: string,
  attended: Attended | undefined,
  cgroup: ProcessCgroup | undefined,
  ownGroup: boolean,
): Child {
  const contained = attended !== undefined;
  const startedAt = performance.now();
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<Exit>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  child.on('error', () => {});

  const killNow = () => {
    signalTo(pid, 'SIGKILL', ownGroup);
    // The init of the pid namespace: with it goes everything inside.
    if (attended?.initPid) signalTo(attended.initPid, 'SIGKILL');
  };
  const release = whileLive(killNow);

  const sweep = () => {
    for (let round = 0; round < SWEEPS; round++) {
      const left = marked(mark, pid, performance.now() - startedAt);
      if (left.length === 0) return;
      for (const stray of left) signalTo(stray, 'SIGKILL');
    }
  };

  const terminate = async (graceMs: number) => {
    const attached = contained ? [] : descendants(pid);
    if (attended?.initPid) signalTo(attended.initPid, 'SIGTERM', true);
    else signalTo(pid, 'SIGTERM', ownGroup);
    for (const stray of attached) signalTo(stray, 'SIGTERM');
    const until = performance.now() + graceMs;
    const alive = () =>
      (attended?.initPid ? isAlive(attended.initPid) : ownGroup ? isGroupAlive(pid) : isAlive(pid)) ||
      attached.some(isAlive);
    while (performance.now() < until && alive()) await delay(POLL_MS);
    for (const stray of [...attached, ...(contained ? [] : descendants(pid))]) signalTo(stray, 'SIGKILL');
    killNow();
  };

  const cleanUp = async (streams: 'destroy' | 'leave' = 'destroy') => {
    await exited;
    if (contained || !wasLast(pid, performance.now() - startedAt)) {
      if (ownGroup) killNow();
      if (!contained) sweep();
    }
    // The init of a pid namespace holds our pipes to its end, so once they are closed it need not be waited for.
    await drained(child, closed);
    for (let i = 0; i < CLOSE_TURNS && attended?.initPid && isAlive(attended.initPid); i++) await delay(1);
    // A started process's streams belong to its caller, who may still be reading what it last said.
    if (streams === 'destroy') for (const stream of child.stdio) stream?.destroy();
    else for (const stream of child.stdio.slice(STATUS_FD)) stream?.destroy();
    cgroup?.remove();
    release();
  };

  return {
    process: child,
    pid,
    exited,
    release: () => attended?.release(),
    terminate,
    cleanUp,
    killNow,
    population: () => {
      // bubblewrap itself and its init are not the program's.
      if (contained) return Math.max(0, descendants(pid).length - 1);
      return new Set([pid, ...descendants(pid), ...marked(mark, pid, performance.now() - startedAt)]).size;
    },
    setUp: () => attended === undefined || attended.finished,
  };
}

/**
 * Waits for the streams to close. Counted in turns of the event loop, each of which reads what is there, and
 * begun anew while bytes still come: on a busy machine time alone would cut off what the program wrote.
 */
async function drained(child: ChildProcess, closed: Promise<void>): Promise<void> {
  let open = true;
  void closed.then(() => {
    open = false;
  });
  const bytes = () =>
    [child.stdout, child.stderr].reduce(
      (sum, s) => sum + ((s as { readonly bytesRead?: number } | null)?.bytesRead ?? 0),
      0,
    );
  for (let idle = 0, turn = 0, seen = bytes(); open && idle < CLOSE_TURNS && turn < MOST_TURNS; turn++) {
    await Promise.race([closed, delay(POLL_MS)]);
    idle = bytes() === seen ? idle + 1 : 0;
    seen = bytes();
  }
}

function spawnFailure(error: unknown): Omit<NotStarted, 'durationMs'> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reasons: Record<string, string> = {
    ENOENT: 'the program or its interpreter does not exist',
    E2BIG: 'the argument list is too long for this system',
    EACCES: 'permission denied',
  };
  return {
    kind: 'not_started',
    exitCode: code === 'ENOENT' ? 127 : 126,
    reason: reasons[code] ?? messageOf(error),
  };
}
