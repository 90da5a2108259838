import { type Evaluation, isJsonObject, type JsonObject, type Verdict } from '../core/index.ts';
import type { Receipt } from './protocol.ts';
import { isEnd, isState, mayFollow, type State } from './states.ts';
import type { PlanToken, TokenParts } from './token.ts';
import type { WalEntry } from './wal.ts';

/** A flight as its WAL tells it. Rebuilt by replay, never stored as a source. */
export interface StepRecord {
  readonly id: string;
  readonly state: State;
  readonly decision?: Verdict;
  readonly method?: string;
  readonly evaluations?: readonly Evaluation[];
  readonly parts?: TokenParts;
  readonly token?: PlanToken;
  readonly receipt?: Receipt;
  readonly approval_id?: string;
  readonly approver?: string;
  /** A take-off was announced and nobody knows how it ended. */
  readonly unknown?: boolean;
  readonly runs?: number;
}

export interface FlightRecord {
  readonly flightId: string;
  readonly workflowId: string;
  readonly workflowFile: string;
  readonly workflowText: string;
  readonly requester: string;
  /** `.writignore` as it was at the start. */
  readonly ignore?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly state: State;
  readonly steps: readonly StepRecord[];
  readonly error: FlightError | null;
}

export interface FlightError {
  readonly code: number;
  readonly message: string;
  readonly exit: number;
}

/** What an entry changes: carried in its `detail`. */
export interface Change {
  readonly step?: string;
  readonly state?: State;
  readonly patch?: JsonObject;
  readonly error?: FlightError;
}

/** The record, or why the entries do not make one. */
export function replay(entries: readonly WalEntry[]): FlightRecord | string {
  const first = entries[0];
  if (first?.entry_type !== 'workflow_started') return 'the log does not begin with workflow_started';
  const { flight_id, workflow_file, workflow_text, requester, ignore, steps } = first.detail;
  if (!Array.isArray(steps)) return 'the first entry names no steps';
  let record: FlightRecord = {
    flightId: String(flight_id),
    workflowId: first.workflow_id,
    workflowFile: String(workflow_file),
    workflowText: String(workflow_text),
    requester: String(requester),
    ...(typeof ignore === 'string' ? { ignore } : {}),
    createdAt: first.timestamp,
    updatedAt: first.timestamp,
    state: 'INIT',
    steps: steps.map((id) => ({ id: String(id), state: 'INIT' as const })),
    error: null,
  };
  for (const entry of entries.slice(1)) {
    const next = apply(record, entry);
    if (typeof next === 'string') return `entry ${entry.sequence}: ${next}`;
    record = next;
  }
  return record;
}

export function apply(record: FlightRecord, entry: WalEntry): FlightRecord | string {
  if (isEnd(record.state)) return `the flight had ended (${record.state})`;
  const { step, state, patch, error } = entry.detail as unknown as Change;
  let { steps } = record;
  let flightState: State = record.state;
  if (step !== undefined) {
    const index = steps.findIndex((s) => s.id === step);
    const before = steps[index];
    if (before === undefined) return `there is no step ${String(step)}`;
    if (state !== undefined && (!isState(state) || !mayFollow(before.state, state)))
      return `step ${step} cannot go from ${before.state} to ${String(state)}`;
    const after = {
      ...before,
      ...(isJsonObject(patch) ? patch : {}),
      state: state ?? before.state,
    } as StepRecord;
    steps = steps.map((s, i) => (i === index ? after : s));
    flightState = after.state === 'COMPLETED' ? 'INIT' : after.state;
  }
  if (entry.entry_type === 'workflow_completed') flightState = 'COMPLETED';
  if (entry.entry_type === 'workflow_failed') flightState = 'FAILED';
  return { ...record, steps, state: flightState, updatedAt: entry.timestamp, error: error ?? record.error };
}

/** The published WorkflowStateRecord. */
export function stateRecord(record: FlightRecord, entries: readonly WalEntry[]): JsonObject {
  const current = currentStep(record);
  const done = record.steps.filter((s) => s.state === 'COMPLETED');
  const of = (type: WalEntry['entry_type']) => entries.filter((e) => e.entry_type === type);
  return {
    workflow_id: record.workflowId,
    current_state: record.state,
    plan_token_hash: current?.token?.token ?? done.at(-1)?.token?.token ?? '',
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    steps_completed: done.map((s) => s.id),
    steps_pending: record.steps.filter((s) => s.state !== 'COMPLETED').map((s) => s.id),
    approvals: of('approval_received').map((e) => ({
      approval_id: e.data.approval_id ?? '',
      step_id: e.detail.step ?? '',
      plan_token_hash: e.detail.plan_token_hash ?? '',
      approved: e.data.approved ?? false,
      approver: e.data.approver ?? '',
      approved_at: e.timestamp,
    })),
    artifacts: of('artifact_created').map((e) => ({
      artifact_id: e.data.artifact_id ?? '',
      step_id: e.detail.step ?? '',
      artifact_hash: e.data.artifact_hash ?? '',
      artifact_type: e.data.artifact_type ?? '',
      created_at: e.timestamp,
    })),
    policy_evaluations: of('policy_evaluated').map((e) => ({
      evaluation_id: e.data.evaluation_id ?? '',
      step_id: e.detail.step ?? '',
      policy_name: e.data.policy_name ?? '',
      decision: e.data.decision ?? 'deny',
      evaluated_at: e.timestamp,
    })),
    metadata: { flight_id: record.flightId, requester: record.requester },
  };
}

export function currentStep(record: FlightRecord): StepRecord | undefined {
  return record.steps.find((s) => s.state !== 'COMPLETED');
}
