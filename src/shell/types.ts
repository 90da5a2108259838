import type { Redacted } from '../core/index.ts';

export type ShellClass = 'SAFE' | 'RISKY' | 'FORBIDDEN';

export interface Classification {
  readonly classification: ShellClass;
  /** 0 forbidden · 1 allow list · 2 Azure verbs · 3 dangerous patterns or unproven. */
  readonly tier: 0 | 1 | 2 | 3;
  readonly rule: string;
  /** A sentence for the person who is asked. */
  readonly reason: string;
  /** Part of the command that decided, as [start, end) offsets in the text. */
  readonly span: readonly [number, number];
  /**
   * What would be executed, stage by stage of a pipeline, quotes and escapes resolved, wrappers kept.
   * Null when it cannot be executed without a shell (chains, substitutions, redirections …).
   */
  readonly pipeline: readonly (readonly string[])[] | null;
}

export interface ShellRequest {
  readonly command: string;
  readonly reasoning: string;
}

export type ShellAction =
  | 'auto_approved'
  | 'user_approved'
  | 'user_denied'
  | 'user_modified'
  | 'user_abandoned';
export type ShellError =
  | 'forbidden_command'
  | 'timeout'
  | 'redaction_failure'
  | 'empty_command'
  | 'audit_failure'
  | 'not_executable'
  /** Stopped from outside (Ctrl-C, the session ends) before it was done. */
  | 'interrupted';

export interface ShellResponse {
  readonly status: 'completed' | 'denied' | 'error';
  readonly classification: ShellClass | null;
  readonly action: ShellAction | null;
  readonly output: Redacted;
  readonly stderr: Redacted;
  readonly exit_code: number | null;
  readonly error: ShellError | null;
  readonly duration_seconds: number | null;
  readonly output_metadata: OutputMetadata;
  readonly audit_id: string | null;
  /** The person's one line after a denial, redacted. */
  readonly denial_reason: Redacted | null;
}

export interface OutputMetadata {
  readonly truncation_applied: boolean;
  readonly total_lines: number;
  readonly lines_shown: number;
  readonly total_bytes: number;
  readonly output_type: 'empty' | 'json_array' | 'json_object' | 'table' | 'log' | 'text' | 'binary';
  readonly items_total: number | null;
  readonly items_shown: number | null;
  readonly redactions_applied: boolean;
  readonly redaction_count: number;
  readonly redaction_categories: readonly string[];
  readonly anonymization_applied?: boolean;
  readonly anonymization_mappings_count?: number;
}

/** What other rooms hold: one door, one call. */
export interface Shell {
  readonly sessionId: string;
  execute(request: ShellRequest): Promise<ShellResponse>;
}
