import { join } from 'node:path';
import { analyzePair, analyzeSingle } from './analysis.ts';
import { end, fail } from './capture.ts';
import { runCleanup } from './cleanup.ts';
import { commands } from './commands.ts';
import { because, type CloudContext, saysNotFound, send } from './context.ts';
import { isEnded } from './states.ts';
import { blobIn } from './storage.ts';
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
  const elapsed = () => (clock.monotonic() - started) / 1000;
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
    commands.captureStatus(task.location ?? '', task.task_id),
    because(`See whether the capture on ${task.vm_name} has finished.`, task),
  );
  const status = outcome.kind === 'ok' ? outcome.output.toLowerCase() : 'unreadable';
  const polled: Task = {
    ...task,
    poll_count: task.poll_count + 1,
    timestamps: { ...task.timestamps, last_polled: clock.now().toISOString() },
  };
  switch (status) {
    case 'stopped':
    case 'succeeded':
      return registry.move(polled, 'DOWNLOADING');
    case 'failed':
    case 'error':
      return runCleanup(
        context,
        await fail(context, polled, 'capture_failed', `Azure reports the capture as ${status}`),
      );
    default:
      if (polled.poll_count < limits.maxPolls) return registry.save(polled);
      return runCleanup(
        context,
        await end(
          context,
          polled,
          'TIMED_OUT',
          'polling_timeout',
          `Azure did not finish within ${limits.maxPolls} polls`,
          'pending',
        ),
      );
  }
}

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
    commands.captureStatus(task.location ?? '', task.task_id),
    because('See whether an interrupted create took effect.', task),
  );
  if (outcome.kind === 'ok')
    return context.registry.move(task, 'PROVISIONING', { azure_operation_id: task.task_id });
  const detail = outcome.kind === 'failed' ? outcome.detail : outcome.reason;
  if (saysNotFound(detail))
    return end(
      context,
      task,
      'ABANDONED',
      'interrupted',
      'interrupted before the capture was created',
      'skipped',
    );
  return runCleanup(
    context,
    await fail(context, task, 'provisioning_unknown', `whether the capture exists is unknown: ${detail}`),
  );
}

async function download(context: CloudContext, task: Task): Promise<Task> {
  const { registry, clock, limits } = context;
  const blob = (await realBlob(context, task)) ?? task.blob;
  if (blob === null)
    return fail(context, task, 'download_failed', 'the place of the capture file is unknown');
  const file = join(context.captureDir, `${task.task_id}.pcap`);
  const command = commands.downloadBlob(blob, file, task.parameters.storage_auth_mode);
  const reasoning = because(`Download the finished capture of ${task.vm_name} for analysis.`, task);
  // The blob's true place goes into the undo before the file exists.
  const located = await registry.save({ ...task, blob, cleanup_plan: replan(task, blob) });
  let outcome = await send(context, command, reasoning);
  if (outcome.kind === 'failed') {
    context.progress(
      `${task.task_id}: download failed, trying once more in ${limits.downloadRetrySeconds} s`,
    );
    await clock.sleep(limits.downloadRetrySeconds * 1000);
    outcome = await send(context, command, reasoning);
  }
  switch (outcome.kind) {
    case 'ok':
      return registry.save({ ...located, downloaded: true, local_pcap_path: file });
    case 'denied':
      return runCleanup(
        context,
        await end(context, located, 'CANCELLED', 'denied', outcome.reason, 'pending'),
      );
    case 'failed':
      return runCleanup(
        context,
        await fail(context, { ...located, downloaded: true }, 'download_failed', outcome.detail),
      );
  }
}

/** Azure may have put the file elsewhere than asked: the capture itself says where. */
async function realBlob(context: CloudContext, task: Task): Promise<Task['blob'] | undefined> {
  const outcome = await send(
    context,
    commands.capturePath(task.location ?? '', task.task_id),
    because('Read where Azure stored the capture file.', task),
  );
  if (outcome.kind !== 'ok' || task.blob === null) return undefined;
  return blobIn(outcome.output, task.blob.account);
}

function replan(task: Task, blob: NonNullable<Task['blob']>): Task['cleanup_plan'] {
  return task.cleanup_plan.map((step) =>
    step.kind === 'blob' && !step.executed
      ? {
          ...step,
          resource: `blob ${blob.container}/${blob.name} in ${blob.account}`,
          command: commands.deleteBlob(blob, task.parameters.storage_auth_mode),
        }
      : step,
  );
}

/** Alone, or with the partner's file beside it; a partner that died leaves a single-end analysis. */
async function afterDownload(context: CloudContext, task: Task): Promise<Task> {
  if (task.paired_task_id === null) return analyzeSingle(context, task);
  const partner = partnerOf(context, task);
  if (partner === undefined || isEnded(partner.state))
    return analyzeSingle(context, task, 'single_end_fallback');
  if (partner.downloaded) return analyzePair(context, task, partner);
  const moved = await advance(context, partner);
  return moved === partner ? task : afterDownload(context, task);
}
