import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, sha256 } from '../core/index.ts';
import {
  intent,
  type Journal,
  type JournalEntry,
  openIntents,
  outcome,
  readRecords,
} from '../ledger/index.ts';
import { redact } from '../redact/index.ts';
import { readShellAudit, type ShellAuditRecord } from './read.ts';
import type { Classification, ShellResponse } from './types.ts';

/**
 * The record of one shell session.
 *
 * A1 One line a command in `shell_audit_{session}.jsonl`, forbidden and denied ones included.
 * A2 Before a process starts its intent is durable in `shell_intents_{session}.jsonl`; a crash in between
 *    leaves an open intent, which the next start records as `unknown_outcome`.
 * A3 Nothing unredacted is stored, the command and the reasoning included.
 */
export interface ShellAudit {
  /** The id of the command that is about to be handled. */
  nextId(): string;
  intend(entry: {
    readonly auditId: string;
    readonly command: string;
    readonly digest: string;
  }): Promise<string>;
  settle(intentId: string, how: 'done' | 'failed'): Promise<void>;
  record(entry: AuditEntry): Promise<void>;
  close(): Promise<void>;
}

export interface AuditEntry {
  readonly command: string;
  readonly reasoning: string;
  readonly classification: Classification;
  readonly response: Omit<ShellResponse, 'audit_id'>;
  readonly auditId: string;
  readonly userDecision: string | null;
  readonly modifiedCommand: string | null;
  readonly environment: 'local' | 'azure';
}

/** How journals are opened: with the project's key and catalogue, or bare in tests. */
export type OpenShellJournal = (path: string) => Promise<Journal>;

const SUMMARY = 200;

export async function openShellAudit(options: {
  readonly sessionId: string;
  readonly auditDir: string;
  readonly clock: Clock;
  readonly open: OpenShellJournal;
}): Promise<ShellAudit> {
  const { sessionId, auditDir } = options;
  const auditPath = join(auditDir, `shell_audit_${sessionId}.jsonl`);
  const intentPath = join(auditDir, `shell_intents_${sessionId}.jsonl`);
  const left = existsSync(intentPath) ? await openIntents(readRecords(intentPath)) : [];
  const journal = await options.open(auditPath);
  const intents = await options.open(intentPath);
  let number = existsSync(auditPath) ? lastNumber((await readShellAudit(auditPath)).records) : 0;

  const audit: ShellAudit = {
    nextId: () => `${sessionId}_${String(++number).padStart(3, '0')}`,
    intend: ({ auditId, command, digest }) =>
      intent(intents, {
        session_id: sessionId,
        audit_id: auditId,
        command: redact(command).text,
        action_digest: digest,
      }),
    settle: (intentId, how) => outcome(intents, intentId, { outcome: how }),
    record: async (entry) => void (await journal.append(recordOf(sessionId, entry))),
    close: async () => {
      await intents.close();
      await journal.close();
    },
  };
  for (const { intentId, record } of left) {
    await journal.append(
      unknownRecord(sessionId, audit.nextId(), String(record.command), String(record.audit_id)),
    );
    await outcome(intents, intentId, { outcome: 'unknown' });
  }
  return audit;
}

function lastNumber(records: readonly ShellAuditRecord[]): number {
  return records.reduce((last, r) => Math.max(last, Number(/_(\d+)$/.exec(r.audit_id)?.[1] ?? 0)), 0);
}

function recordOf(sessionId: string, entry: AuditEntry): JournalEntry {
  const { response, classification } = entry;
  const ran = response.exit_code !== null || response.error === 'timeout';
  return {
    session_id: sessionId,
    audit_id: entry.auditId,
    command: redact(entry.command).text,
    reasoning: redact(entry.reasoning).text,
    status: response.status,
    classification: classification.classification,
    tier_triggered: classification.tier,
    rule: classification.rule,
    error: response.error,
    action: response.action,
    user_decision: entry.userDecision,
    denial_reason: response.denial_reason,
    modified_command: entry.modifiedCommand === null ? null : redact(entry.modifiedCommand).text,
    environment: entry.environment,
    exit_code: response.exit_code,
    output_summary: response.output.slice(0, SUMMARY).toWellFormed(),
    output_sha256: ran ? sha256(response.output) : null,
    output_truncated: response.output_metadata.truncation_applied,
    redactions_applied: response.output_metadata.redactions_applied,
    redaction_categories: response.output_metadata.redaction_categories,
    anonymization_applied: response.output_metadata.anonymization_applied ?? false,
    duration_seconds: response.duration_seconds,
  };
}

/** A command that was started and whose end nobody saw: said as such, never guessed. */
function unknownRecord(
  sessionId: string,
  auditId: string,
  command: string,
  interrupted: string,
): JournalEntry {
  return {
    session_id: sessionId,
    audit_id: auditId,
    command,
    reasoning: `Recorded at the next start: ${interrupted} was interrupted, its outcome is unknown.`,
    status: 'error',
    classification: 'RISKY',
    tier_triggered: 3,
    rule: 'interrupted',
    error: 'unknown_outcome',
    action: null,
    user_decision: null,
    denial_reason: null,
    modified_command: null,
    environment: command.startsWith('az ') ? 'azure' : 'local',
    exit_code: null,
    output_summary: '',
    output_sha256: null,
    output_truncated: false,
    redactions_applied: false,
    redaction_categories: [],
    anonymization_applied: false,
    duration_seconds: null,
  };
}
