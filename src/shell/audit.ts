import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, sha256 } from '../core/index.ts';
import {
  intent,
  isJournalEvent,
  type Journal,
  type JournalEntry,
  type JournalRecord,
  openIntents,
  outcome,
  readRecords,
} from '../ledger/index.ts';
import { storable } from './storable.ts';
import type { Classification, ShellResponse } from './types.ts';

/**
 * The record of one shell session.
 *
 * A1 One line a command in `shell_audit_{session}.jsonl`, forbidden and denied ones included.
 * A2 Before a process starts its intent is durable in `shell_intents_{session}.jsonl`. It is settled after
 *    the command's record is durable, so a crash in between leaves either an intent without a record, which
 *    the next start records as `unknown_outcome` under the same audit id, or an intent with its record,
 *    which the next start settles.
 * A3 Nothing unredacted is stored, the command and the reasoning included.
 */
export interface ShellAudit {
  /** Commands of an earlier process whose end nobody saw, by audit id. */
  readonly interrupted: readonly string[];
  /** The id of the command that is about to be handled. */
  nextId(): string;
  /** Resolves when the intent is durable: only then may a process start. */
  intend(entry: Intended): Promise<string>;
  record(entry: AuditEntry): Promise<void>;
  /** Written a little later: A2 says why that is enough. */
  settle(intentId: string, how: 'done' | 'failed'): void;
  close(): Promise<void>;
}

export interface Commanded {
  readonly auditId: string;
  readonly command: string;
  readonly reasoning: string;
  readonly classification: Classification;
  readonly modifiedCommand: string | null;
  readonly environment: 'local' | 'azure';
}

export interface Intended extends Commanded {
  readonly digest: string;
}

export interface AuditEntry extends Commanded {
  readonly response: Omit<ShellResponse, 'audit_id'>;
  readonly userDecision: string | null;
}

/** How journals are opened: with the project's key and catalogue, or bare in tests. */
export type OpenShellJournal = (path: string) => Promise<Journal>;

const SUMMARY = 200;
const REST_MS = 100;

export async function openShellAudit(options: {
  readonly sessionId: string;
  readonly auditDir: string;
  readonly clock: Clock;
  readonly open: OpenShellJournal;
}): Promise<ShellAudit> {
  const { sessionId, auditDir } = options;
  const auditPath = join(auditDir, `shell_audit_${sessionId}.jsonl`);
  const intentPath = join(auditDir, `shell_intents_${sessionId}.jsonl`);
  // The locks are taken first: what is read afterwards has no other writer.
  const journal = await options.open(auditPath);
  let intents: Journal;
  try {
    intents = await options.open(intentPath);
  } catch (error) {
    await journal.close();
    throw error;
  }
  try {
    const left = existsSync(intentPath) ? await openIntents(readRecords(intentPath)) : [];
    const past = await history(auditPath, new Set(left.map(({ record }) => String(record.audit_id))));
    const interrupted: string[] = [];
    for (const { intentId, record } of left) {
      const auditId = String(record.audit_id);
      if (!past.recorded.has(auditId)) {
        await journal.append(unknownRecord(sessionId, auditId, record));
        interrupted.push(auditId);
      }
      await outcome(intents, intentId, { outcome: past.recorded.has(auditId) ? 'done' : 'unknown' });
    }
    const last = Math.max(past.last, ...left.map(({ record }) => numberOf(String(record.audit_id))));
    return liveAudit(sessionId, journal, intents, last, interrupted);
  } catch (error) {
    await Promise.allSettled([intents.close(), journal.close()]);
    throw error;
  }
}

function liveAudit(
  sessionId: string,
  journal: Journal,
  intents: Journal,
  last: number,
  interrupted: readonly string[],
): ShellAudit {
  let number = last;
  // Outcomes wait for the next intent, to share its flush, or for a moment of rest.
  let waiting: { readonly intentId: string; readonly how: 'done' | 'failed' }[] = [];
  let rest: NodeJS.Timeout | undefined;
  let settled: Promise<unknown> = Promise.resolve();
  const flush = () => {
    clearTimeout(rest);
    const now = waiting.map(({ intentId, how }) => outcome(intents, intentId, { outcome: how }));
    waiting = [];
    settled = Promise.allSettled([settled, ...now]);
  };
  return {
    interrupted,
    nextId: () => `${sessionId}_${String(++number).padStart(3, '0')}`,
    intend: (entry) => {
      flush();
      return intent(intents, { ...told(sessionId, entry), action_digest: entry.digest });
    },
    record: async (entry) => void (await journal.append(recordOf(sessionId, entry))),
    settle: (intentId, how) => {
      waiting.push({ intentId, how });
      clearTimeout(rest);
      rest = setTimeout(flush, REST_MS).unref();
    },
    close: async () => {
      flush();
      await settled;
      const closed = await Promise.allSettled([intents.close(), journal.close()]);
      for (const result of closed) if (result.status === 'rejected') throw result.reason;
    },
  };
}

/** The highest number used, and which of the ids in question have a record. */
async function history(auditPath: string, wanted: ReadonlySet<string>) {
  let last = 0;
  const recorded = new Set<string>();
  if (existsSync(auditPath))
    for await (const record of readRecords(auditPath)) {
      if (isJournalEvent(record) || typeof record.audit_id !== 'string') continue;
      last = Math.max(last, numberOf(record.audit_id));
      if (wanted.has(record.audit_id)) recorded.add(record.audit_id);
    }
  return { last, recorded };
}

function numberOf(auditId: string): number {
  return Number(/_(\d{1,12})$/.exec(auditId)?.[1] ?? 0);
}

/** What is known of a command before it runs. */
function told(sessionId: string, entry: Commanded) {
  const { classification } = entry;
  return {
    session_id: sessionId,
    audit_id: entry.auditId,
    command: storable(entry.command),
    reasoning: storable(entry.reasoning),
    classification: classification.classification,
    tier_triggered: classification.tier,
    rule: classification.rule,
    modified_command: entry.modifiedCommand === null ? null : storable(entry.modifiedCommand),
    environment: entry.environment,
  };
}

function recordOf(sessionId: string, entry: AuditEntry): JournalEntry {
  const { response } = entry;
  const { output_metadata: metadata } = response;
  const ran = response.exit_code !== null || response.error === 'timeout' || response.error === 'interrupted';
  return {
    ...told(sessionId, entry),
    status: response.status,
    error: response.error,
    action: response.action,
    user_decision: entry.userDecision,
    denial_reason: response.denial_reason === null ? null : storable(response.denial_reason),
    exit_code: response.exit_code,
    output_summary: response.output.slice(0, SUMMARY).toWellFormed(),
    output_sha256: ran ? sha256(response.output) : null,
    output_truncated: metadata.truncation_applied,
    redactions_applied: metadata.redactions_applied,
    redaction_categories: metadata.redaction_categories,
    anonymization_applied: metadata.anonymization_applied ?? false,
    duration_seconds: response.duration_seconds,
  };
}

/** A command that was started and whose end nobody saw: said as such, never guessed. */
function unknownRecord(sessionId: string, auditId: string, record: JournalRecord): JournalEntry {
  return {
    session_id: sessionId,
    audit_id: auditId,
    command: record.command ?? '',
    reasoning: record.reasoning ?? '',
    classification: record.classification ?? 'RISKY',
    tier_triggered: record.tier_triggered ?? 3,
    rule: record.rule ?? 'interrupted',
    modified_command: record.modified_command ?? null,
    environment: record.environment ?? 'local',
    status: 'error',
    error: 'unknown_outcome',
    action: null,
    user_decision: null,
    denial_reason: null,
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
