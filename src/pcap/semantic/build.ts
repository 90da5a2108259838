/** The semantic JSON of an analysis: small whatever the capture's size, and the same for the same capture. */
import type { Analysis, Spread } from '../analysis.ts';
import { endpointText } from '../facts/text.ts';
import type { Finding, Quantiles, SemanticReport } from './types.ts';

export function semanticReport(a: Analysis, findings: readonly Finding[]): SemanticReport {
  const notes = a.capture.problems.map(({ message }) => message);
  const { duration_seconds, packets } = a.capture;
  return {
    schema: 'writ.pcap.semantic/1',
    capture_summary: {
      file: a.capture.file,
      sha256: a.capture.sha256,
      total_packets: packets,
      duration_seconds: round(duration_seconds, 6),
      protocols_present: a.capture.protocols.map(({ name }) => name),
      avg_packets_per_second: duration_seconds > 0 ? round(packets / duration_seconds, 3) : 0,
      bytes: a.capture.bytes,
      link_types: a.capture.link_types.map(({ name }) => name),
      truncated_packets: a.capture.truncated_packets,
      malformed_packets: a.capture.malformed_packets,
      ...(packets === 0
        ? { notes: [...notes, 'the capture holds no packets'] }
        : notes.length > 0
          ? { notes }
          : {}),
    },
    ...section('arp', a.arp && arpSection(a.arp)),
    ...section('icmp', a.icmp && icmpSection(a.icmp)),
    ...section('tcp', a.tcp && tcpSection(a.tcp)),
    ...section('dns', a.dns && dnsSection(a.dns)),
    ...section(
      'tunnels',
      a.tunnels.length === 0
        ? null
        : counted(
            a.tunnels,
            ({ name }) => name,
            ({ frames }) => frames,
          ),
    ),
    ...section('tls', a.tls && tlsSection(a.tls)),
    ...section(
      'http',
      a.http && {
        requests: a.http.requests,
        responses: a.http.responses,
        status_distribution: counted(
          a.http.statuses.slice(0, 20),
          ({ status }) => String(status),
          ({ count }) => count,
        ),
      },
    ),
    ...section(
      'dhcp',
      a.dhcp && {
        messages: counted(
          a.dhcp.messages,
          ({ type }) => type,
          ({ count }) => count,
        ),
        servers: a.dhcp.servers,
        discovers_unanswered: a.dhcp.discovers_unanswered,
        naks: a.dhcp.naks,
      },
    ),
    ...(a.limits.length === 0 ? {} : { limits: a.limits }),
    findings,
  };
}

/** A section, or nothing at all where there was no traffic. */
function section<K extends string, V>(key: K, value: V | null): { [P in K]?: V } {
  return (value === null ? {} : { [key]: value }) as { [P in K]?: V };
}

function counted<T>(
  rows: readonly T[],
  key: (row: T) => string,
  count: (row: T) => number,
): Record<string, number> {
  return Object.fromEntries(rows.map((row) => [key(row), count(row)]));
}

export function quantiles(spread: Spread): Quantiles {
  const { min, median, p95, max, exact } = spread;
  const rounded = { min: round(min, 3), median: round(median, 3), p95: round(p95, 3), max: round(max, 3) };
  return exact ? rounded : { ...rounded, exact: false };
}

function round(value: number, digits: number): number {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
}

function arpSection(arp: NonNullable<Analysis['arp']>): NonNullable<SemanticReport['arp']> {
  return {
    total_requests: arp.requests,
    total_replies: arp.replies,
    unanswered_requests: arp.unanswered.items.map(({ ip, count }) => ({ ip, count })),
    unanswered_requests_total: arp.unanswered.total,
    gratuitous_arp_count: arp.gratuitous,
    duplicate_ip_alerts: arp.duplicates.items.map(({ ip, macs, sample_frames }) => ({
      ip,
      macs,
      sample_frames,
    })),
    duplicate_ip_alerts_total: arp.duplicates.total,
  };
}

function icmpSection(icmp: NonNullable<Analysis['icmp']>): NonNullable<SemanticReport['icmp']> {
  const typeKey = ({ version, type, name }: (typeof icmp.types)[number]) =>
    `${version === 4 ? 'icmp' : 'icmpv6'} ${type} ${name}`;
  return {
    echo_pairs_matched: icmp.echo_pairs_matched,
    echo_unmatched: icmp.echo_unmatched,
    ...(icmp.rtt === null ? {} : { rtt_ms: quantiles(icmp.rtt) }),
    anomalies: icmp.anomalies.items.map(({ seq, rtt_ms, frame }) => ({
      seq,
      rtt_ms: round(rtt_ms, 3),
      frame,
    })),
    anomalies_total: icmp.anomalies.total,
    type_distribution: counted(icmp.types.slice(0, 20), typeKey, ({ count }) => count),
    unreachable_details: icmp.unreachable.items.map(
      ({ src, dst, code, code_meaning, count, sample_frames }) => ({
        src,
        dst,
        code,
        code_meaning,
        count,
        sample_frame: sample_frames[0] ?? 0,
      }),
    ),
    unreachable_total: icmp.unreachable.total,
    redirect_details: icmp.redirects.items.map(({ src, gateway, count, sample_frames }) => ({
      src,
      gateway,
      count,
      sample_frame: sample_frames[0] ?? 0,
    })),
    redirect_total: icmp.redirects.total,
    ttl_exceeded_sources: icmp.ttl_exceeded.items.map(({ src, count, sample_frames }) => ({
      src,
      count,
      sample_frame: sample_frames[0] ?? 0,
    })),
    ttl_exceeded_total: icmp.ttl_exceeded.total,
  };
}

