import { CODES, type Json, type JsonObject } from '../core/index.ts';
import { redactJson } from '../redact/index.ts';
import type { LoadedPlan, PlanStep } from './plan.ts';
import {
  type Call,
  callRow,
  decisionOf,
  errorText,
  type Happened,
  type RecordedDecision,
  resultRow,
} from './record.ts';
import { fillReferences } from './references.ts';
import type { Progress, RunOptions, RunSummary, Standing } from './run.ts';
import { perform, permit, type StepRoad } from './step.ts';
import { callIdOf } from './store/format-v1.ts';
import type { CallRow, ResultStatus, RunStatus } from './store/rows.ts';

/** Steps in one transaction when flushes are shared. */
const GROUP = 100;

/** The run waits for a person. */
export interface Waiting {
  readonly status: 'waiting';
  readonly approvalId: string;
  readonly callId: string;
  readonly decision: RecordedDecision;
}
export type Ending = { readonly status: 'completed' | 'interrupted' } | Waiting;
export type StepEnd = { readonly status: ResultStatus; readonly final: boolean } | Waiting;

/** The steps of one run, in order, with what they share. */
export class RunningPlan {
  readonly #loaded: LoadedPlan;
  readonly #options: RunOptions & StepRoad;
  readonly #standing: Standing;
  readonly #total: number;
  readonly #outside: AbortSignal | undefined;

  constructor(
    loaded: LoadedPlan,
    options: RunOptions & StepRoad,
    standing: Standing,
    total: number,
    outside: AbortSignal | undefined,
  ) {
    this.#outside = outside;
    this.#loaded = loaded;
    this.#options = options;
    this.#standing = standing;
    this.#total = total;
  }

  async step(index: number, leftMs: number): Promise<StepEnd> {
    const { store, clock } = this.#options;
    const { approval, next, tries } = this.#standing;
    const step = this.#loaded.plan.steps[index] as PlanStep;
    const resumed = index === next ? approval : undefined;
    const base = {
      callId: callIdOf(this.#standing.runId, index, index === next ? tries : 0),
      runId: this.#standing.runId,
      index,
      tool: step.tool,
      stepId: step.id ?? null,
    };
    this.#progress(index, step, 'started', null);
    const obstacle = leftMs <= 0 ? OUT_OF_TIME : this.#missing(index);
    const filled = obstacle === undefined ? fillReferences(step.args, this.#standing.outputs) : undefined;
    if (obstacle !== undefined || filled?.ok !== true) {
      const { status, error } = obstacle ?? {
        status: 'error' as const,
        error: errorText(CODES.tool_arguments, filled?.ok === false ? filled.reason : 'no arguments'),
      };
      return this.#settle(
        { ...base, args: step.args, facts: {} },
        step,
        undefined,
        this.#notRun(status, error),
        null,
        obstacle === OUT_OF_TIME,
      );
    }
    // A tool of somebody else may take a while to look: what has happened is put on disk first.
    const known = this.#options.judge.registry.get(step.tool);
    if (known?.effect === 'external' && !BUILT_IN.has(step.tool)) store.commit();
    const { facts, tool } = await this.#options.judge.prepare(step.tool, filled.args);
    const call: Call = { ...base, args: filled.args, facts };
    const used = this.#standing.used.get(step.tool) ?? 0;
    // A person may be asked, or a request stored in the same file: nothing may be left open then.
    const finding = this.#options.judge.find(step.tool, filled.args, facts, used);
    if (finding.verdict === 'require_approval' || resumed) store.commit();
    const permission = await permit(this.#options, call, tool, used, resumed?.approvalId);
    if (permission.kind === 'denied')
      return this.#settle(call, step, resumed?.call, permission.happened, null, false);
    const row =
      resumed?.call ??
      callRow(call, clock.now().toISOString(), permission.kind === 'waiting' ? permission.approvalId : null);
    if (permission.kind === 'waiting') {
      if (!resumed) store.addCall(row);
      this.#progress(index, step, 'waiting', null);
      return {
        status: 'waiting',
        approvalId: permission.approvalId,
        callId: row.call_id,
        decision: permission.decision,
      };
    }
    this.#standing.used.set(step.tool, used + 1);
    if (resumed) store.addEvent(base.runId, 'intent', { call_id: row.call_id });
    else store.addCall(row);
    if (
      this.#options.durability === 'step' ||
      permission.tool.effect === 'external' ||
      store.pending >= GROUP * 2
    )
      store.commit();
    const timeoutMs = Math.max(
      1,
      Math.min(leftMs, (step.timeout_seconds ?? Number.POSITIVE_INFINITY) * 1000),
    );
    const performed = await perform(this.#options, call, permission, timeoutMs);
    // Stopped from outside while it ran: how far it came is not known.
    const cut = this.#outside?.aborted === true && performed.status === 'error';
    const happened = cut ? { ...performed, status: 'unknown' as const, error: CUT } : performed;
    return this.#settle(call, step, row, happened, happened.raw, false);
  }

  /** Records how a step ended and keeps its value if a later step needs it. */
  #settle(
    call: Call,
    step: PlanStep,
    row: CallRow | undefined,
    happened: Happened,
    raw: JsonObject | null,
    final: boolean,
  ): StepEnd {
    const { store, clock } = this.#options;
    const { outputs, counts, lost } = this.#standing;
    const known = row ?? callRow(call, clock.now().toISOString(), null);
    if (row === undefined) store.addCall(known);
    store.addResult(resultRow(known, happened));
    if (happened.status === 'success') counts.completed++;
    else if (happened.status === 'denied') counts.denied++;
    else if (happened.status !== 'skipped') counts.failed++;
    const { lastUse, needs } = this.#loaded.references;
    if (step.id !== undefined && lastUse.has(step.id)) {
      if (raw !== null) outputs.set(step.id, raw);
      else lost.set(step.id, happened.status);
    }
    for (const id of needs[call.index] ?? []) if (lastUse.get(id) === call.index) outputs.delete(id);
    this.#progress(call.index, step, happened.status, happened.error);
    return { status: happened.status, final };
  }

  /** A step that needs what an unsuccessful step should have given is skipped. */
  #missing(index: number): { readonly status: 'skipped'; readonly error: string } | undefined {
    for (const id of this.#loaded.references.needs[index] ?? []) {
      const why = this.#standing.lost.get(id);
      if (why !== undefined)
        return {
          status: 'skipped',
          error: errorText(CODES.tool_arguments, `it needs the step "${id}", which gave nothing (${why})`),
        };
    }
    return undefined;
  }

  #notRun(status: ResultStatus, error: string): Happened {
    const now = this.#options.clock.now().toISOString();
    const decision = decisionOf({ verdict: 'deny', rule: 'runner', reason: 'the step was not started' });
    return { status, data: null, error, decision, startedAt: now, endedAt: now };
  }

