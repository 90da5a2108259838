/**
 * The session file, version 1, as it stands on disk. Frozen: imports no live types, so that a change elsewhere
 * cannot silently change what is persisted.
 *
 * S1 Only references: audit ids, task ids, digests. Never command output, records or model text.
 */
export const HYPOTHESIS_STATES = [
  'ACTIVE',
  'DENIED_ONCE',
  'DENIED_TWICE',
  'CONTRADICTED',
  'CONFIRMED',
  'REFUTED',
  'UNVERIFIABLE',
] as const;
export type HypothesisState = (typeof HYPOTHESIS_STATES)[number];

export interface DenialEvent {
  readonly turn: number;
  readonly command: string;
  readonly denial_reason: string;
  readonly audit_id: string | null;
}

export interface Hypothesis {
  readonly id: string;
  readonly description: string;
  readonly state: HypothesisState;
  readonly denial_count: number;
  readonly created_at: string;
  readonly resolved_at: string | null;
  readonly resolving_audit_id: string | null;
  readonly denial_events: readonly DenialEvent[];
}

export interface EvidenceConflict {
  readonly hypothesis_id: string;
  readonly conflicting_audit_ids: readonly string[];
  readonly higher_fidelity_source: string;
  readonly resolution: string;
  readonly description: string;
}

export interface SessionV1 {
  readonly session_id: string;
  readonly created_at: string;
  readonly resumed_from: string | null;
  readonly model: string;
  readonly audit_dir: string;
  readonly turn_count: number;
  readonly rca_report_path: string | null;
  readonly hypothesis_log: readonly Hypothesis[];
  readonly denial_tracker: Readonly<Record<string, number>>;
  readonly consecutive_denial_counter: Readonly<Record<string, number>>;
  readonly active_hypothesis_ids: readonly string[];
  readonly active_task_ids: readonly string[];
  readonly evidence_conflicts: readonly EvidenceConflict[];
  readonly is_resume: boolean;
  /** Beyond the seed: what was asked, and by which brain. */
  readonly symptom: string;
  readonly brain: string;
  /** SHA-256 of each output as the brain saw it, by audit id: what citations are checked against. */
  readonly evidence_index: Readonly<Record<string, string>>;
  /** Tasks whose cleanup a person has to finish by hand. */
  readonly manual_cleanup_pending: readonly string[];
  /** Warnings about the session's own files; they appear in the report. */
  readonly integrity_warnings: readonly string[];
  /** Arguments of complete_investigation, redacted, so that a report can be made again. */
  readonly conclusion: unknown;
  readonly ended_at: string | null;
}

export function newSession(facts: {
  readonly sessionId: string;
  readonly createdAt: string;
  readonly brain: string;
  readonly model: string;
  readonly auditDir: string;
}): SessionV1 {
  return {
    session_id: facts.sessionId,
    created_at: facts.createdAt,
    resumed_from: null,
    model: facts.model,
    audit_dir: facts.auditDir,
    turn_count: 0,
    rca_report_path: null,
    hypothesis_log: [],
    denial_tracker: {},
    consecutive_denial_counter: {},
    active_hypothesis_ids: [],
    active_task_ids: [],
    evidence_conflicts: [],
    is_resume: false,
    symptom: '',
    brain: facts.brain,
    evidence_index: {},
    manual_cleanup_pending: [],
    integrity_warnings: [],
    conclusion: null,
    ended_at: null,
  };
}
