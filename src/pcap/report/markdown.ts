import type { Analysis } from '../analysis.ts';
import type { Finding, SemanticReport } from '../semantic/types.ts';
import { fileName, md, mdCode } from './escape.ts';
import { NARRATIVE_NOTE, type Narrative } from './narrative.ts';

/** The forensic report for people: summary first, then what was found, then the facts behind it. */
export function forensicReport(report: SemanticReport, analysis: Analysis, narrative?: Narrative): string {
  return `${[title(report), summarySection(report), findings(report.findings), protocols(report), tcp(report), icmp(report), dns(report), arp(report), talkers(analysis), narrativeSection(narrative), limits(report)].filter((s) => s !== '').join('\n\n')}\n`;
}

const MAX_LINES = 50;
const MAX_LISTED = 15;

/** The short form: at most fifty lines, whatever the capture holds. */
export function executiveSummary(report: SemanticReport): string {
  const { findings: found } = report;
  const first = found.filter((f) => f.severity !== 'INFO').slice(0, 4);
  const lines = [
    `# Executive Summary — ${md(fileName(report.capture_summary.file))}`,
    '',
    ...summaryLines(report),
    '',
    '## Findings',
    '',
    ...(found.length === 0 ? [NOTHING] : found.slice(0, MAX_LISTED).map(findingLine)),
    ...(found.length > MAX_LISTED ? [`- … and ${found.length - MAX_LISTED} more in the full report`] : []),
    ...(first.length === 0 ? [] : ['', '## What to do first', '']),
    ...first.map((f, i) => `${i + 1}. ${md(f.remediation[0] ?? f.title)}`),
  ];
  return `${lines.slice(0, MAX_LINES).join('\n')}\n`;
}

const NOTHING = 'None: no rule found anything wrong.';

function findingLine(f: Finding): string {
  const where = f.frames.length > 0 ? ` (frames ${f.frames.slice(0, 5).join(', ')})` : '';
  return `- **${f.severity}** ${md(f.title)}${where}`;
}

function title({ capture_summary: s }: SemanticReport): string {
  return `# Forensic report — ${md(fileName(s.file))}\n\nSHA-256 \`${s.sha256}\``;
}

function summarySection(report: SemanticReport): string {
  return `## Executive Summary\n\n${summaryLines(report).join('\n')}`;
}

/** The verdict, and one line a protocol. Two blanks at the end keep them apart when drawn. */
function summaryLines(report: SemanticReport): readonly string[] {
  const s = report.capture_summary;
  const t = report.tcp;
  const lines = [
    `**${verdict(report)}**`,
    `${s.total_packets} packets, ${s.bytes} bytes over ${s.duration_seconds.toFixed(3)} s (${s.avg_packets_per_second.toFixed(1)} packets/s); ${s.protocols_present.join(', ') || 'no known protocol'}.`,
    ...(t
      ? [
          `TCP: ${t.streams_total} streams, ${t.retransmissions_total} retransmissions, ${t.rst_count} resets, ${t.zero_window_total} zero windows; ${t.connection_stats.handshakes_completed} of ${t.connection_stats.syn_sent} handshakes completed.`,
        ]
      : []),
    ...(report.dns
      ? [`DNS: ${report.dns.queries_total} queries, ${report.dns.unanswered_queries} unanswered.`]
      : []),
    ...(s.truncated_packets > 0 ? [`${s.truncated_packets} packets were cut short by the capture.`] : []),
    ...(s.notes ?? []).slice(0, 3).map((n) => `Note: ${md(n)}.`),
  ];
  return lines.map((line, i) => (i < lines.length - 1 ? `${line}  ` : line));
}

function verdict({ capture_summary: s, findings: found }: SemanticReport): string {
  if (s.total_packets === 0) return 'The capture holds no packets: nothing can be said about the network.';
  if (s.protocols_present.length === 0)
    return 'Nothing in this capture could be decoded: nothing can be said about the network.';
  const grave = found.filter((f) => f.severity === 'CRITICAL' || f.severity === 'HIGH');
  const some = found.filter((f) => f.severity !== 'INFO');
  const named = (list: readonly Finding[]) =>
    `${list
      .slice(0, 3)
      .map((f) => md(f.title))
      .join('; ')}${list.length > 3 ? `; and ${list.length - 3} more` : ''}`;
  if (grave.length > 0) return `${grave.length} grave finding(s): ${named(grave)}.`;
  if (some.length > 0) return `Nothing grave, but ${some.length} finding(s): ${named(some)}.`;
  return 'No rule found anything wrong in this capture.';
}

