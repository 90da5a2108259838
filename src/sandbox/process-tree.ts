import { randomUUID } from 'node:crypto';
import { openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/**
 * What /proc tells about the processes of a run.
 *
 * P1 A run without a pid namespace carries a random mark in its environment; what inherits it belongs to it.
 * P2 Children that are still attached are found through their parents, mark or no mark.
 * P3 Out of reach: a process that left the group, was orphaned *and* started a program with a scrubbed
 *    environment. Only the bubblewrap profile contains that one.
 */
export const RUN_MARK = 'WRIT_RUN';
const MOST_CARRIED = 16;

export function newMark(): string {
  return randomUUID().replaceAll('-', '');
}

/** Beyond this a run may have gone round the pid numbers, so everything is looked at. */
const SHORT_RUN_MS = 1000;

/** Sends a signal to a process, or with `group` to its whole group. False when there is nobody. */
export function signalTo(pid: number, signal: NodeJS.Signals | 0, group = false): boolean {
  // 0, 1 and negative numbers mean "us", init or everybody to kill(2).
  if (!Number.isSafeInteger(pid) || pid <= 1) return false;
  try {
    process.kill(group ? -pid : pid, signal);
    return true;
  } catch {
    return false;
  }
}

interface ProcStat {
  readonly ppid: number;
  readonly group: number;
  readonly state: string;
}

export function statOf(pid: number): ProcStat | undefined {
  const text = read(`/proc/${pid}/stat`);
  // The second field is the program's name and may hold anything, brackets included.
  const rest = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (rest?.[0] === undefined || rest[2] === undefined) return undefined;
  return { state: rest[0], ppid: Number(rest[1]), group: Number(rest[2]) };
}

/** Alive means neither gone nor a zombie waiting to be reaped. */
export function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X';
}

/** kill(2) also counts zombies that a slow init has not reaped; those are no longer running. */
export function isGroupAlive(group: number): boolean {
  if (!signalTo(group, 0, true)) return false;
  return allPids().some((pid) => {
    const stat = statOf(pid);
    return stat?.group === group && stat.state !== 'Z' && stat.state !== 'X';
  });
}

export function allPids(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Living descendants of `root` that are still attached to it, children before grandchildren. */
export function descendants(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const pid of allPids()) {
    const stat = statOf(pid);
    if (stat === undefined || stat.state === 'Z') continue;
    const siblings = children.get(stat.ppid);
    if (siblings) siblings.push(pid);
    else children.set(stat.ppid, [pid]);
  }
  const found: number[] = [];
  for (let queue = [root]; queue.length > 0; ) {
    const next = queue.flatMap((pid) => children.get(pid) ?? []);
    found.push(...next);
    queue = next;
  }
  return found;
}

/**
 * The value of the mark for a child. One of ours that was itself started by us passes on the marks it carries,
 * so that the outer run still finds what the inner one started.
 */
export function markValue(mark: string): string {
  const carried = process.env[RUN_MARK]?.split(',') ?? [];
  return [...carried.filter((m) => /^[0-9a-f]{1,64}$/.test(m)).slice(-MOST_CARRIED), mark].join(',');
}

/** Processes that carry the mark of this run, wherever they have gone. */
export function marked(mark: string, leader: number, runMs: number): readonly number[] {
  return candidates(leader, runMs).filter((pid) => {
    if (pid === process.pid) return false;
    const environ = read(`/proc/${pid}/environ`)?.split('\0');
    const marks = environ?.find((entry) => entry.startsWith(`${RUN_MARK}=`))?.slice(RUN_MARK.length + 1);
    return marks?.split(',').includes(mark) === true && isAlive(pid);
  });
}

/** How long a run may have been for the numbers alone to tell that nothing else was started. */
const MOMENT_MS = 250;

/** Whether no process was started anywhere since this one: then it has left nothing behind. */
export function wasLast(leader: number, runMs: number): boolean {
  return runMs < MOMENT_MS && newestPid() === leader;
}

/**
 * Pid numbers are given out in order, so descendants of a short run lie between the leader and the newest
 * number. Looking at those alone keeps the sweep in microseconds on a busy machine.
 */
function candidates(leader: number, runMs: number): readonly number[] {
  const newest = newestPid();
  const near = Number.isSafeInteger(newest) && newest >= leader && newest - leader < 512;
  if (runMs > SHORT_RUN_MS || !near) return allPids();
  return Array.from({ length: newest - leader }, (_, i) => leader + 1 + i);
}

let loadavg: number | undefined;
const line = Buffer.alloc(128);

/** The number given out last, which ends the line. The file stays open: it is written anew for each reading. */
function newestPid(): number {
  try {
    loadavg ??= openSync('/proc/loadavg', 'r');
    return Number(
      line
        .toString('latin1', 0, readSync(loadavg, line, 0, line.length, 0))
        .trim()
        .split(' ')
        .at(-1),
    );
  } catch {
    return Number.NaN;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
