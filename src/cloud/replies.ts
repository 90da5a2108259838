import type { CloudContext } from './context.ts';
import type { Burst } from './drive.ts';
import { partnerOf } from './drive.ts';
import { leftovers } from './plan.ts';
import { isEnded } from './states.ts';
import type { CaptureResult, OrchestrateResponse, OrchestratorError, ResponseStatus, Task } from './types.ts';

/** Error replies carry status, error and message only. */
export function refuse(error: OrchestratorError, message: string): OrchestrateResponse {
  return { status: 'error', error, message };
}

export function reply(context: CloudContext, task: Task, burst?: Burst): OrchestrateResponse {
  const partner = partnerOf(context, task);
  const seconds = (until: string | null) =>
    Math.max(
      0,
      ((until === null ? context.clock.now().getTime() : Date.parse(until)) -
        Date.parse(task.timestamps.created)) /
        1000,
    );
  const ended = isEnded(task.state);
  return {
    task_id: task.task_id,
    status: statusOf(task),
    state: task.state,
    investigation_context: task.investigation_context,
    result: resultOf(task),
    cleanup_status: task.cleanup_status,
    error: task.error,
    error_detail: task.error_detail,
    poll_count: task.poll_count,
    max_polls: context.limits.maxPolls,
    elapsed_seconds: seconds(task.timestamps.ended),
    ...(ended ? { duration_seconds: seconds(task.timestamps.ended) } : {}),
    ...(burst ? { burst_polls: burst.polls, burst_duration_seconds: burst.seconds } : {}),
    paired_task: partner ? { task_id: partner.task_id, state: partner.state } : null,
    ...(task.warnings.length > 0 ? { warnings: task.warnings } : {}),
    message: messageOf(task, context.limits.maxPolls, partner),
  };
}

/** How the task ended stays its status while and after it is cleaned up. */
export function statusOf(task: Task): ResponseStatus {
  switch (task.state) {
    case 'CREATED':
    case 'DETECTING':
    case 'APPROVED':
    case 'PROVISIONING':
    case 'WAITING':
    case 'DOWNLOADING':
    case 'ANALYZING':
      return 'task_pending';
    case 'COMPLETED':
      return 'task_completed';
    case 'FAILED':
      return 'task_failed';
    case 'CANCELLED':
    case 'ABANDONED':
      return 'task_cancelled';
    case 'TIMED_OUT':
      return 'task_timed_out';
    case 'CLEANING_UP':
    case 'DONE':
      return endedAs(task.error);
  }
}

function endedAs(error: string | null): ResponseStatus {
  switch (error) {
    case null:
      return 'task_completed';
    case 'denied':
    case 'cancelled':
    case 'abandoned':
    case 'interrupted':
      return 'task_cancelled';
    case 'polling_timeout':
      return 'task_timed_out';
    default:
      return 'task_failed';
  }
}

function resultOf(task: Task): CaptureResult | null {
  if (task.local_pcap_path === null || task.semantic_json_path === null || task.report_path === null)
    return null;
  return {
    local_pcap_path: task.local_pcap_path,
    semantic_json_path: task.semantic_json_path,
    report_path: task.report_path,
    ...(task.mode ? { mode: task.mode } : {}),
  };
}

/** What happened, what is left, and what the caller can do next. */
function messageOf(task: Task, maxPolls: number, partner: Task | undefined): string {
  const capture = `Capture of ${task.vm_name}`;
  const other =
    partner && !isEnded(partner.state)
      ? ` The other end goes on: call check_task for ${partner.task_id}.`
      : '';
  const left = task.cleanup_status === 'partial' ? ` Left behind: ${leftovers(task)}.` : '';
  switch (task.state) {
    case 'COMPLETED':
      return `${capture} analysed: ${task.report_path}. Read it, then call cleanup_task.${left}`;
    case 'CLEANING_UP':
      return `Cleanup of ${task.task_id} is not finished.${left} Call cleanup_task again to retry.`;
    case 'DONE':
      return task.error === null
        ? `${capture} is finished and everything it created is gone.`
        : `${capture} ended without a result (${task.error}); everything it created is gone.`;
    case 'FAILED':
    case 'TIMED_OUT':
    case 'CANCELLED':
    case 'ABANDONED':
      return `${capture} ${task.state.toLowerCase().replace('_', ' ')}: ${task.error_detail ?? task.error ?? 'no detail'}. ${remains(task)}${other}`;
    case 'DOWNLOADING':
      return task.downloaded
        ? `${capture} is here; waiting for the other end. Call check_task to go on.`
        : `${capture} is ready to be downloaded. Call check_task to go on.`;
    case 'CREATED':
    case 'DETECTING':
    case 'APPROVED':
    case 'PROVISIONING':
    case 'WAITING':
    case 'ANALYZING':
      return `${capture} is ${task.state.toLowerCase()} (poll ${task.poll_count} of ${maxPolls}). Call check_task to go on.`;
  }
}

function remains(task: Task): string {
  switch (task.cleanup_status) {
    case 'completed':
      return 'What it created was cleaned up.';
    case 'skipped':
      return 'Nothing had been created.';
    case 'partial':
      return `Left behind: ${leftovers(task)}. Call cleanup_task to try again.`;
    case 'pending':
    case null:
      return 'What it created has not been cleaned up. Call cleanup_task.';
  }
}
