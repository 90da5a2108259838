import { isJsonObject, type Json } from '../core/index.ts';
import type { Plan } from './plan.ts';
import { json, type RunReader, type StepRecord } from './store/reader.ts';
import type { ResultStatus, RunRow } from './store/rows.ts';

/** A step as `writ run --json` prints it. */
export interface StepDocument {
  readonly index: number;
  readonly id: string | null;
  readonly tool: string;
  readonly status: ResultStatus | 'waiting';
  readonly output: Json;
  readonly error: string | null;
  readonly decision: Json;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly input_hash: string | null;
  readonly output_hash: string | null;
}

/** The document of a run without its steps. */
export function runHead(reader: RunReader, run: RunRow) {
  const { run_id, status, total_steps, completed_steps, denied_steps, failed_steps } = run;
  return {
    run_id,
    status,
    total_steps,
    completed_steps,
    denied_steps,
    failed_steps,
    duration_ms: durationOf(reader, run.run_id),
  };
}

export function durationOf(reader: RunReader, runId: string): number {
  let duration = 0;
  for (const { detail } of reader.events(runId))
    if (isJsonObject(detail) && typeof detail.duration_ms === 'number') duration = detail.duration_ms;
  return duration;
}

type RecordedStep = StepDocument & { readonly record?: StepRecord };

/**
 * Every step of the plan in order, one at a time: recorded ones as recorded, the others as skipped. Fails at
 * once, before anything is printed, when the steps of a replay are not what was replayed.
 */
export function stepDocuments(reader: RunReader, run: RunRow): Iterable<RecordedStep> {
  return planned(json(run.plan_json) as unknown as Plan, reader.steps(run.run_id), waitingFor(reader, run));
}

function* planned(
  plan: Plan,
  records: Iterable<StepRecord>,
  waiting: ReturnType<typeof waitingFor>,
): Iterable<RecordedStep> {
  let next = 0;
  let held: StepRecord | undefined;
  for (const record of records) {
    // A step that was tried again is shown as it went the last time.
    if (held && held.call.step_index !== record.call.step_index) {
      while (next < held.call.step_index) yield skipped(plan, next++);
      yield recorded(held, waiting);
      next = held.call.step_index + 1;
    }
    held = record;
  }
  if (held) {
    while (next < held.call.step_index) yield skipped(plan, next++);
    yield recorded(held, waiting);
    next = held.call.step_index + 1;
  }
  while (next < plan.steps.length) yield skipped(plan, next++);
}

function waitingFor(
  reader: RunReader,
  run: RunRow,
): { readonly callId: string; readonly decision: Json } | undefined {
  if (run.status !== 'waiting') return undefined;
  const detail = reader.events(run.run_id).findLast((event) => event.event === 'waiting')?.detail;
  return isJsonObject(detail)
    ? { callId: String(detail.call_id), decision: detail.decision ?? null }
    : undefined;
}

function recorded(
  record: StepRecord,
  waiting: ReturnType<typeof waitingFor>,
): StepDocument & { readonly record: StepRecord } {
  const { call, result } = record;
  const shared = { index: call.step_index, id: call.step_id, tool: call.tool_name, record };
  if (result)
    return {
      ...shared,
      status: result.status,
      output: json(result.output_json),
      error: result.error,
      decision: json(result.policy_decision_json),
      started_at: result.started_at,
      ended_at: result.ended_at,
      input_hash: result.input_hash,
      output_hash: result.output_hash,
    };
  const parked = waiting?.callId === call.call_id;
  return {
    ...shared,
    status: parked ? 'waiting' : 'unknown',
    output: null,
    error: parked ? null : 'it was started, and what became of it is not on record',
    decision: parked ? waiting.decision : null,
    started_at: null,
    ended_at: null,
    input_hash: null,
    output_hash: null,
  };
}

function skipped(plan: Plan, index: number): StepDocument {
  const step = plan.steps[index];
  return {
    index,
    id: step?.id ?? null,
    tool: step?.tool ?? '',
    status: 'skipped',
    output: null,
    error: null,
    decision: null,
    started_at: null,
    ended_at: null,
    input_hash: null,
    output_hash: null,
  };
}

/** The whole document in pieces of text, so that a long run is never in memory at once. */
export function* runDocumentText(
  reader: RunReader,
  run: RunRow,
  extra: Readonly<Record<string, Json>> = {},
): Iterable<string> {
  const steps = stepDocuments(reader, run);
  const head = JSON.stringify({ ...runHead(reader, run), ...extra });
  yield `${head.slice(0, -1)},"steps":[`;
  let first = true;
  for (const { record: _record, ...step } of steps) {
    yield `${first ? '' : ','}${JSON.stringify(step)}`;
    first = false;
  }
  yield ']}\n';
}
