import type { Analysis } from '../analysis.ts';
import type { Finding, SemanticReport } from '../semantic/types.ts';

/** The forensic report for people: summary first, then what was found, then the facts behind it. */
export function forensicReport(report: SemanticReport, analysis: Analysis): string {
  return `${[title(report), summarySection(report), findings(report.findings), protocols(report), tcp(report), icmp(report), dns(report), arp(report), talkers(analysis), limits(report)].filter((s) => s !== '').join('\n\n')}\n`;
}

/** The short form: at most fifty lines, whatever the capture holds. */
export function executiveSummary(report: SemanticReport): string {
  const lines = [
    `# Executive summary — ${report.capture_summary.file.split('/').at(-1)}`,
    '',
    ...summaryLines(report),
    '',
    '## Findings',
    ...(report.findings.length === 0
      ? ['None: nothing in this capture looks wrong.']
      : report.findings
          .slice(0, 15)
          .map(
            (f) =>
              `- **${f.severity}** ${f.title}${f.frames.length > 0 ? ` (frames ${f.frames.slice(0, 5).join(', ')})` : ''}`,
          )),
    ...(report.findings.length > 15
      ? [`- … and ${report.findings.length - 15} more in the full report`]
      : []),
    '',
    '## What to do first',
    ...report.findings
      .filter((f) => f.severity !== 'INFO')
      .slice(0, 4)
      .map((f) => `- ${f.remediation[0] ?? f.title}`),
  ];
  return `${lines.slice(0, 49).join('\n')}\n`;
}

function title({ capture_summary: s }: SemanticReport): string {
  return `# Forensic report — ${s.file.split('/').at(-1)}\n\n_SHA-256 ${s.sha256}_`;
}

function summarySection(report: SemanticReport): string {
  return `## Executive Summary\n${summaryLines(report).join('\n')}`;
}

function summaryLines(report: SemanticReport): readonly string[] {
  const s = report.capture_summary;
  const grave = report.findings.filter((f) => f.severity === 'CRITICAL' || f.severity === 'HIGH');
  const verdict =
    s.total_packets === 0
      ? 'The capture holds no packets.'
      : grave.length > 0
        ? `${grave.length} grave finding(s): ${grave
            .slice(0, 3)
            .map((f) => f.title)
            .join('; ')}.`
        : report.findings.some((f) => f.severity !== 'INFO')
          ? 'Some findings, none of them grave.'
          : 'Nothing in this capture looks wrong.';
  return [
    verdict,
    `${s.total_packets} packets, ${s.bytes} bytes over ${s.duration_seconds.toFixed(3)} s (${s.avg_packets_per_second.toFixed(1)} packets/s); ${s.protocols_present.join(', ') || 'no known protocol'}.`,
    ...(report.tcp
      ? [
          `TCP: ${report.tcp.streams_total} streams, ${report.tcp.retransmissions_total} retransmissions, ${report.tcp.rst_count} resets, ${report.tcp.zero_window_total} zero windows; ${report.tcp.connection_stats.handshakes_completed} of ${report.tcp.connection_stats.syn_sent} handshakes completed.`,
        ]
      : []),
    ...(report.dns
      ? [`DNS: ${report.dns.queries_total} queries, ${report.dns.unanswered_queries} unanswered.`]
      : []),
    ...(s.notes ?? []).slice(0, 3).map((n) => `Note: ${n}`),
  ];
}

function findings(all: readonly Finding[]): string {
  if (all.length === 0) return '## Findings\nNone.';
  return `## Findings\n${all
    .map((f) =>
      [
        `### ${f.severity}: ${f.title}`,
        f.explanation,
        `- Id: \`${f.id}\``,
        ...(f.frames.length > 0 ? [`- Frames: ${f.frames.join(', ')}`] : []),
        `- Check: \`${f.predicate}\``,
        ...f.remediation.map((r) => `- Do: ${r}`),
      ].join('\n'),
    )
    .join('\n\n')}`;
}

const table = (header: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  [
    `| ${header.join(' | ')} |`,
    `|${header.map(() => '---').join('|')}|`,
    ...rows.map((r) => `| ${r.map((c) => String(c).replaceAll('|', '\\|')).join(' | ')} |`),
  ].join('\n');
const ms = (q: { readonly median: number; readonly p95: number; readonly max: number } | null | undefined) =>
  q ? `${q.median.toFixed(2)} / ${q.p95.toFixed(2)} / ${q.max.toFixed(2)}` : '–';

function protocols({ capture_summary: s, tunnels }: SemanticReport): string {
  const seen = tunnels ? Object.entries(tunnels).map(([name, frames]) => `${name} (${frames})`) : [];
  return `## Capture\n${table(['Fact', 'Value'], [['packets', s.total_packets], ['bytes', s.bytes], ['duration', `${s.duration_seconds.toFixed(3)} s`], ['link types', s.link_types.join(', ')], ['protocols', s.protocols_present.join(', ')], ['cut packets', s.truncated_packets], ['malformed packets', s.malformed_packets], ...(seen.length > 0 ? [['tunnels', seen.join(', ')] as const] : [])])}`;
}

