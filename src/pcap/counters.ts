/**
 * Plain counters, named and counted as the reference analyser counts them:
 * a frame counts once when a field or flag is present in any layer; `dns_*` counts messages (every occurrence,
 * multicast DNS and LLMNR left out); `icmp_types` is keyed by the outermost type; `arp_*` counts every
 * occurrence; `*_streams` counts distinct streams.
 */
export interface Counters {
  /** What stopped the reader, or null: a file that is no capture has zeros everywhere and says why here. */
  readonly error: string | null;
  readonly packets: number;
  /** Seconds with nine decimals, in file order. */
  readonly first_ts: string | null;
  readonly last_ts: string | null;
  readonly min_ts: number | null;
  readonly max_ts: number | null;
  readonly time_ordered: boolean;
  readonly bytes_len: number;
  readonly bytes_cap: number;
  readonly truncated_packets: number;
  readonly frames_arp: number;
  readonly frames_ip: number;
  readonly frames_ipv6: number;
  readonly frames_tcp: number;
  readonly frames_udp: number;
  readonly frames_icmp: number;
  readonly frames_icmpv6: number;
  readonly frames_dns: number;
  readonly frames_mdns: number;
  readonly frames_vlan: number;
  readonly frames_gre: number;
  readonly frames_vxlan: number;
  readonly frames_geneve: number;
  readonly frames_mpls: number;
  readonly frames_wlan: number;
  readonly tcp_streams: number;
  readonly udp_streams: number;
  readonly tcp_retransmissions: number;
  readonly tcp_fast_retransmissions: number;
  readonly tcp_spurious_retransmissions: number;
  readonly tcp_dup_acks: number;
  readonly tcp_out_of_order: number;
  readonly tcp_zero_window: number;
  readonly tcp_lost_segment: number;
  readonly tcp_keep_alive: number;
  readonly tcp_rst: number;
  readonly tcp_syn: number;
  readonly tcp_synack: number;
  readonly tcp_fin: number;
  readonly dns_queries: number;
  readonly dns_responses: number;
  readonly dns_rcodes: Readonly<Record<string, number>>;
  readonly icmp_types: Readonly<Record<string, number>>;
  readonly icmpv6_types: Readonly<Record<string, number>>;
  readonly arp_requests: number;
  readonly arp_replies: number;
  readonly ip_fragments: number;
  readonly vlan_ids: readonly string[];
  readonly file_type: string | null;
  readonly encap: string | null;
  readonly interfaces: number | null;
}
