import { isJournalEvent, readJournal } from '../ledger/index.ts';
import type { ShellAction, ShellClass } from './types.ts';

/** One line of `shell_audit_{session}.jsonl`, for rooms that read the trail and never write it. */
export interface ShellAuditRecord {
  readonly timestamp: string;
  readonly session_id: string;
  readonly sequence: number;
  readonly audit_id: string;
  readonly command: string;
  readonly reasoning: string;
  readonly status: 'completed' | 'denied' | 'error';
  readonly classification: ShellClass;
  readonly tier_triggered: number;
  readonly rule: string;
  readonly error: string | null;
  readonly action: ShellAction | null;
  readonly user_decision: string | null;
  readonly denial_reason: string | null;
  readonly modified_command: string | null;
  readonly environment: 'local' | 'azure';
  readonly exit_code: number | null;
  readonly output_summary: string;
  readonly output_sha256: string | null;
  readonly output_truncated: boolean;
  readonly redactions_applied: boolean;
  readonly redaction_categories: readonly string[];
  readonly anonymization_applied: boolean;
  readonly duration_seconds: number | null;
}

/** Every readable record in order; what is wrong with the file is said beside, never guessed over. */
export async function readShellAudit(
  path: string,
): Promise<{ readonly records: readonly ShellAuditRecord[]; readonly problems: readonly string[] }> {
  const records: ShellAuditRecord[] = [];
  const problems: string[] = [];
  for await (const item of readJournal(path)) {
    if (item.kind === 'problem') problems.push(`${item.file}:${item.line}: ${item.what}`);
    const record = item.record;
    if (record === undefined || isJournalEvent(record)) continue;
    if (typeof record.audit_id === 'string' && typeof record.command === 'string') {
      records.push(record as unknown as ShellAuditRecord);
    } else problems.push(`${item.file}:${item.line}: not a shell record`);
  }
  return { records, problems };
}
