import type { ShellAuditRecord } from '../../shell/index.ts';
import type { ClaimedCause, Conclusion } from '../conclusion.ts';
import type { SessionV1 } from '../session-v1.ts';
import type { EvidenceRow } from './facts.ts';

/**
 * Conclusions cannot outrun evidence: verdicts are computed from the audit trail, whatever the brain claims.
 *
 * V1 A citation counts only if the id is of this session, completed, and its recorded output is the one the
 *    brain saw (by digest).
 * V2 A cause without a counting citation is unsupported: printed as such, never listed as a cause.
 * V3 A cause that rests on LOCAL probes alone while there is CLOUD evidence is CONTRADICTED.
 * V4 Confidence is capped by the verdict.
 */
export type Verdict = 'CONFIRMED' | 'LIKELY' | 'INCONCLUSIVE' | 'UNVERIFIABLE' | 'CONTRADICTED';

export interface JudgedCause {
  readonly kind: string;
  readonly resource: string;
  readonly detail: string | null;
  readonly explanation: string;
  readonly verdict: Verdict;
  readonly evidence: readonly string[];
  /** Ids that were cited and do not count, each with the reason. */
  readonly rejected: readonly { readonly audit_id: string; readonly why: string }[];
}

export interface Judgement {
  readonly causes: readonly JudgedCause[];
  readonly unsupported: readonly JudgedCause[];
  readonly verdict: Exclude<Verdict, 'CONTRADICTED'>;
  readonly confidence: 'high' | 'medium' | 'low';
}

export function judge(
  conclusion: Conclusion | null,
  session: SessionV1,
  records: readonly ShellAuditRecord[],
  rows: readonly EvidenceRow[],
): Judgement {
  const judged = (conclusion?.causes ?? []).map((cause) => judgeCause(cause, session, records, rows));
  const causes = judged.filter((c) => c.evidence.length > 0);
  const unsupported = judged.filter((c) => c.evidence.length === 0);
  const verdict = overall(causes, session);
  return { causes, unsupported, verdict, confidence: capped(conclusion?.confidence ?? 'low', verdict) };
}

function judgeCause(
  cause: ClaimedCause,
  session: SessionV1,
  records: readonly ShellAuditRecord[],
  rows: readonly EvidenceRow[],
): JudgedCause {
  const checked = [...new Set(cause.evidence)].map((id) => ({ id, why: rejection(id, session, records) }));
  const evidence = checked.filter((c) => c.why === undefined).map((c) => c.id);
  const cited = rows.filter((r) => evidence.includes(r.audit_id));
  return {
    kind: cause.kind,
    resource: cause.resource,
    detail: cause.detail,
    explanation: cause.explanation,
    verdict: verdictOf(cited, rows, session),
    evidence,
    rejected: checked.flatMap((c) =>
      c.why === undefined ? [] : [{ audit_id: c.id.slice(0, 100), why: c.why }],
    ),
  };
}

/** Why a citation does not count, or nothing when it does. */
function rejection(id: string, session: SessionV1, records: readonly ShellAuditRecord[]): string | undefined {
  const record = records.find((r) => r.audit_id === id);
  if (record === undefined || record.session_id !== session.session_id)
    return 'no such record in this session';
  if (record.status !== 'completed')
    return `the command did not run to its end (${record.error ?? record.status})`;
  const seen = session.evidence_index[id];
  // Commands the orchestrator sent are in the trail but never went through the brain.
  if (seen !== undefined && seen !== record.output_sha256)
    return 'its recorded output is not the one the investigation saw';
  return undefined;
}

function verdictOf(cited: readonly EvidenceRow[], rows: readonly EvidenceRow[], session: SessionV1): Verdict {
  if (cited.length === 0) return 'INCONCLUSIVE';
  const cloud = cited.filter((r) => r.context === 'CLOUD');
  if (cloud.length === 0)
    return rows.some((r) => r.context === 'CLOUD' && r.outcome === 'completed')
      ? 'CONTRADICTED'
      : 'INCONCLUSIVE';
  const solid = cloud.some((r) => r.outcome === 'completed');
  return solid && session.integrity_warnings.length === 0 ? 'CONFIRMED' : 'LIKELY';
}

function overall(causes: readonly JudgedCause[], session: SessionV1): Judgement['verdict'] {
  const standing = causes.filter((c) => c.verdict !== 'CONTRADICTED');
  if (standing.length > 0) {
    if (standing.length === causes.length && standing.every((c) => c.verdict === 'CONFIRMED'))
      return 'CONFIRMED';
    return standing.some((c) => c.verdict === 'CONFIRMED' || c.verdict === 'LIKELY')
      ? 'LIKELY'
      : 'INCONCLUSIVE';
  }
  return session.hypothesis_log.some((h) => h.state === 'UNVERIFIABLE') ? 'UNVERIFIABLE' : 'INCONCLUSIVE';
}

function capped(claimed: Judgement['confidence'], verdict: Judgement['verdict']): Judgement['confidence'] {
  switch (verdict) {
    case 'CONFIRMED':
      return claimed;
    case 'LIKELY':
      return claimed === 'high' ? 'medium' : claimed;
    case 'INCONCLUSIVE':
    case 'UNVERIFIABLE':
      return 'low';
  }
}
