import { fileName, md } from '../report/escape.ts';
import type { Comparison, Metric } from './compare.ts';
import type { DualEnd } from './dual-end.ts';

export function comparisonMarkdown(c: Comparison): string {
  const [a, b] = [md(fileName(c.a.file)), md(fileName(c.b.file))];
  const parts = [
    `# Comparison — A: ${a}, B: ${b}`,
    `## Executive Summary\n\n${summary(c).join('  \n')}`,
    ...(c.dual_end ? [betweenPoints(c.dual_end)] : []),
    rates(c.metrics),
    `- A: ${a}, ${c.a.packets} packets, SHA-256 \`${c.a.sha256}\`\n- B: ${b}, ${c.b.packets} packets, SHA-256 \`${c.b.sha256}\``,
  ];
  return `${parts.join('\n\n')}\n`;
}

function summary({ dual_end: d, metrics, verdict }: Comparison): readonly string[] {
  const worse = metrics.filter((m) => m.worse && ['significant', 'critical'].includes(m.judgement));
  return [
    ...(d
      ? [
          `**${md(d.conclusion)}**`,
          `Confidence ${d.confidence}: ${d.matched} packets were seen at both points; clock of B minus clock of A ${d.clock_offset_ms === null ? 'unknown' : `${d.clock_offset_ms} ms`}.`,
        ]
      : []),
    `Rates from A to B: ${verdict}${worse.length > 0 ? `; worse: ${worse.map((m) => m.name).join(', ')}` : ''}.`,
  ];
}

function betweenPoints(d: DualEnd): string {
  const verdicts = d.verdicts.map(
    (v) =>
      `- **${v.what}**, segment ${v.segment}, confidence ${v.confidence}: ${md(v.statement)}${v.frames && v.frames.numbers.length > 0 ? ` (frames ${v.frames.numbers.join(', ')} of ${v.frames.capture})` : ''}`,
  );
  const rows = d.directions.map(
    (x) =>
      `| ${x.from} → ${x.to} | ${x.sent} | ${x.arrived} | ${x.lost} | ${x.loss_pct} | ${x.delay_ms ? `${x.delay_ms.min} / ${x.delay_ms.median} / ${x.delay_ms.p95}` : '–'} | ${x.changed} | ${x.reordered} | ${x.injected} |`,
  );
  return [
    '## Between the two points',
    '',
    `Near A: ${md(d.near_a.join(', ') || 'unknown')}. Near B: ${md(d.near_b.join(', ') || 'unknown')}.`,
    '',
    ...verdicts,
    ...(verdicts.length > 0 ? [''] : []),
    '| Direction | Sent | Arrived | Lost | Loss % | Delay ms (min / median / p95) | Changed | Overtaken | Injected |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
    ...d.notes.map((n) => `- ${n}`),
  ].join('\n');
}

function rates(metrics: readonly Metric[]): string {
  const change = (m: Metric) =>
    m.change_pct === null ? 'new' : `${m.change_pct > 0 ? '+' : ''}${m.change_pct} %`;
  const rows = metrics.map(
    (m) =>
      `| ${m.name} | ${m.a} | ${m.b} | ${m.unit} | ${change(m)} | ${m.judgement}${m.judgement === 'stable' ? '' : m.worse ? ' (worse)' : ' (better)'} |`,
  );
  return `## Rates\n\n| Metric | A | B | Unit | Change | Judgement |\n|---|---|---|---|---|---|\n${rows.join('\n')}`;
}