function tcpSection(tcp: NonNullable<Analysis['tcp']>): NonNullable<SemanticReport['tcp']> {
  const { totals, connections } = tcp;
  const attempts = connections.syn_sent;
  return {
    streams_total: tcp.streams,
    retransmissions_total: totals.retransmissions,
    fast_retransmissions_total: totals.fast_retransmissions,
    spurious_retransmissions_total: totals.spurious_retransmissions,
    rst_count: totals.rst,
    duplicate_ack_total: totals.duplicate_acks,
    out_of_order_total: totals.out_of_order,
    zero_window_total: totals.zero_windows,
    lost_segment_total: totals.lost_segments,
    connection_stats: {
      syn_sent: attempts,
      syn_ack_received: connections.syn_ack_received,
      handshakes_completed: connections.handshakes_completed,
      handshake_success_rate_pct:
        attempts === 0 ? null : round((connections.handshakes_completed / attempts) * 100, 2),
      rst_teardowns: connections.rst_teardowns,
      fin_teardowns: connections.fin_teardowns,
    },
    ...(tcp.ack_rtt === null ? {} : { ack_rtt_ms: quantiles(tcp.ack_rtt) }),
    streams_with_issues: tcp.with_issues.items.slice(0, 20).map((stream) => {
      const both = (pick: (side: typeof stream.from_client) => number) =>
        pick(stream.from_client) + pick(stream.from_server);
      return {
        stream_id: stream.stream_id,
        src: endpointText(stream.client.address, stream.client.port),
        dst: endpointText(stream.server.address, stream.server.port),
        retransmissions: both((side) => side.retransmissions),
        duplicate_acks: both((side) => side.duplicate_acks),
        out_of_order: both((side) => side.out_of_order),
        zero_window_events: both((side) => side.zero_windows),
        rst: both((side) => side.rst),
        ack_rtt_ms: stream.ack_rtt && quantiles(stream.ack_rtt),
        delta_ms: stream.delta && quantiles(stream.delta),
        sample_frames: stream.sample_frames,
      };
    }),
    streams_with_issues_total: tcp.with_issues.total,
  };
}

function dnsSection(dns: NonNullable<Analysis['dns']>): NonNullable<SemanticReport['dns']> {
  const named = (rows: typeof dns.top) =>
    rows.items.map(({ name, count, sample_frames }) => ({
      name,
      count,
      sample_frame: sample_frames[0] ?? 0,
    }));
  return {
    queries_total: dns.queries,
    responses_total: dns.responses,
    unanswered_queries: dns.unanswered,
    query_type_distribution: counted(
      dns.types.slice(0, 20),
      ({ type }) => type,
      ({ count }) => count,
    ),
    rcode_distribution: counted(
      dns.rcodes,
      ({ rcode }) => rcode,
      ({ count }) => count,
    ),
    ...(dns.latency === null ? {} : { latency_ms: quantiles(dns.latency) }),
    slow_queries: dns.slow.items.map(({ name, latency_ms, frame }) => ({
      name,
      latency_ms: round(latency_ms, 3),
      frame,
    })),
    slow_queries_total: dns.slow.total,
    nxdomain_domains: named(dns.nxdomain),
    nxdomain_domains_total: dns.nxdomain.total,
    servfail_domains: named(dns.servfail),
    servfail_domains_total: dns.servfail.total,
    top_queried_domains: dns.top.items.map(({ name, count }) => ({ name, count })),
    queried_domains_total: dns.top.total,
    dns_servers_queried: dns.servers.items.map(({ server }) => server),
    dns_servers_total: dns.servers.total,
    truncated_responses: dns.truncated_responses,
    ...(dns.mdns_messages === 0 ? {} : { mdns_messages: dns.mdns_messages }),
  };
}

function tlsSection(tls: NonNullable<Analysis['tls']>): NonNullable<SemanticReport['tls']> {
  return {
    client_hellos: tls.client_hellos,
    server_names: tls.server_names.items.map(({ name, count }) => ({ name, count })),
    alerts: tls.alerts.items.map(({ src, dst, level, description, count, sample_frames }) => ({
      src,
      dst,
      level,
      description,
      count,
      sample_frame: sample_frames[0] ?? 0,
    })),
  };
}
