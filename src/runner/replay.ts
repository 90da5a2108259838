import {
  CODES,
  canonicalJson,
  type Ids,
  isJsonObject,
  type Json,
  type JsonObject,
  sha256,
  WritError,
} from '../core/index.ts';
import { redactJson } from '../redact/index.ts';
import { durationOf } from './document.ts';
import type { CallJudge } from './judge.ts';
import type { LoadedPlan, Plan } from './plan.ts';
import { checkReferences, fillReferences, type PlanReferences } from './references.ts';
import { callIdUnder } from './store/format-v1.ts';
import { type Replayed, StepsSum, type StoredStep, sameSteps } from './store/format-v2.ts';
import { json, type RunReader, type StepRecord } from './store/reader.ts';
import type { RunRow } from './store/rows.ts';
import type { RunStore } from './store/store.ts';

/**
 * Plays a run again from its record: a new run of mode `replay`, the same results byte for byte, and no
 * effect of any kind. No tool is ever reached from here.
 *
 * Y1 Every stored input and output must still have its hash, and every argument must still follow from the plan.
 * Y2 The first step that differs is named; nothing of a replay that diverged is kept.
 * Y3 The new run refers to the rows that were looked at, with a digest over every cell of them: later readers
 *    and the verifier hold the rows against it.
 */
export interface ReplayOptions {
  readonly store: RunStore;
  readonly reader: RunReader;
  readonly ids: Ids;
  /** A plan that should be the recorded one. */
  readonly plan?: LoadedPlan;
  /** A policy that should be the recorded one. */
  readonly judge?: CallJudge;
}

export async function replayRun(original: RunRow, options: ReplayOptions): Promise<string> {
  comparePlans(original, options.plan);
  const plan = json(original.plan_json) as unknown as Plan;
  if (sha256(original.plan_json) !== original.plan_hash)
    throw mismatch(original, 0, 'the stored plan has another hash');
  if (sha256(original.policy_json) !== original.policy_hash)
    throw mismatch(original, 0, 'the stored policy has another hash');
  const replayed = checkSteps(original, plan, options);
  comparePolicies(original, options.judge);
  return keepReplay(original, replayed, options);
}

/** Walks the record from its first step to its last; what is given back stands for all of them. */
function checkSteps(original: RunRow, plan: Plan, { reader, judge }: ReplayOptions): Replayed {
  const before = reader.replayed(original.run_id);
  const steps = new StepComparer(original, plan, judge);
  const sum = new StepsSum();
  let last = 0;
  for (const stored of reader.storedSteps(original.run_id)) {
    last = Number(stored.call[2]);
    sum.add(stored);
    steps.check(readStep(original, last, reader, stored));
  }
  const replayed = sum.total(before?.of ?? original.run_id);
  if (before && !sameSteps(before, replayed))
    throw mismatch(original, last, `the steps up to there are not those that ${original.run_id} replayed`);
  return replayed;
}

/** A long text that was changed or taken away is a difference like any other: of this step. */
function readStep(original: RunRow, index: number, reader: RunReader, stored: StoredStep): StepRecord {
  try {
    return reader.record(stored);
  } catch (error) {
    if (error instanceof WritError && error.code === CODES.integrity_broken)
      throw mismatch(original, index, error.message);
    throw error;
  }
}

/** The new run, which refers to the rows that were looked at; all of it in one transaction. */
async function keepReplay(original: RunRow, replayed: Replayed, options: ReplayOptions): Promise<string> {
  const { store, reader } = options;
  const runId = options.ids.next('run');
  store.beginRun({
    ...original,
    run_id: runId,
    mode: 'replay',
    replay_of: original.run_id,
    status: 'running',
    completed_at: null,
    completed_steps: 0,
    denied_steps: 0,
    failed_steps: 0,
  });
  store.addEvent(runId, 'replayed', { ...replayed });
  const { status, completed_at, completed_steps, denied_steps, failed_steps } = original;
  const totals = { status, completed_at, completed_steps, denied_steps, failed_steps };
  const parked = status === 'waiting' ? lastWaiting(reader, original, runId) : undefined;
  if (parked) store.addEvent(runId, 'waiting', parked, totals);
  else store.addEvent(runId, 'finished', { duration_ms: durationOf(reader, original.run_id) }, totals);
  store.commit();
  await store.anchor(runId, 'finished');
  return runId;
}

/** What the run waits for, with the id its call has in the replay. */
function lastWaiting(reader: RunReader, original: RunRow, runId: string): JsonObject | undefined {
  const detail = reader.events(original.run_id).findLast(({ event }) => event === 'waiting')?.detail;
  if (!isJsonObject(detail)) return undefined;
  return { ...detail, call_id: callIdUnder(runId, original.run_id, String(detail.call_id)) };
}

