import { CODES, canonicalJson, EXIT, isJsonObject, type Json, sha256, WritError } from '../core/index.ts';
import { redactJson } from '../redact/index.ts';
import type { LoadedPlan } from './plan.ts';
import { decisionOf, errorText, resultRow } from './record.ts';
import { goOn, type RunOptions, type RunSummary, type Standing } from './run.ts';
import { json, type RunReader, type StepRecord } from './store/reader.ts';
import type { RunRow } from './store/rows.ts';
import { lockRun } from './store/run-lock.ts';

/**
 * Goes on with a run that waited for a person or was cut off.
 *
 * R1 Only with the plan and the policy it was started with.
 * R2 A step whose intent is on record and whose outcome is not is `unknown`: it is reported, and run again or
 *    passed over only when the caller says so.
 */
export interface ResumeOptions extends RunOptions {
  readonly unknown: 'report' | 'retry' | 'skip';
}

export async function resumeRun(
  loaded: LoadedPlan,
  run: RunRow,
  reader: RunReader,
  options: ResumeOptions,
): Promise<RunSummary> {
  if (run.mode !== 'run') throw refused(run, 'it is a replay', 'replay the original run instead');
  if (run.status === 'completed' || run.status === 'failed')
    throw refused(run, `it has ended (${run.status})`, 'start a new run');
  checkSame(loaded, run, options);
  // Before looking: another process may be in the middle of what looks like an unknown step.
  const lock = lockRun(options.store.path, run.run_id);
  try {
    return await resumeLocked(loaded, run, reader, options);
  } finally {
    lock.release();
  }
}

async function resumeLocked(
  loaded: LoadedPlan,
  run: RunRow,
  reader: RunReader,
  options: ResumeOptions,
): Promise<RunSummary> {
  const standing = standingOf(loaded, run, reader);
  const total = loaded.plan.steps.length;
  if (standing.unknown && options.unknown === 'report') return reportUnknown(standing, run, options, total);
  if (standing.unknown && options.unknown === 'skip') {
    const { call } = standing.unknown;
    if (!standing.unknown.result) options.store.addResult(resultRow(call, unknownResult(options)));
    if (call.step_id !== null) standing.lost.set(call.step_id, 'unknown');
    standing.counts.failed++;
  }
  const next = standing.unknown
    ? standing.unknown.call.step_index + (options.unknown === 'skip' ? 1 : 0)
    : standing.next;
  const tries = standing.unknown && options.unknown === 'retry' ? standing.attempts : 0;
  if (standing.unknown && options.unknown === 'retry' && !standing.unknown.result)
    options.store.addResult(resultRow(standing.unknown.call, unknownResult(options)));
  options.store.addEvent(run.run_id, 'resumed', { next }, { status: 'running' });
  options.store.commit();
  return goOn(loaded, options, { ...standing, next, tries }, total);
}

/** The plan and the policy must be the ones that were recorded, by their hashes. */
function checkSame(loaded: LoadedPlan, run: RunRow, options: RunOptions): void {
  const plan = sha256(canonicalJson(redactJson(loaded.plan as unknown as Json).value));
  if (plan !== run.plan_hash)
    throw refused(run, 'the plan is not the one it was started with', 'give the same plan file');
  const policy = sha256(canonicalJson(redactJson(options.judge.policy.json).value));
  if (policy !== run.policy_hash)
    throw refused(run, 'the policy is not the one it was started with', 'give the same policy file');
  if (options.judge.ground.workingDir !== run.working_dir)
    throw refused(run, `it was started in ${run.working_dir}`, `cd ${run.working_dir}`);
}

interface Found extends Standing {
  /** The step nobody knows the outcome of. */
  readonly unknown: StepRecord | undefined;
  readonly attempts: number;
}