  #progress(index: number, step: PlanStep, status: Progress['status'], error: string | null): void {
    this.#options.onProgress?.({
      index,
      total: this.#total,
      tool: step.tool,
      id: step.id ?? null,
      status,
      error,
    });
  }

  async finish(ending: Ending, durationMs: number): Promise<RunSummary> {
    const { store, clock } = this.#options;
    const { runId, counts } = this.#standing;
    const status: RunStatus =
      ending.status !== 'completed'
        ? ending.status
        : counts.completed === this.#total
          ? 'completed'
          : 'failed';
    const event = status === 'waiting' || status === 'interrupted' ? status : 'finished';
    const totals = {
      total_steps: this.#total,
      completed_steps: counts.completed,
      denied_steps: counts.denied,
      failed_steps: counts.failed,
    };
    const ended = event === 'finished' ? clock.now().toISOString() : null;
    const detail = detailOf(ending, Math.round(durationMs) + this.#standing.durationMs);
    store.addEvent(runId, event, detail, { ...totals, status, completed_at: ended });
    store.commit();
    await store.anchor(runId, event);
    return {
      run_id: runId,
      status,
      ...totals,
      duration_ms: Math.round(durationMs) + this.#standing.durationMs,
      waiting_for: ending.status === 'waiting' ? ending.approvalId : null,
    };
  }
}

/** What the record says beside the run's row: how long it took so far, and what it waits for. */
function detailOf(ending: Ending, durationMs: number): Json {
  if (ending.status !== 'waiting') return { duration_ms: durationMs };
  const decision = redactJson(ending.decision as unknown as Json).value;
  return { duration_ms: durationMs, approval_id: ending.approvalId, call_id: ending.callId, decision };
}

const BUILT_IN = new Set(['fs.read', 'fs.write', 'http.get', 'shell.run']);
const CUT = errorText(
  CODES.tool_failed,
  'the run was stopped while this step ran: it may or may not have happened',
  'look, then resume with --retry-unknown or --skip-unknown',
);
const OUT_OF_TIME = {
  status: 'error',
  error: errorText(
    CODES.tool_timeout,
    'the time of the whole run is over',
    'raise global_timeout_seconds in the policy',
  ),
} as const;
