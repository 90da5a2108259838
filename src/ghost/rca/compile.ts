import type { Hypothesis } from '../session-v1.ts';
import { type EvidenceRow, evidenceRows, type RcaInput } from './facts.ts';
import { type JudgedCause, type Judgement, judge } from './verdicts.ts';

/** The report as data: what the Markdown, JSON and HTML forms all say. */
export interface Rca {
  readonly report_version: '1.0';
  readonly session_id: string;
  readonly generated_at: string;
  readonly symptom: string;
  readonly brain: string;
  readonly model: string;
  readonly turns: number;
  readonly summary: string;
  readonly confidence: Judgement['confidence'];
  readonly verdict: Judgement['verdict'];
  readonly causes: readonly JudgedCause[];
  readonly unsupported_causes: readonly JudgedCause[];
  readonly observations: readonly string[];
  readonly hypotheses: readonly Hypothesis[];
  readonly evidence: readonly EvidenceRow[];
  /** What was refused, and which hypotheses that left open. */
  readonly refused: readonly {
    readonly command: string;
    readonly reason: string;
    readonly hypotheses: readonly string[];
    readonly audit_id: string | null;
  }[];
  readonly captures: readonly {
    readonly task_id: string;
    readonly target: string;
    readonly state: string;
    readonly cleanup_status: string | null;
    readonly report_path: string | null;
    readonly local_pcap_path: string | null;
    readonly executive_summary: string | null;
  }[];
  readonly advisories: readonly string[];
  readonly recommended_actions: readonly string[];
  /** What fails now, and what it prints once it does not. */
  readonly failed_checks: readonly { readonly command: string; readonly expected: string }[];
  readonly integrity: { readonly heads: RcaInput['integrity']; readonly warnings: readonly string[] };
}

export function compileRca(input: RcaInput): Rca {
  const { session, records, tasks, conclusion } = input;
  const rows = evidenceRows(records, tasks);
  const judgement = judge(conclusion, session, records, rows);
  return {
    report_version: '1.0',
    session_id: session.session_id,
    generated_at: input.generatedAt,
    symptom: session.symptom,
    brain: session.brain,
    model: session.model,
    turns: session.turn_count,
    summary:
      conclusion?.root_cause_summary ??
      `The investigation ended without a conclusion: ${input.stoppedBecause ?? 'no reason recorded'}.`,
    confidence: judgement.confidence,
    verdict: judgement.verdict,
    causes: judgement.causes,
    unsupported_causes: judgement.unsupported,
    observations: conclusion?.observations ?? [],
    hypotheses: session.hypothesis_log,
    evidence: rows,
    refused: refusals(rows, session.hypothesis_log),
    captures: tasks.map((task) => ({
      task_id: task.task_id,
      target: task.target,
      state: task.state,
      cleanup_status: task.cleanup_status,
      report_path: task.report_path,
      local_pcap_path: task.local_pcap_path,
      executive_summary: task.report_path === null ? null : (input.summaries.get(task.report_path) ?? null),
    })),
    advisories: [...localAgainstCloud(input, rows), ...unreadReports(input)],
    recommended_actions: conclusion?.recommended_actions ?? [],
    failed_checks: conclusion?.failed_checks ?? [],
    integrity: { heads: input.integrity, warnings: [...session.integrity_warnings, ...input.trailProblems] },
  };
}

function refusals(rows: readonly EvidenceRow[], hypotheses: readonly Hypothesis[]): Rca['refused'] {
  const denied = rows
    .filter((r) => r.outcome === 'denied')
    .map((row) => ({
      command: row.command,
      reason: row.denial_reason ?? '',
      hypotheses: hypotheses
        .filter((h) => h.denial_events.some((d) => d.audit_id === row.audit_id))
        .map((h) => h.id),
      audit_id: row.audit_id,
    }));
  // Denials inside a capture task have no audit id of their own in the hypothesis log.
  const inTasks = hypotheses.flatMap((h) =>
    h.denial_events
      .filter((d) => d.audit_id === null)
      .map((d) => ({ command: d.command, reason: d.denial_reason, hypotheses: [h.id], audit_id: null })),
  );
  return [...denied, ...inTasks];
}

/** Advisory A: a failing local probe beside an Allow rule proves nothing about the cloud path. */
function localAgainstCloud({ records }: RcaInput, rows: readonly EvidenceRow[]): readonly string[] {
  const localFailure = rows.find(
    (r) =>
      r.context === 'LOCAL' &&
      r.exit_code !== null &&
      r.exit_code !== 0 &&
      /^(ping|traceroute)\b/.test(r.command),
  );
  const allow = records.find(
    (r) =>
      r.environment === 'azure' &&
      r.exit_code === 0 &&
      /az network (nsg|nic list-effective-nsg)/.test(r.command) &&
      /"access": ?"Allow"/.test(r.output_summary),
  );
  if (!localFailure || !allow) return [];
  return [
    `A probe from the engineer's machine failed (${localFailure.audit_id}) while an NSG rule allows traffic (${allow.audit_id}). Only packet evidence can say whether the path inside Azure is blocked.`,
  ];
}

/** Advisory B: a capture was analysed but its report could not be read. */
function unreadReports({ tasks, summaries }: RcaInput): readonly string[] {
  return tasks
    .filter(
      (t) =>
        (t.state === 'COMPLETED' || t.state === 'DONE' || t.state === 'CLEANING_UP') &&
        t.report_path !== null &&
        !summaries.get(t.report_path),
    )
    .map(
      (t) =>
        `The forensic report of ${t.task_id} is not in this document: reading it was denied or failed. It is at ${t.report_path}.`,
    );
}
