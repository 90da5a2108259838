/** What one frame holds, in any layer: one bit each, so that a frame counts once whatever its nesting. */
export const HAS = {
  arp: 1 << 0,
  ip: 1 << 1,
  ipv6: 1 << 2,
  tcp: 1 << 3,
  udp: 1 << 4,
  icmp: 1 << 5,
  icmpv6: 1 << 6,
  dns: 1 << 7,
  mdns: 1 << 8,
  vlan: 1 << 9,
  gre: 1 << 10,
  vxlan: 1 << 11,
  geneve: 1 << 12,
  mpls: 1 << 13,
  wlan: 1 << 14,
  fragment: 1 << 15,
  rst: 1 << 16,
  syn: 1 << 17,
  synack: 1 << 18,
  fin: 1 << 19,
  malformed: 1 << 20,
  llmnr: 1 << 21,
  /** Any encapsulation of one network layer in another. */
  tunnel: 1 << 22,
} as const;

/** Verdicts of the TCP sequence analysis on one segment. */
export const TCP_VERDICT = {
  retransmission: 1 << 0,
  fast_retransmission: 1 << 1,
  spurious_retransmission: 1 << 2,
  out_of_order: 1 << 3,
  lost_segment: 1 << 4,
  acked_unseen: 1 << 5,
  duplicate_ack: 1 << 6,
  zero_window: 1 << 7,
  zero_window_probe: 1 << 8,
  zero_window_probe_ack: 1 << 9,
  keep_alive: 1 << 10,
  keep_alive_ack: 1 << 11,
  window_full: 1 << 12,
  window_update: 1 << 13,
  ports_reused: 1 << 14,
} as const;

export const TCP_FLAG = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16, urg: 32 } as const;
