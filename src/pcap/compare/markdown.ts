import type { Comparison } from './compare.ts';

export function comparisonMarkdown(c: Comparison): string {
  const name = (file: string) => file.split('/').at(-1) ?? file;
  const rows = c.metrics.map(
    (m) =>
      `| ${m.name} | ${m.a} | ${m.b} | ${m.unit} | ${m.change_pct === null ? 'new' : `${m.change_pct > 0 ? '+' : ''}${m.change_pct} %`} | ${m.judgement}${m.judgement === 'stable' ? '' : m.worse ? ' (worse)' : ' (better)'} |`,
  );
  const worse = c.metrics.filter((m) => m.worse && m.judgement !== 'stable' && m.judgement !== 'changed');
  const d = c.dual_end;
  const summary = d
    ? [
        d.conclusion,
        `Confidence ${d.confidence}: ${d.matched} packets seen at both points, clock offset ${d.clock_offset_ms === null ? 'unknown' : `${d.clock_offset_ms} ms`}.`,
      ]
    : [
        worse.length === 0
          ? 'No rate got significantly worse.'
          : `Significantly worse: ${worse.map((m) => m.name).join(', ')}.`,
      ];
  return `# Comparison — ${name(c.a.file)} and ${name(c.b.file)}

## Executive Summary
${summary.join('\n')}
Overall: ${c.verdict}.

${d ? `## Between the two points\n| Direction | Sent | Arrived | Lost | Loss % | Delay ms (median / p95) | Changed |\n|---|---|---|---|---|---|---|\n${d.directions.map((x) => `| ${x.from} → ${x.to} | ${x.sent} | ${x.arrived} | ${x.lost} | ${x.loss_pct} | ${x.delay_ms ? `${x.delay_ms.median} / ${x.delay_ms.p95}` : '–'} | ${x.changed} |`).join('\n')}\n\n${d.notes.map((n) => `- ${n}`).join('\n')}\n` : ''}
## Rates
| Metric | A | B | Unit | Change | Judgement |
|---|---|---|---|---|---|
${rows.join('\n')}

A: ${name(c.a.file)}, ${c.a.packets} packets, SHA-256 ${c.a.sha256}
B: ${name(c.b.file)}, ${c.b.packets} packets, SHA-256 ${c.b.sha256}
`;
}