class StepComparer {
  readonly #original: RunRow;
  readonly #plan: Plan;
  readonly #references: PlanReferences;
  readonly #judge: CallJudge | undefined;
  readonly #used = new Map<string, number>();
  readonly #outputs = new Map<string, Json>();
  /** Steps whose value cannot be told from the record: secrets were taken out of it. */
  readonly #unknown = new Set<string>();
  /** Many steps give the same as the one before: its hash is made once. */
  #last: { readonly text: string; readonly hash: string } | undefined;

  constructor(original: RunRow, plan: Plan, judge: CallJudge | undefined) {
    this.#original = original;
    this.#plan = plan;
    // The very policy that was recorded decides as recorded: only another one judges again.
    this.#judge = judge && policyHash(judge) !== original.policy_hash ? judge : undefined;
    this.#references = checkReferences(plan, (_path, message) => mismatch(original, 0, message));
  }

  check({ call, result }: StepRecord): void {
    const step = this.#plan.steps[call.step_index];
    const differ = (what: string) => mismatch(this.#original, call.step_index, what);
    if (step === undefined || step.tool !== call.tool_name) throw differ('the plan has another tool there');
    if (result && sha256(call.args_json) !== result.input_hash) throw differ('its input has another hash');
    if (result && this.#outputHash(result.output_json) !== result.output_hash)
      throw differ('its output has another hash');
    const needs = this.#references.needs[call.step_index] ?? [];
    // A secret was taken out of the arguments, or out of what they came from: they cannot be derived again.
    const told = call.redactions === 0 && !needs.some((id) => this.#unknown.has(id));
    if (told && result?.status !== 'skipped') {
      const filled = fillReferences(step.args, this.#outputs);
      if (filled.ok && canonicalJson(filled.args) !== call.args_json)
        throw differ('its arguments do not follow from the plan');
    }
    this.#keep(call.step_index, step.id, result);
    if (this.#judge) this.#rejudge(this.#judge, call, result, differ);
  }

  #outputHash(text: string | null): string | null {
    if (text === null) return null;
    if (this.#last?.text !== text) this.#last = { text, hash: sha256(text) };
    return this.#last.hash;
  }

  #keep(index: number, id: string | undefined, result: StepRecord['result']): void {
    const { lastUse, needs } = this.#references;
    if (id !== undefined && lastUse.has(id)) {
      if (result?.status !== 'success' || result.redactions > 0) this.#unknown.add(id);
      else this.#outputs.set(id, json(result.output_json));
    }
    for (const needed of needs[index] ?? []) if (lastUse.get(needed) === index) this.#outputs.delete(needed);
  }

  /** Under the policy that was given: the first step that would be decided otherwise is the mismatch. */
  #rejudge(
    judge: CallJudge,
    call: StepRecord['call'],
    result: StepRecord['result'],
    differ: (what: string) => WritError,
  ): void {
    const used = this.#used.get(call.tool_name) ?? 0;
    const finding = judge.find(
      call.tool_name,
      json(call.args_json) as JsonObject,
      json(call.facts_json) as JsonObject,
      used,
    );
    if (finding.verdict !== 'deny') this.#used.set(call.tool_name, used + 1);
    const before = (json(result?.policy_decision_json ?? null) as { decision?: string } | null)?.decision;
    if (before !== undefined && (before === 'deny') !== (finding.verdict === 'deny'))
      throw differ(`the policy decides it otherwise (${finding.rule}: ${finding.reason})`);
  }
}

function comparePlans(original: RunRow, given: LoadedPlan | undefined): void {
  if (given === undefined) return;
  const plan = redactJson(given.plan as unknown as Json).value;
  if (sha256(canonicalJson(plan)) === original.plan_hash) return;
  const mine = (plan as unknown as Plan).steps;
  const theirs = (json(original.plan_json) as unknown as Plan).steps;
  const length = Math.max(mine.length, theirs.length);
  for (let i = 0; i < length; i++) {
    const [a, b] = [mine[i], theirs[i]];
    if (a === undefined || b === undefined || canonicalJson(a) !== canonicalJson(b))
      throw mismatch(original, i, 'the plan differs from the recorded one');
  }
  throw mismatch(original, 0, 'the plan differs from the recorded one outside its steps');
}

function comparePolicies(original: RunRow, judge: CallJudge | undefined): void {
  if (judge !== undefined && policyHash(judge) !== original.policy_hash)
    throw mismatch(
      original,
      0,
      'the policy differs from the recorded one, though it decides every step the same',
    );
}

function policyHash(judge: CallJudge): string {
  return sha256(canonicalJson(redactJson(judge.policy.json).value));
}

function mismatch(original: RunRow, index: number, what: string): WritError {
  return new WritError(
    CODES.replay_mismatch,
    `replay of ${original.run_id} differs at step ${index}: ${what}`,
    {
      suggestion: 'see what is stored: writ show-run, and check the store: writ audit verify',
      context: { run_id: original.run_id, step: index },
    },
  );
}
