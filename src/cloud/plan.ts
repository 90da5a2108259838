import { basename } from 'node:path';
import { commands } from './commands.ts';
import type { BlobPlace, CapturePlace, CleanupStep, Task } from './types.ts';

/**
 * The undo of everything a task creates, cloud first. Registered before the first of it exists.
 *
 * P1 A step's command is always the one its task's own facts give. A record that says otherwise was not
 *    written by us, and is not run.
 */
type Planned = Pick<Task, 'task_id' | 'location' | 'subscription' | 'blob' | 'parameters'>;

export function capturePlace(task: Planned): CapturePlace {
  return { location: task.location ?? '', name: task.task_id, subscription: task.subscription };
}

export function cleanupPlan(
  task: Planned & { readonly blob: BlobPlace },
  file: string,
): readonly CleanupStep[] {
  return [
    step(
      'capture',
      `packet capture ${task.task_id} in ${task.location}`,
      commands.deleteCapture(capturePlace(task)),
    ),
    blobStep(task.blob, task),
    localStep(file),
  ];
}

/** The same plan with the blob where it turned out to be. */
export function withBlob(task: Task, blob: BlobPlace): readonly CleanupStep[] {
  return task.cleanup_plan.map((s) => (s.kind === 'blob' && !s.executed ? blobStep(blob, task) : s));
}

/** The same plan with more files to remove. */
export function withFiles(task: Task, files: readonly string[]): readonly CleanupStep[] {
  return [...task.cleanup_plan, ...files.map(localStep)];
}

const LOCAL = 'local file ';

export function localPath(local: CleanupStep): string {
  return local.resource.slice(LOCAL.length);
}

/** What a task has not removed yet, for people. */
export function leftovers(task: Task): string {
  return task.cleanup_plan
    .filter((s) => !s.executed)
    .map((s) => s.resource)
    .join('; ');
}

/** Whether a recorded step is one this module would have written for the task (P1). */
export function isOwnStep(recorded: CleanupStep, task: Planned): boolean {
  switch (recorded.kind) {
    case 'capture':
      return recorded.command === commands.deleteCapture(capturePlace(task));
    case 'blob':
      return (
        task.blob !== null &&
        recorded.command === commands.deleteBlob(task.blob, task.parameters.storage_auth_mode)
      );
    case 'local': {
      const path = localPath(recorded);
      return recorded.command === commands.removeFile(path) && basename(path).startsWith(task.task_id);
    }
  }
}

function blobStep(blob: BlobPlace, task: Planned): CleanupStep {
  return step(
    'blob',
    `blob ${blob.container}/${blob.name} in ${blob.account}`,
    commands.deleteBlob(blob, task.parameters.storage_auth_mode),
  );
}

function localStep(file: string): CleanupStep {
  return step('local', `${LOCAL}${file}`, commands.removeFile(file));
}

function step(kind: CleanupStep['kind'], resource: string, command: string): CleanupStep {
  return { kind, resource, command, executed: false, outcome: null };
}