function tcp({ tcp: t }: SemanticReport): string {
  if (!t) return '';
  const c = t.connection_stats;
  const facts = table(
    ['TCP', 'Count'],
    [
      ['streams', t.streams_total],
      ['retransmissions', t.retransmissions_total],
      ['duplicate ACKs', t.duplicate_ack_total],
      ['out of order', t.out_of_order_total],
      ['zero windows', t.zero_window_total],
      ['resets', t.rst_count],
      ['attempts', c.syn_sent],
      ['answered', c.syn_ack_received],
      ['completed', c.handshakes_completed],
      ['RTT ms (median / p95 / max)', ms(t.ack_rtt_ms)],
    ],
  );
  const rows = t.streams_with_issues.map((s) => [
    s.stream_id,
    s.src,
    s.dst,
    s.retransmissions,
    s.duplicate_acks,
    s.out_of_order,
    s.zero_window_events,
    s.rst,
    ms(s.ack_rtt_ms),
    s.sample_frames.join(', '),
  ]);
  return `## TCP\n${facts}${rows.length > 0 ? `\n\nStreams with trouble (${t.streams_with_issues_total} in all):\n\n${table(['Stream', 'From', 'To', 'Retrans.', 'Dup ACK', 'Out of order', 'Zero window', 'RST', 'RTT ms', 'Frames'], rows)}` : ''}`;
}

function icmp({ icmp: i }: SemanticReport): string {
  if (!i) return '';
  const rows = i.unreachable_details.map((u) => [u.src, u.dst, u.code_meaning, u.count, u.sample_frame]);
  return `## ICMP\n${i.echo_pairs_matched} echo pairs, ${i.echo_unmatched} without a partner; RTT ms (median / p95 / max) ${ms(i.rtt_ms)}.${rows.length > 0 ? `\n\n${table(['From', 'To', 'Says', 'Count', 'Frame'], rows)}` : ''}`;
}

function dns({ dns: d }: SemanticReport): string {
  if (!d) return '';
  const failing = [
    ...d.nxdomain_domains.map((x) => [x.name, 'NXDOMAIN', x.count, x.sample_frame] as const),
    ...d.servfail_domains.map((x) => [x.name, 'SERVFAIL', x.count, x.sample_frame] as const),
  ];
  return `## DNS\n${d.queries_total} queries, ${d.responses_total} responses, ${d.unanswered_queries} unanswered; latency ms (median / p95 / max) ${ms(d.latency_ms)}; servers ${d.dns_servers_queried.join(', ')}.${failing.length > 0 ? `\n\n${table(['Name', 'Answer', 'Count', 'Frame'], failing)}` : ''}`;
}

function arp({ arp: a }: SemanticReport): string {
  return a
    ? `## ARP\n${a.total_requests} requests, ${a.total_replies} replies, ${a.gratuitous_arp_count} gratuitous; ${a.unanswered_requests_total} addresses without an answer, ${a.duplicate_ip_alerts_total} claimed twice.`
    : '';
}

function talkers({ talkers: t }: Analysis): string {
  if (t.items.length === 0) return '';
  return `## Busiest conversations\n${table(
    ['A', 'B', 'Protocol', 'Packets', 'Bytes'],
    t.items.slice(0, 10).map((x) => [x.a, x.b, x.protocol, x.packets, x.bytes]),
  )}`;
}

function limits({ limits: l }: SemanticReport): string {
  return l && l.length > 0
    ? `## Limits reached\n${l.map((x) => `- ${x.what}: kept ${x.bound}, ${x.dropped} not kept`).join('\n')}`
    : '';
}
