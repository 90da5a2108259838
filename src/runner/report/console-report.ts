import { isJsonObject, type Json, visible } from '../../core/index.ts';
import { durationOf, type StepDocument, stepDocuments } from '../document.ts';
import { json, type RunReader } from '../store/reader.ts';
import type { RunRow } from '../store/rows.ts';
import { SummaryBuilder } from './json-report.ts';

/** Colours come from outside, so that this file does not know terminals. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

const MARKS: Record<StepDocument['status'], readonly [string, keyof Paint]> = {
  success: ['✓', 'green'],
  denied: ['⊘', 'red'],
  error: ['✗', 'red'],
  waiting: ['…', 'yellow'],
  unknown: ['?', 'yellow'],
  skipped: ['·', 'dim'],
};

export function stepMark(status: StepDocument['status'], paint: Paint): string {
  const [mark, colour] = MARKS[status];
  return paint[colour](mark);
}

/** The report for a terminal, line by line: timeline, denials with their reasons, what was touched. */
export function* consoleReport(reader: RunReader, run: RunRow, paint: Paint): Iterable<string> {
  const steps = stepDocuments(reader, run);
  const duration = durationOf(reader, run.run_id);
  yield `${paint.bold(`Run ${run.run_id}`)}  ${run.mode}${run.replay_of === null ? '' : ` of ${run.replay_of}`}  ${statusText(run, paint)}`;
  yield paint.dim(
    `${run.created_at} · ${duration} ms · plan ${run.plan_hash.slice(0, 12)} · policy ${run.policy_hash.slice(0, 12)}`,
  );
  yield '';
  const summary = new SummaryBuilder();
  const start = Date.parse(run.created_at);
  for (const { record, ...step } of steps) {
    const args = record ? json(record.call.args_json) : null;
    summary.add(step, args);
    yield* timelineRow(step, args, start, paint);
  }
  const { resources, denials } = summary.build(run, duration);
  yield '';
  yield `${run.completed_steps} of ${run.total_steps} done · ${run.denied_steps} denied · ${run.failed_steps} failed`;
  for (const [title, values] of [
    ['files read', resources.files_read],
    ['files written', resources.files_written],
    ['domains', resources.domains_contacted],
    ['commands', resources.commands_run],
  ] as const)
    for (const [i, value] of values.entries())
      yield `${paint.dim((i === 0 ? title : '').padEnd(14))}${visible(value)}`;
  for (const denial of denials)
    yield `${paint.red('denied'.padEnd(14))}step ${denial.step} ${visible(denial.tool)}: ${visible(denial.rule)}: ${visible(denial.reason)}`;
}

function* timelineRow(step: StepDocument, args: Json, start: number, paint: Paint): Iterable<string> {
  const took =
    step.started_at !== null && step.ended_at !== null
      ? Date.parse(step.ended_at) - Date.parse(step.started_at)
      : undefined;
  const since =
    step.started_at === null ? '' : `+${((Date.parse(step.started_at) - start) / 1000).toFixed(3)}s`;
  const name = `${visible(step.tool)}${step.id === null ? '' : ` (${visible(step.id)})`}`;
  const time = paint.dim(`${since}${took === undefined ? '' : ` ${took} ms`}`);
  yield `${stepMark(step.status, paint)} ${String(step.index).padStart(3)} ${name.padEnd(24)} ${visible(subjectOf(args))} ${time}`;
  const decision = isJsonObject(step.decision) ? step.decision : {};
  const place = typeof decision.line === 'number' ? ` (${String(decision.file)}:${decision.line})` : '';
  if (step.status === 'denied')
    yield `      ${paint.red(visible(`${String(decision.rule)}: ${String(decision.reason)}${place}`))}`;
  else if (step.status === 'waiting')
    yield `      ${paint.yellow(visible(`${String(decision.reason)}; approval ${String(decision.approval_id)}`))}`;
  else if (step.error !== null) yield `      ${paint.red(visible(step.error))}`;
}

/** What a call is about, short enough for one line. */
export function subjectOf(args: Json): string {
  if (!isJsonObject(args)) return '';
  const subject =
    args.path ??
    args.url ??
    (Array.isArray(args.cmd) ? args.cmd.map(String).join(' ') : JSON.stringify(args));
  const text = String(subject);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function statusText(run: RunRow, paint: Paint): string {
  switch (run.status) {
    case 'completed':
      return paint.green(run.status);
    case 'failed':
      return paint.red(run.status);
    default:
      return paint.yellow(run.status);
  }
}
