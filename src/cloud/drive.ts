import { adoptComparison, analyzePair, analyzeSingle } from './analysis.ts';
import { end, fail } from './capture.ts';
import { runCleanup } from './cleanup.ts';
import { commands } from './commands.ts';
import { because, type CloudContext, send, whyNot } from './context.ts';
import { download } from './download.ts';
import { capturePlace } from './plan.ts';
import { isEnded } from './states.ts';
import type { Task } from './types.ts';

/**
 * One `check_task`: drives a task for at most a burst.
 *
 * B1 Polls follow min(initial·2^(n-1), max) seconds; a failed poll counts as a poll, never as a failed task.
 * B2 When the capture is ready the same burst goes on through download and analysis.
 * B3 The burst's length bounds sleeping, not work in hand: a download that has begun is finished.
 */
export interface Burst {
  readonly task: Task;
  readonly polls: number;
  readonly seconds: number;
}

export async function drive(context: CloudContext, first: Task): Promise<Burst> {
  const { clock, limits } = context;
  const started = clock.monotonic();
  let slept = 0;
  // In a lab sleeping takes less time than it says; the burst is as long as it says.
  const elapsed = () => Math.max((clock.monotonic() - started) / 1000, slept);
  let task = first;
  let polls = 0;
  for (;;) {
    const waiting = nextToPoll(context, task);
    if (waiting === undefined) {
      const after = await advance(context, task);
      // Nothing moved and nobody is left to poll: the task is at rest.
      if (after === task || isEnded(after.state)) return { task: after, polls, seconds: elapsed() };
      task = after;
      continue;
    }
    const polled = await poll(context, waiting);
    polls++;
    task = context.registry.get(first.task_id) ?? task;
    if (polled.state !== 'WAITING') continue;
    const pause = backoffSeconds(polled.poll_count, limits);
    if (elapsed() + pause > limits.burstSeconds) return { task, polls, seconds: elapsed() };
    context.progress(
      `${polled.task_id}: capture running, poll ${polled.poll_count} of ${limits.maxPolls}, next in ${pause} s`,
    );
    await clock.sleep(pause * 1000);
    slept += pause;
  }
}

export function backoffSeconds(
  pollNumber: number,
  limits: { readonly pollInitialSeconds: number; readonly pollMaxSeconds: number },
): number {
  return Math.min(limits.pollInitialSeconds * 2 ** Math.max(0, pollNumber - 1), limits.pollMaxSeconds);
}

/** The task itself while its capture runs; its partner once only the partner is missing. */
function nextToPoll(context: CloudContext, task: Task): Task | undefined {
  if (task.state === 'WAITING') return task;
  if (task.state !== 'DOWNLOADING' || !task.downloaded) return undefined;
  const partner = partnerOf(context, task);
  return partner?.state === 'WAITING' ? partner : undefined;
}

export function partnerOf(context: CloudContext, task: Task): Task | undefined {
  return task.paired_task_id === null ? undefined : context.registry.get(task.paired_task_id);
}

async function poll(context: CloudContext, task: Task): Promise<Task> {
  const { registry, limits, clock } = context;
  const outcome = await send(
    context,
    commands.captureStatus(capturePlace(task)),
    because(`See whether the capture on ${task.vm_name} has finished.`, task),
  );
  const status = outcome.kind === 'ok' ? outcome.output : whyNot(outcome);
  const polled: Task = {
    ...task,
    poll_count: task.poll_count + 1,
    warnings: [
      ...task.warnings.filter((w) => !w.startsWith(UNREADABLE)),
      ...(outcome.kind === 'ok' ? [] : [`${UNREADABLE}: ${status}`]),
    ],
    timestamps: { ...task.timestamps, last_polled: clock.now().toISOString() },
  };
  switch (outcome.kind === 'ok' ? status.toLowerCase() : 'unreadable') {
    case 'stopped':
    case 'succeeded':
      return registry.move(polled, 'DOWNLOADING');
    case 'failed':
    case 'error':
      return runCleanup(
        context,
        await fail(context, polled, 'capture_failed', `Azure reports the capture as ${status}`),
      );
    default: {
      if (polled.poll_count < limits.maxPolls) return registry.save(polled);
      const detail = `Azure operation did not complete within polling window (${limits.maxPolls} polls, the last: ${status.slice(0, 200).toWellFormed() || 'no status'})`;
      return runCleanup(
        context,
        await end(context, polled, 'TIMED_OUT', 'polling_timeout', detail, 'pending'),
      );
    }
  }
}

const UNREADABLE = 'the status could not be read';

/** The next step that needs no waiting. Answers the same object when there is none. */
async function advance(context: CloudContext, task: Task): Promise<Task> {
  switch (task.state) {
    case 'CREATED':
    case 'DETECTING':
      return end(
        context,
        task,
        'ABANDONED',
        'interrupted',
        'interrupted before anything was created',
        'skipped',
      );
    case 'APPROVED':
      return afterInterruptedCreate(context, task);
    case 'PROVISIONING':
      return context.registry.move(task, 'WAITING');
    case 'DOWNLOADING':
      return task.downloaded ? afterDownload(context, task) : download(context, task);
    case 'ANALYZING':
      return afterDownload(context, task);
    case 'WAITING':
    case 'COMPLETED':
    case 'CLEANING_UP':
    case 'DONE':
    case 'FAILED':
    case 'CANCELLED':
    case 'TIMED_OUT':
    case 'ABANDONED':
      return task;
  }
}

/** The process died around the create command: Azure knows whether it happened. */
async function afterInterruptedCreate(context: CloudContext, task: Task): Promise<Task> {
  const outcome = await send(
    context,
    commands.captureStatus(capturePlace(task)),
    because('See whether an interrupted create took effect.', task),
  );
  if (outcome.kind === 'ok')
    return context.registry.move(task, 'PROVISIONING', { azure_operation_id: task.task_id });
  if (outcome.kind === 'failed' && outcome.absent)
    return end(
      context,
      task,
      'ABANDONED',
      'interrupted',
      'interrupted before the capture was created',
      'skipped',
    );
  // Not known to exist and not known to be absent: the undo is tried, and what it cannot do is said.
  const detail = `whether the capture exists is unknown: ${whyNot(outcome)}`;
  return runCleanup(context, await fail(context, task, 'provisioning_unknown', detail));
}

/** Alone, or with the partner's file beside it; a partner that died leaves a single-end analysis. */
async function afterDownload(context: CloudContext, task: Task): Promise<Task> {
  if (task.paired_task_id === null) return analyzeSingle(context, task);
  const partner = partnerOf(context, task);
  // The comparison was made and only this end's record of it is missing.
  if (partner?.mode === 'dual_end') return adoptComparison(context, task, partner);
  if (partner === undefined || isEnded(partner.state))
    return analyzeSingle(context, task, 'single_end_fallback');
  if (partner.downloaded) return analyzePair(context, task, partner);
  const moved = await advance(context, partner);
  return moved === partner ? task : afterDownload(context, task);
}
