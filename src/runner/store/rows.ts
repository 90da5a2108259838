import type { Digest, Json } from '../../core/index.ts';

/** Statuses of a run. `waiting` and `interrupted` runs can be resumed. */
export type RunStatus = 'running' | 'waiting' | 'interrupted' | 'completed' | 'failed';
export type RunMode = 'run' | 'replay';

/** Outcomes that are recorded. `unknown`: the intent is on record, what became of it is not. */
export const RESULT_STATUSES = ['success', 'denied', 'error', 'skipped', 'unknown'] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

/** A row of `runs`, with long texts in place of references. */
export interface RunRow {
  readonly run_id: string;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly plan_hash: string;
  readonly policy_hash: string;
  readonly plan_json: string;
  readonly policy_json: string;
  readonly mode: RunMode;
  readonly status: RunStatus;
  readonly total_steps: number;
  readonly completed_steps: number;
  readonly denied_steps: number;
  readonly failed_steps: number;
  readonly replay_of: string | null;
  readonly working_dir: string;
  readonly plan_file: string | null;
  readonly policy_file: string | null;
  /** Secrets taken out of the plan and the policy before they were stored. */
  readonly redactions: number;
}

export interface CallRow {
  readonly call_id: string;
  readonly run_id: string;
  readonly step_index: number;
  readonly tool_name: string;
  readonly args_json: string;
  readonly created_at: string;
  readonly step_id: string | null;
  readonly facts_json: string;
  readonly approval_id: string | null;
  readonly redactions: number;
}

export interface ResultRow {
  readonly call_id: string;
  readonly run_id: string;
  readonly status: ResultStatus;
  readonly output_json: string | null;
  readonly error: string | null;
  readonly policy_decision_json: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly input_hash: Digest | string;
  readonly output_hash: Digest | string | null;
  readonly redactions: number;
}

export type RunEvent = 'started' | 'replayed' | 'waiting' | 'resumed' | 'intent' | 'interrupted' | 'finished';

export interface EventRow {
  readonly run_id: string;
  readonly event: RunEvent;
  readonly at: string;
  readonly detail: Json;
}
