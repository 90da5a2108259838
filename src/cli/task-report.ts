import type { OrchestrateResponse, Task } from '../cloud/index.ts';
import { EXIT, type ExitCode, visible } from '../core/index.ts';
import type { Cli } from './cli.ts';

/** What `writ tasks` tells people, and the exit code it tells scripts. */
export function exitOf(reply: OrchestrateResponse): ExitCode {
  switch (reply.status) {
    case 'task_pending':
      return EXIT.ok;
    case 'task_completed':
      // A cluster was recognised and not captured; a cleanup may have left something.
      if (reply.target_type !== undefined) return EXIT.usage;
      return leftBehind(reply) ?? EXIT.ok;
    case 'task_cancelled':
      return reply.error === 'denied' ? EXIT.denied : (leftBehind(reply) ?? EXIT.ok);
    case 'task_failed':
    case 'task_timed_out':
      return EXIT.failed;
    case 'error':
      return USAGE.has(reply.error ?? '') ? EXIT.usage : EXIT.failed;
  }
}

const USAGE = new Set([
  'unknown_intent',
  'unknown_task',
  'missing_parameter',
  'invalid_parameter',
  'unsupported_target',
]);

function leftBehind(reply: OrchestrateResponse): ExitCode | undefined {
  if (reply.cleanup_status !== 'partial') return undefined;
  const denied = reply.warnings?.some((w) => w.includes('was not deleted (denied')) === true;
  return denied ? EXIT.denied : EXIT.failed;
}

/** The orchestrator speaks to whoever calls it; at the command line its intents have other names. */
function forPeople(text: string, taskId: string): string {
  return visible(text)
    .replace(
      /\b([Cc])all (check|cancel|cleanup)_task(?: for (ghost_[\w.-]*\w))?/g,
      (_, c: string, what: string, other?: string) =>
        `${c === 'C' ? 'Run' : 'run'} writ tasks ${what} ${other ?? taskId}`,
    )
    .replace(/\bcancel_task first/g, `writ tasks cancel ${taskId} first`)
    .replace(/\blist_tasks\b/g, 'writ tasks list')
    .replace(/\bcapture_traffic\b/g, 'a capture')
    .replace(/\bparameters\.(\w+)/g, (_, key: string) => `--${key.replaceAll('_', '-')}`);
}

export function printReply(cli: Cli, reply: OrchestrateResponse): void {
  if (reply.status === 'error') {
    cli.note(`${cli.style.red('error')} ${reply.error}: ${forPeople(reply.message, 'TASK-ID')}`);
    return;
  }
  const { task_id: id = '' } = reply;
  if (id !== '')
    cli.print(
      `${cli.style.bold(id)}  ${reply.state}${reply.cleanup_status ? `  (cleanup ${reply.cleanup_status})` : ''}`,
    );
  cli.print(forPeople(reply.message, id));
  if (reply.result) cli.print(`report: ${reply.result.report_path}`);
  if (reply.result && reply.state !== 'DONE') cli.print(`capture: ${reply.result.local_pcap_path}`);
  if (reply.paired_task) cli.print(`other end: ${reply.paired_task.task_id} (${reply.paired_task.state})`);
  for (const warning of reply.warnings ?? []) cli.note(`${cli.style.yellow('warning')}: ${visible(warning)}`);
}

export function printList(cli: Cli, reply: OrchestrateResponse): void {
  const tasks = reply.tasks ?? [];
  for (const task of tasks)
    cli.print(
      `${task.task_id}  ${task.state.padEnd(12)} cleanup ${(task.cleanup_status ?? '–').padEnd(9)} ${visible(task.target)}`,
    );
  if (tasks.length === 0) cli.print('No tasks yet. Start one with: writ tasks capture');
  printOrphans(cli, reply);
}

export function printTask(cli: Cli, task: Task): void {
  const row = (name: string, value: string | null) => {
    if (value !== null && value !== '') cli.print(`  ${name.padEnd(12)}${visible(value)}`);
  };
  cli.print(`${cli.style.bold(task.task_id)}  ${task.state}`);
  row('target', `${task.target} (${task.parameters.resource_group})`);
  row('region', task.location);
  row('why', task.investigation_context);
  row('length', `${task.parameters.duration_seconds} s`);
  row('created', task.timestamps.created);
  row(
    'last polled',
    task.timestamps.last_polled && `${task.timestamps.last_polled} (poll ${task.poll_count})`,
  );
  row('ended', task.timestamps.ended);
  row('error', task.error && `${task.error}: ${task.error_detail ?? ''}`);
  row('report', task.report_path);
  row('other end', task.paired_task_id);
  row('session', task.session_id);
  row('cleanup', task.cleanup_status);
  for (const step of task.cleanup_plan)
    cli.print(
      `    ${step.executed ? cli.style.green('gone') : (step.outcome ?? 'to do')}  ${visible(step.resource)}`,
    );
  for (const warning of task.warnings) cli.print(`  ${cli.style.yellow('warning')}: ${visible(warning)}`);
}

export function printOrphans(cli: Cli, reply: OrchestrateResponse): void {
  for (const orphan of reply.orphans ?? [])
    cli.print(
      `${cli.style.yellow(orphan.bucket)}: ${visible(orphan.resource)} (${forPeople(orphan.detail, orphan.task_id ?? '')})`,
    );
  for (const problem of reply.scan_problems ?? [])
    cli.note(`${cli.style.yellow('look')}: ${visible(problem)}`);
}
