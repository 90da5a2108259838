import { because, type CloudContext, send } from './context.ts';
import { fileExists } from './files.ts';
import { localPath } from './plan.ts';
import type { CleanupStatus, CleanupStep, Task } from './types.ts';

/**
 * Best effort, idempotent, in order, each deletion through the gate.
 * A denied or failed deletion leaves `partial` with a warning naming the resource; the task stays visible
 * until a later attempt finds everything gone.
 */
export async function runCleanup(context: CloudContext, task: Task): Promise<Task> {
  let current = task;
  for (const [index, step] of task.cleanup_plan.entries()) {
    if (step.executed) continue;
    const { outcome, why } = await runStep(context, current, step);
    const executed = outcome === 'deleted' || outcome === 'absent';
    const plan = current.cleanup_plan.map((s, i) => (i === index ? { ...s, executed, outcome } : s));
    const others = current.warnings.filter((w) => !w.startsWith(`${step.resource} was not deleted`));
    // Saved after each step: a crash between two deletions forgets neither.
    current = await context.registry.save({
      ...current,
      cleanup_plan: plan,
      cleanup_status: statusOf(plan),
      warnings: executed
        ? others
        : [...others, `${step.resource} was not deleted (${why}); it is still there`],
    });
  }
  if (current.cleanup_status === statusOf(current.cleanup_plan)) return current;
  return context.registry.save({ ...current, cleanup_status: statusOf(current.cleanup_plan) });
}

interface StepOutcome {
  readonly outcome: NonNullable<CleanupStep['outcome']>;
  /** For people, when it is not gone. */
  readonly why: string;
}

async function runStep(context: CloudContext, task: Task, step: CleanupStep): Promise<StepOutcome> {
  // The file never arrived: nothing to delete, nobody to ask.
  if (step.kind === 'local' && !fileExists(localPath(step))) return { outcome: 'absent', why: '' };
  context.progress(`cleaning up: ${step.resource}`);
  const sent = await send(
    context,
    step.command,
    because(`Delete ${step.resource}, which this capture created.`, task),
  );
  switch (sent.kind) {
    case 'ok':
      return sent.modified
        ? { outcome: 'failed', why: 'another command was run in its place; try again to see' }
        : { outcome: 'deleted', why: '' };
    case 'denied':
      return { outcome: 'denied', why: `denied: ${sent.reason}` };
    case 'failed':
      return { outcome: sent.absent ? 'absent' : 'failed', why: `failed: ${sent.detail}` };
  }
}

export function statusOf(plan: readonly CleanupStep[]): CleanupStatus {
  if (plan.every((s) => s.executed)) return 'completed';
  return plan.some((s) => s.executed || s.outcome !== null) ? 'partial' : 'pending';
}
