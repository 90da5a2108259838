import { visible } from '../../core/index.ts';
import type { Rca } from './compile.ts';

/** The report for people. Every conclusion names audit ids; no output is reproduced but capture summaries. */
export function rcaMarkdown(rca: Rca): string {
  return `${[head(rca), summary(rca), causes(rca), unsupported(rca), observations(rca), hypotheses(rca), evidence(rca), refused(rca), captures(rca), actions(rca), integrity(rca)].filter((s) => s !== '').join('\n\n')}\n`;
}

const cell = (text: string | number | null) =>
  visible(String(text ?? '–'))
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');
const table = (header: readonly string[], rows: readonly (readonly (string | number | null)[])[]) =>
  [
    `| ${header.join(' | ')} |`,
    `|${header.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
  ].join('\n');
const bullets = (items: readonly string[]) =>
  items.map((item) => `- ${visible(item).replaceAll('\n', ' ')}`).join('\n');

function head(rca: Rca): string {
  return `# Root Cause Analysis — ${rca.session_id}\n_Generated: ${rca.generated_at}_\n_Confidence: ${rca.confidence}_ · _Verdict: ${rca.verdict}_ · _Brain: ${cell(rca.brain)}_ · _Turns: ${rca.turns}_`;
}

function summary(rca: Rca): string {
  return `## Investigation Summary\n**Symptom:** ${visible(rca.symptom)}\n\n${visible(rca.summary)}`;
}

function causes(rca: Rca): string {
  if (rca.causes.length === 0) return '## Root Causes\nNone established.';
  return `## Root Causes\n${rca.causes
    .map((c, i) => {
      const rejected = c.rejected.map((r) => `  - not counted: ${cell(r.audit_id)} (${r.why})`);
      return [
        `${i + 1}. **${c.kind}** — ${cell(c.resource)}${c.detail ? ` / ${cell(c.detail)}` : ''}: **${c.verdict}**. ${visible(c.explanation)}`.trim(),
        `  - evidence: ${c.evidence.join(', ')}`,
        ...rejected,
      ].join('\n');
    })
    .join('\n')}`;
}

function unsupported(rca: Rca): string {
  if (rca.unsupported_causes.length === 0) return '';
  return `## Unsupported Claims\nClaimed without valid evidence; not counted as causes.\n${bullets(
    rca.unsupported_causes.map(
      (c) =>
        `${c.kind} — ${c.resource}${c.detail ? ` / ${c.detail}` : ''}: ${c.rejected.map((r) => `${r.audit_id}: ${r.why}`).join('; ') || 'no audit id cited'}`,
    ),
  )}`;
}

function observations(rca: Rca): string {
  return rca.observations.length === 0 ? '' : `## Observations\n${bullets(rca.observations)}`;
}

function hypotheses(rca: Rca): string {
  const rows = rca.hypotheses.map((h) => [
    h.id,
    h.description,
    h.state,
    h.denial_count,
    h.resolving_audit_id,
  ]);
  return `## Hypotheses Log\n${rows.length === 0 ? 'None was formed.' : table(['Hypothesis ID', 'Description', 'Final State', 'Denial Count', 'Settled By'], rows)}`;
}

function evidence(rca: Rca): string {
  const rows = rca.evidence.map((r) => [
    r.audit_id,
    `[${r.context}]`,
    `\`${r.command.replaceAll('`', "'")}\``,
    r.classification,
    r.action,
    r.exit_code,
    r.outcome,
  ]);
  return `## Command Evidence\n${table(['Audit ID', 'Context', 'Command', 'Classification', 'Action', 'Exit Code', 'Outcome'], rows)}\n\n[LOCAL] rows show the engineer's machine: its resolver, its routes. They prove nothing about Azure without [CLOUD] evidence beside them.`;
}

function refused(rca: Rca): string {
  if (rca.refused.length === 0) return '';
  return `## Refused\nWhat the engineer did not allow, and what that left open.\n${bullets(
    rca.refused.map(
      (r) =>
        `${r.audit_id ?? 'in a capture task'}: ${r.command}${r.reason ? ` — "${r.reason}"` : ''}${r.hypotheses.length > 0 ? ` (left open: ${r.hypotheses.join(', ')})` : ''}`,
    ),
  )}`;
}

function captures(rca: Rca): string {
  if (rca.captures.length === 0 && rca.advisories.length === 0)
    return '## Capture Evidence\nNo capture was taken.';
  const rows = rca.captures.map((c) => [
    c.task_id,
    c.target,
    c.state,
    c.cleanup_status,
    c.report_path,
    c.local_pcap_path,
  ]);
  const summaries = rca.captures.flatMap((c) => {
    if (c.executive_summary) return [`### ${c.task_id}\n${visible(c.executive_summary)}`];
    return c.report_path ? [`### ${c.task_id}\nReport content unavailable; see ${c.report_path}.`] : [];
  });
  return [
    '## Capture Evidence',
    rows.length > 0 ? table(['Task ID', 'Target', 'State', 'Cleanup', 'Report Path', 'PCAP Path'], rows) : '',
    ...summaries,
    ...rca.advisories.map((a) => `> Advisory: ${visible(a)}`),
  ]
    .filter((s) => s !== '')
    .join('\n\n');
}

function actions(rca: Rca): string {
  return `## Recommended Actions\n${rca.recommended_actions.length === 0 ? 'None.' : bullets(rca.recommended_actions)}`;
}

function integrity(rca: Rca): string {
  const heads = rca.integrity.heads.map((h) => `- ${h.file}: ${h.records} records, head ${h.head ?? 'none'}`);
  const warnings = rca.integrity.warnings.map((w) => `- **Warning:** ${visible(w)}`);
  return [
    '## Integrity Statement',
    'All evidence in this report is cited by audit id from append-only, hash-chained files:',
    ...heads,
    ...warnings,
    '',
    'Check them with `writ audit verify`. Command output stays in the trail as digests and summaries; it is not reproduced here.',
  ].join('\n');
}
