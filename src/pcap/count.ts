/** From an engine that has seen everything to the plain counters. */
import type { Counters } from './counters.ts';
import type { Engine } from './engine.ts';
import { linkDescription } from './read/link-types.ts';
import type { ContainerFacts } from './read/sink.ts';
import { timeText } from './time-text.ts';

export interface CountedFile {
  readonly container: ContainerFacts | undefined;
  readonly compressed: boolean;
  /** Damage that makes the file's own description unreliable. */
  readonly damaged: boolean;
  readonly error: string | null;
}

export function countersOf(e: Engine, file: CountedFile): Counters {
  const t = e.totals;
  const { timed } = t;
  // A file cut inside its own header describes nothing.
  const described = file.damaged || file.container?.fileType === '' ? undefined : file.container;
  return {
    error: file.error,
    packets: t.packets,
    first_ts: timed ? timeText(t.firstSeconds, t.firstNanoseconds) : null,
    last_ts: timed ? timeText(t.lastSeconds, t.lastNanoseconds) : null,
    min_ts: timed ? Number(timeText(t.minSeconds, t.minNanoseconds)) : null,
    max_ts: timed ? Number(timeText(t.maxSeconds, t.maxNanoseconds)) : null,
    time_ordered: t.timeOrdered,
    bytes_len: t.bytes,
    bytes_cap: t.captured,
    truncated_packets: t.truncated,
    frames_arp: t.frames('arp'),
    frames_ip: t.frames('ip'),
    frames_ipv6: t.frames('ipv6'),
    frames_tcp: t.frames('tcp'),
    frames_udp: t.frames('udp'),
    frames_icmp: t.frames('icmp'),
    frames_icmpv6: t.frames('icmpv6'),
    frames_dns: t.frames('dns'),
    frames_mdns: t.frames('mdns'),
    frames_vlan: t.frames('vlan'),
    frames_gre: t.frames('gre'),
    frames_vxlan: t.frames('vxlan'),
    frames_geneve: t.frames('geneve'),
    frames_mpls: t.frames('mpls'),
    frames_wlan: t.frames('wlan'),
    tcp_streams: e.tcp.streams,
    udp_streams: e.udp.streams,
    tcp_retransmissions: t.retransmissions,
    tcp_fast_retransmissions: t.verdict('fast_retransmission'),
    tcp_spurious_retransmissions: t.verdict('spurious_retransmission'),
    tcp_dup_acks: t.verdict('duplicate_ack'),
    tcp_out_of_order: t.verdict('out_of_order'),
    tcp_zero_window: t.verdict('zero_window'),
    tcp_lost_segment: t.verdict('lost_segment'),
    tcp_keep_alive: t.verdict('keep_alive'),
    tcp_rst: t.frames('rst'),
    tcp_syn: t.frames('syn'),
    tcp_synack: t.frames('synack'),
    tcp_fin: t.frames('fin'),
    dns_queries: t.dnsQueries,
    dns_responses: t.dnsResponses,
    dns_rcodes: nonZero(t.dnsRcodes),
    icmp_types: nonZero(t.icmpTypes),
    icmpv6_types: nonZero(t.icmp6Types),
    arp_requests: t.arpRequests,
    arp_replies: t.arpReplies,
    ip_fragments: t.frames('fragment'),
    vlan_ids: [...e.vlanIds].map(String).sort(),
    file_type: described ? described.fileType + (file.compressed ? ' (gzip compressed)' : '') : null,
    encap: described ? encapsulation(described) : null,
    interfaces: described && described.interfaces > 0 ? described.interfaces : null,
  };
}

function nonZero(counts: Float64Array): Record<string, number> {
  const out: Record<string, number> = {};
  counts.forEach((count, key) => {
    if (count > 0) out[String(key)] = count;
  });
  return out;
}

function encapsulation(container: ContainerFacts): string {
  const [first, ...others] = container.links;
  if (first === undefined) return 'Unknown';
  return others.length > 0 ? 'Per packet' : (linkDescription(first) ?? 'Unknown');
}
