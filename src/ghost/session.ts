import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { digestOf, isJsonObject, parseJson } from '../core/index.ts';
import { HYPOTHESIS_STATES, type HypothesisState, type SessionV1 } from './session-v1.ts';

/** The session file: an index for resuming, replaced whole and atomically at every turn. */
export function sessionPath(auditDir: string, sessionId: string): string {
  return join(auditDir, `ghost_session_${sessionId}.json`);
}

export function newSessionId(now: Date, taken: (id: string) => boolean): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '_').slice(0, 15);
  for (let n = 1; ; n++) {
    const id = n === 1 ? `ghost_${stamp}` : `ghost_${stamp}_${n}`;
    if (!taken(id)) return id;
  }
}

export const isSessionId = (text: string) => /^ghost_[A-Za-z0-9_-]{1,80}$/.test(text);

export function saveSession(session: SessionV1): void {
  const path = sessionPath(session.audit_dir, session.session_id);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify({ ...session, _checksum: digestOf(session) }, null, 2)}\n`;
  const draft = `${path}.new`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}

export type LoadedSession =
  | { readonly kind: 'loaded'; readonly session: SessionV1 }
  /** Readable, but not what was written: someone or something changed it. */
  | { readonly kind: 'altered'; readonly session: SessionV1 }
  | { readonly kind: 'corrupt'; readonly reason: string }
  | { readonly kind: 'missing' };

export function loadSession(auditDir: string, sessionId: string): LoadedSession {
  const path = sessionPath(auditDir, sessionId);
  if (!existsSync(path)) return { kind: 'missing' };
  const parsed = parseJson(readFileSync(path, 'utf8'));
  if (!parsed.ok) return { kind: 'corrupt', reason: parsed.reason };
  if (!isJsonObject(parsed.value)) return { kind: 'corrupt', reason: 'it is not a JSON object' };
  const { _checksum: stored, ...rest } = parsed.value;
  const problem = shapeProblem(rest, sessionId);
  if (problem !== undefined) return { kind: 'corrupt', reason: problem };
  const session = rest as unknown as SessionV1;
  return stored === digestOf(rest) ? { kind: 'loaded', session } : { kind: 'altered', session };
}

/** A file from disk is hostile: every field the program relies on is checked before it is one. */
function shapeProblem(file: Readonly<Record<string, unknown>>, sessionId: string): string | undefined {
  if (file.session_id !== sessionId) return 'session_id does not match the file name';
  const lists = [
    'hypothesis_log',
    'active_hypothesis_ids',
    'active_task_ids',
    'evidence_conflicts',
    'manual_cleanup_pending',
    'integrity_warnings',
  ];
  const badList = lists.find((key) => !Array.isArray(file[key]));
  if (badList !== undefined) return `${badList} is not a list`;
  const records = ['denial_tracker', 'consecutive_denial_counter', 'evidence_index'];
  const badRecord = records.find((key) => !isJsonObject(file[key]));
  if (badRecord !== undefined) return `${badRecord} is not an object`;
  const badText = ['created_at', 'model', 'audit_dir', 'symptom', 'brain'].find(
    (key) => typeof file[key] !== 'string',
  );
  if (badText !== undefined) return `${badText} is not text`;
  if (typeof file.turn_count !== 'number' || !Number.isInteger(file.turn_count) || file.turn_count < 0)
    return 'turn_count is not a number';
  const log = file.hypothesis_log as readonly unknown[];
  const known = (h: unknown) =>
    isJsonObject(h) &&
    typeof h.id === 'string' &&
    typeof h.description === 'string' &&
    HYPOTHESIS_STATES.includes(h.state as HypothesisState) &&
    Array.isArray(h.denial_events);
  return log.every(known) ? undefined : 'hypothesis_log holds something that is no hypothesis';
}
