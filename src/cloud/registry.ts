import { join } from 'node:path';
import { type Clock, isJsonObject, type Json, messageOf } from '../core/index.ts';
import {
  isJournalEvent,
  type Journal,
  journalInUse,
  lockFile,
  openJournal,
  readJournal,
} from '../ledger/index.ts';
import { listNames } from './files.ts';
import { readTask } from './record.ts';
import { mayMove, type TaskState } from './states.ts';
import type { Task } from './types.ts';

/**
 * The task registry: `orchestrator_tasks_{session}.jsonl`, whole tasks, append-only, chained.
 *
 * R1 A task is written before the orchestrator acts on its new state; a failed write stops the task.
 * R2 The newest record of a task wins, over all sessions' files (a task may be cleaned up by a later session).
 * R3 Lines that are no task of ours are reported, never guessed at.
 * R4 One session at a time has a task in hand: the one that wrote its newest record, while its process lives.
 *    Taking over a task and choosing a new id happen under the folder's lock.
 */
export interface Registry {
  /** Writes the whole task. Rejects when it is not durable. */
  save(task: Task): Promise<Task>;
  /** The same, checking that the move is legal. */
  move(task: Task, to: TaskState, changes?: Partial<Task>): Promise<Task>;
  /** Writes a task under an id that no session has used. */
  add(make: (taken: (taskId: string) => boolean) => Task): Promise<Task>;
  /** The task as it is now, in this session's hand; or the living session that has it. */
  take(taskId: string): Promise<{ readonly task: Task } | { readonly heldBy: string }>;
  /** Looks again at what other sessions wrote. */
  refresh(): Promise<void>;
  get(taskId: string): Task | undefined;
  all(): readonly HeldTask[];
  /** Lines that are no task of ours, with the place of each. */
  problems(): readonly string[];
  close(): Promise<void>;
}

export interface HeldTask {
  readonly task: Task;
  /** The session that wrote the newest record. */
  readonly holder: string;
}

/** The first segment of each session's registry; the reader follows to the others by itself. */
const REGISTRY_FILE = /^orchestrator_tasks_((?:(?!\.\d{4,9}\.jsonl$)[\w.-])+)\.jsonl$/;
const fileOf = (taskDir: string, session: string) => join(taskDir, `orchestrator_tasks_${session}.jsonl`);

/** Long enough for another process to write one record. */
const LOCK_WAIT_MS = 10_000;

export interface RegistryOptions {
  readonly sessionId: string;
  readonly taskDir: string;
  readonly clock: Clock;
  readonly openJournal?: OpenRegistryJournal;
}

/** How the registry's journal is opened: signed and listed in the product, bare in tests. */
export type OpenRegistryJournal = (path: string) => Promise<Journal>;

export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  const { sessionId, taskDir, clock } = options;
  const openIt = options.openJournal ?? ((path: string) => openJournal({ path, clock, flush: 'each' }));
  let { tasks, problems } = await loadRegistry(taskDir);
  let journal: Journal | undefined;

  const save = async (task: Task): Promise<Task> => {
    const next: Task = {
      ...task,
      revision: task.revision + 1,
      timestamps: { ...task.timestamps, updated: clock.now().toISOString() },
    };
    journal ??= await openIt(fileOf(taskDir, sessionId));
    await journal.append(next as unknown as { readonly [key: string]: Json });
    tasks.set(next.task_id, { task: next, holder: sessionId });
    return next;
  };

  const refresh = async () => {
    ({ tasks, problems } = await loadRegistry(taskDir));
  };

  /** What other processes wrote since, seen and answered while none of them takes or adds a task. */
  const locked = async <T>(work: () => Promise<T>): Promise<T> => {
    const lock = await lockFile(join(taskDir, 'orchestrator_tasks'), LOCK_WAIT_MS);
    try {
      await refresh();
      return await work();
    } finally {
      lock.release();
    }
  };

  return {
    save,
    move: async (task, to, changes = {}) => {
      if (!mayMove(task.state, to)) throw new Error(`a task cannot go from ${task.state} to ${to}`);
      return save({ ...task, ...changes, state: to });
    },
    add: (make) => locked(() => save(make((id) => tasks.has(id)))),
    take: (taskId) =>
      locked(async () => {
        const held = tasks.get(taskId);
        if (held === undefined) throw new Error(`no task ${taskId}`);
        if (held.holder === sessionId) return { task: held.task };
        return isLive(taskDir, held.holder) ? { heldBy: held.holder } : { task: await save(held.task) };
      }),
    refresh,
    get: (taskId) => tasks.get(taskId)?.task,
    all: () => [...tasks.values()],
    problems: () => problems,
    close: async () => journal?.close(),
  };
}

/** Whether a session's process is alive: its registry is locked while it writes there. */
export function isLive(taskDir: string, session: string): boolean {
  return journalInUse(fileOf(taskDir, session));
}

/** Every task of every session in the folder, each in its newest state. */
export async function loadTasks(taskDir: string): Promise<{ tasks: Map<string, Task>; problems: string[] }> {
  const { tasks, problems } = await loadRegistry(taskDir);
  return { tasks: new Map([...tasks].map(([id, held]) => [id, held.task])), problems };
}

async function loadRegistry(taskDir: string): Promise<{ tasks: Map<string, HeldTask>; problems: string[] }> {
  const tasks = new Map<string, HeldTask>();
  const problems: string[] = [];
  for (const name of listNames(taskDir)) {
    const holder = REGISTRY_FILE.exec(name)?.[1];
    if (holder === undefined) continue;
    try {
      for await (const entry of readJournal(join(taskDir, name))) {
        if (entry.kind === 'problem') problems.push(`${name}:${entry.line}: ${entry.what}`);
        if (!isJsonObject(entry.record) || isJournalEvent(entry.record)) continue;
        const read = readTask(entry.record);
        if (!read.ok) problems.push(`${name}:${entry.line}: ${read.reason}; left alone`);
        else if (isNewer(read.task, tasks.get(read.task.task_id)?.task))
          tasks.set(read.task.task_id, { task: read.task, holder });
      }
    } catch (error) {
      // One file that cannot be read must not hide the others.
      problems.push(`${name}: ${messageOf(error)}`);
    }
  }
  return { tasks, problems: problems.length > MAX_PROBLEMS ? shortened(problems) : problems };
}

/** A file full of rubbish must not become a message full of it. */
const MAX_PROBLEMS = 50;

function shortened(problems: readonly string[]): string[] {
  return [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more lines like these`];
}

function isNewer(task: Task, known: Task | undefined): boolean {
  if (known === undefined || task.revision > known.revision) return true;
  return task.revision === known.revision && task.timestamps.updated >= known.timestamps.updated;
}
