import { because, type CloudContext, saysNotFound, send } from './context.ts';
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
    const done = await runStep(context, current, step);
    const plan = current.cleanup_plan.map((s, i) => (i === index ? done : s));
    const warning = done.executed
      ? []
      : [`${done.resource} was not deleted (${done.outcome}); it is still there`];
    // Saved after each step: a crash between two deletions forgets neither.
    current = await context.registry.save({
      ...current,
      cleanup_plan: plan,
      cleanup_status: statusOf(plan),
      warnings: [...current.warnings.filter((w) => !w.startsWith(done.resource)), ...warning],
    });
  }
  if (current.cleanup_status === statusOf(current.cleanup_plan)) return current;
  return context.registry.save({ ...current, cleanup_status: statusOf(current.cleanup_plan) });
}

async function runStep(context: CloudContext, task: Task, step: CleanupStep): Promise<CleanupStep> {
  // The file never arrived: nothing to delete, nobody to ask.
  if (step.kind === 'local' && !task.downloaded) return { ...step, executed: true, outcome: 'absent' };
  context.progress(`cleaning up: ${step.resource}`);
  const outcome = await send(
    context,
    step.command,
    because(`Delete ${step.resource}, which this capture created.`, task),
  );
  switch (outcome.kind) {
    case 'ok':
      return { ...step, executed: true, outcome: 'deleted' };
    case 'denied':
      return { ...step, executed: false, outcome: 'denied' };
    case 'failed':
      return saysNotFound(outcome.detail)
        ? { ...step, executed: true, outcome: 'absent' }
        : { ...step, executed: false, outcome: 'failed' };
  }
}

export function statusOf(plan: readonly CleanupStep[]): CleanupStatus {
  if (plan.every((s) => s.executed)) return 'completed';
  return plan.some((s) => s.executed || s.outcome !== null) ? 'partial' : 'pending';
}