function standingOf(loaded: LoadedPlan, run: RunRow, reader: RunReader): Found {
  const outputs = new Map<string, Json>();
  const lost = new Map<string, string>();
  const used = new Map<string, number>();
  const counts = { completed: 0, denied: 0, failed: 0 };
  const { lastUse } = loaded.references;
  const parked = parkedCall(reader, run);
  let durationMs = 0;
  for (const { detail } of reader.events(run.run_id))
    if (isJsonObject(detail) && typeof detail.duration_ms === 'number') durationMs = detail.duration_ms;
  let last: StepRecord | undefined;
  let attempts = 0;
  for (const record of reader.steps(run.run_id)) {
    const { call, result } = record;
    attempts = last?.call.step_index === call.step_index ? attempts + 1 : 1;
    last = record;
    const denied = result?.status === 'denied' && !isExecuted(json(result.policy_decision_json));
    if (result && !denied && result.status !== 'skipped')
      used.set(call.tool_name, (used.get(call.tool_name) ?? 0) + 1);
    if (result?.status === 'success') counts.completed++;
    else if (result?.status === 'denied') counts.denied++;
    else if (result?.status === 'error') counts.failed++;
    const id = call.step_id;
    if (id === null || !lastUse.has(id) || !result) continue;
    if (result.status !== 'success') lost.set(id, result.status);
    else if (result.redactions > 0) lost.set(id, 'what it gave held secrets, which are not kept');
    else outputs.set(id, json(result.output_json));
  }
  const waits = parked !== undefined && last?.call.call_id === parked.callId && !last.result;
  const unknown = last && !waits && (!last.result || last.result.status === 'unknown') ? last : undefined;
  const next = last === undefined ? 0 : last.result ? last.call.step_index + 1 : last.call.step_index;
  return {
    runId: run.run_id,
    next,
    outputs,
    lost,
    used,
    counts,
    tries: 0,
    durationMs,
    unknown,
    attempts,
    ...(waits && last ? { approval: { approvalId: parked.approvalId, call: last.call } } : {}),
  };
}

function isExecuted(decision: Json): boolean {
  return isJsonObject(decision) && decision.stage === 'execution';
}

/** The call that waits for a person, unless it was started since. */
function parkedCall(
  reader: RunReader,
  run: RunRow,
): { readonly callId: string; readonly approvalId: string } | undefined {
  let parked: { readonly callId: string; readonly approvalId: string } | undefined;
  for (const { event, detail } of reader.events(run.run_id)) {
    if (!isJsonObject(detail)) continue;
    if (event === 'waiting')
      parked = { callId: String(detail.call_id), approvalId: String(detail.approval_id) };
    if (event === 'intent' && detail.call_id === parked?.callId) parked = undefined;
  }
  return parked;
}

async function reportUnknown(
  standing: Found,
  run: RunRow,
  options: ResumeOptions,
  total: number,
): Promise<RunSummary> {
  const record = standing.unknown as StepRecord;
  if (!record.result) options.store.addResult(resultRow(record.call, unknownResult(options)));
  const { completed, denied, failed } = standing.counts;
  const totals = {
    total_steps: total,
    completed_steps: completed,
    denied_steps: denied,
    failed_steps: failed + 1,
  };
  options.store.addEvent(
    run.run_id,
    'interrupted',
    { unknown: record.call.call_id, duration_ms: standing.durationMs },
    { ...totals, status: 'interrupted' },
  );
  options.store.commit();
  await options.store.anchor(run.run_id, 'interrupted');
  options.onProgress?.({
    index: record.call.step_index,
    total,
    tool: record.call.tool_name,
    id: record.call.step_id,
    status: 'unknown',
    error: UNKNOWN,
  });
  return {
    run_id: run.run_id,
    status: 'interrupted',
    ...totals,
    duration_ms: standing.durationMs,
    waiting_for: null,
  };
}

const UNKNOWN = errorText(
  CODES.tool_failed,
  'the run was cut off while this step ran: it may or may not have happened',
  'look, then resume with --retry-unknown or --skip-unknown',
);

function unknownResult(options: RunOptions) {
  const now = options.clock.now().toISOString();
  const decision = decisionOf({ verdict: 'allow', rule: 'runner', reason: 'it was allowed and started' });
  return { status: 'unknown' as const, data: null, error: UNKNOWN, decision, startedAt: now, endedAt: now };
}

function refused(run: RunRow, why: string, suggestion: string): WritError {
  return new WritError(CODES.invalid_input, `run ${run.run_id} cannot be resumed: ${why}`, {
    suggestion,
    exit: EXIT.usage,
  });
}