function findings(all: readonly Finding[]): string {
  if (all.length === 0) return `## Findings\n\n${NOTHING}`;
  return `## Findings\n\n${all
    .map((f) =>
      [
        `### ${f.severity}: ${md(f.title)}`,
        '',
        md(f.explanation),
        '',
        `- Id: \`${f.id}\``,
        ...(f.frames.length > 0 ? [`- Frames: ${f.frames.join(', ')}`] : []),
        `- Check: ${mdCode(f.predicate)}`,
        ...f.remediation.map((r) => `- Do: ${md(r)}`),
      ].join('\n'),
    )
    .join('\n\n')}`;
}

const table = (header: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  [
    `| ${header.join(' | ')} |`,
    `|${header.map(() => '---').join('|')}|`,
    ...rows.map((r) => `| ${r.map((c) => md(String(c))).join(' | ')} |`),
  ].join('\n');
const ms = (q: { readonly median: number; readonly p95: number; readonly max: number } | null | undefined) =>
  q ? `${q.median.toFixed(2)} / ${q.p95.toFixed(2)} / ${q.max.toFixed(2)}` : '–';

function protocols({ capture_summary: s, tunnels }: SemanticReport): string {
  const seen = tunnels ? Object.entries(tunnels).map(([name, frames]) => `${name} (${frames})`) : [];
  return `## Capture\n\n${table(['Fact', 'Value'], [['packets', s.total_packets], ['bytes', s.bytes], ['duration', `${s.duration_seconds.toFixed(3)} s`], ['link types', s.link_types.join(', ')], ['protocols', s.protocols_present.join(', ')], ['cut packets', s.truncated_packets], ['malformed packets', s.malformed_packets], ...(seen.length > 0 ? [['tunnels', seen.join(', ')] as const] : [])])}`;
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
  return `## TCP\n\n${facts}${rows.length > 0 ? `\n\nStreams with trouble (${t.streams_with_issues_total} in all):\n\n${table(['Stream', 'From', 'To', 'Retrans.', 'Dup ACK', 'Out of order', 'Zero window', 'RST', 'RTT ms', 'Frames'], rows)}` : ''}`;
}

function icmp({ icmp: i }: SemanticReport): string {
  if (!i) return '';
  const rows = i.unreachable_details.map((u) => [u.src, u.dst, u.code_meaning, u.count, u.sample_frame]);
  return `## ICMP\n\n${i.echo_pairs_matched} echo pairs, ${i.echo_unmatched} without a partner; RTT ms (median / p95 / max) ${ms(i.rtt_ms)}.${rows.length > 0 ? `\n\n${table(['From', 'To', 'Says', 'Count', 'Frame'], rows)}` : ''}`;
}

function dns({ dns: d }: SemanticReport): string {
  if (!d) return '';
  const failing = [
    ...d.nxdomain_domains.map((x) => [x.name, 'NXDOMAIN', x.count, x.sample_frame] as const),
    ...d.servfail_domains.map((x) => [x.name, 'SERVFAIL', x.count, x.sample_frame] as const),
  ];
  return `## DNS\n\n${d.queries_total} queries, ${d.responses_total} responses, ${d.unanswered_queries} unanswered; latency ms (median / p95 / max) ${ms(d.latency_ms)}; servers ${md(d.dns_servers_queried.join(', '))}.${failing.length > 0 ? `\n\n${table(['Name', 'Answer', 'Count', 'Frame'], failing)}` : ''}`;
}

function arp({ arp: a }: SemanticReport): string {
  return a
    ? `## ARP\n\n${a.total_requests} requests, ${a.total_replies} replies, ${a.gratuitous_arp_count} gratuitous; ${a.unanswered_requests_total} addresses without an answer, ${a.duplicate_ip_alerts_total} claimed twice.`
    : '';
}

function talkers({ talkers: t }: Analysis): string {
  if (t.items.length === 0) return '';
  return `## Busiest conversations\n\n${table(
    ['A', 'B', 'Protocol', 'Packets', 'Bytes'],
    t.items.slice(0, 10).map((x) => [x.a, x.b, x.protocol, x.packets, x.bytes]),
  )}`;
}

/** Apart from everything that was derived: the reader must see who speaks. */
function narrativeSection(n: Narrative | undefined): string {
  if (n === undefined) return '';
  if (!n.written) return `## Narrative\n\nAbsent: ${md(n.reason)}. The report is complete without it.`;
  return `## Narrative (written by a model)\n\n_${md(NARRATIVE_NOTE(n.model))}_\n\n${n.paragraphs.map((p) => `> ${md(p)}`).join('\n>\n')}`;
}

function limits({ limits: l }: SemanticReport): string {
  return l && l.length > 0
    ? `## Limits reached\n\n${l.map((x) => `- ${x.what}: kept ${x.bound}, ${x.dropped} not kept`).join('\n')}`
    : '';
}
