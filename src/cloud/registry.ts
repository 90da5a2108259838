import { join } from 'node:path';
import { type Clock, isJsonObject, type Json } from '../core/index.ts';
import { isJournalEvent, type Journal, openJournal, readJournal } from '../ledger/index.ts';
import { listNames } from './files.ts';
import { mayMove, TASK_STATES, type TaskState } from './states.ts';
import type { Task } from './types.ts';

/**
 * The task registry: `orchestrator_tasks_{session}.jsonl`, whole tasks, append-only, chained.
 *
 * R1 A task is written before the orchestrator acts on its new state; a failed write stops the task.
 * R2 The newest record of a task wins, over all sessions' files (a task may be cleaned up by a later session).
 * R3 Lines that are no task of ours are reported, never guessed at.
 */
export interface Registry {
  /** Writes the whole task. Rejects when it is not durable. */
  save(task: Task): Promise<Task>;
  /** The same, checking that the move is legal. */
  move(task: Task, to: TaskState, changes?: Partial<Task>): Promise<Task>;
  get(taskId: string): Task | undefined;
  all(): readonly Task[];
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** The first segment of each session's registry; the reader follows to the others by itself. */
export const REGISTRY_FILE = /^orchestrator_tasks_((?:(?!\.\d{4,9}\.jsonl$)[\w.-])+)\.jsonl$/;

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
  const { tasks, problems } = await loadTasks(taskDir);
  const openIt = options.openJournal ?? ((path: string) => openJournal({ path, clock, flush: 'each' }));
  let journal: Journal | undefined;
  const open = async () => {
    journal ??= await openIt(join(taskDir, `orchestrator_tasks_${sessionId}.jsonl`));
    return journal;
  };

  const save = async (task: Task): Promise<Task> => {
    const stamped: Task = { ...task, timestamps: { ...task.timestamps, updated: clock.now().toISOString() } };
    await (await open()).append(stamped as unknown as { readonly [key: string]: Json });
    tasks.set(stamped.task_id, stamped);
    return stamped;
  };

  return {
    save,
    move: (task, to, changes = {}) => {
      if (!mayMove(task.state, to)) throw new Error(`a task cannot go from ${task.state} to ${to}`);
      return save({ ...task, ...changes, state: to });
    },
    get: (taskId) => tasks.get(taskId),
    all: () => [...tasks.values()],
    problems,
    close: async () => journal?.close(),
  };
}

/** Every task of every session in the folder, each in its newest state. */
export async function loadTasks(taskDir: string): Promise<{ tasks: Map<string, Task>; problems: string[] }> {
  const tasks = new Map<string, Task>();
  const problems: string[] = [];
  for (const name of listNames(taskDir).filter((n) => REGISTRY_FILE.test(n))) {
    const path = join(taskDir, name);
    for await (const entry of readJournal(path)) {
      if (entry.kind === 'problem') problems.push(`${name}:${entry.line}: ${entry.what}`);
      if (entry.record === undefined || isJournalEvent(entry.record)) continue;
      const task = asTask(entry.record);
      if (task === undefined) {
        problems.push(`${name}:${entry.line}: not a task this version knows; left alone`);
        continue;
      }
      const known = tasks.get(task.task_id);
      if (known === undefined || known.timestamps.updated <= task.timestamps.updated)
        tasks.set(task.task_id, task);
    }
  }
  return { tasks, problems };
}

/** A record from disk is hostile too: shape first, then trust. */
function asTask(record: unknown): Task | undefined {
  if (!isJsonObject(record)) return undefined;
  const text = (key: string) => typeof record[key] === 'string';
  const shaped =
    text('task_id') &&
    text('session_id') &&
    text('target') &&
    text('vm_name') &&
    TASK_STATES.includes(record.state as TaskState) &&
    isJsonObject(record.parameters) &&
    Array.isArray(record.cleanup_plan) &&
    isJsonObject(record.timestamps) &&
    typeof record.timestamps.updated === 'string';
  if (!shaped) return undefined;
  // What the journal added is not the task's.
  const { sequence: _s, timestamp: _t, prev_hash: _p, hash: _h, ...task } = record;
  return task as unknown as Task;
}
