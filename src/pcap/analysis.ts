/**
 * The seam of the forensic engine: everything one pass over a capture established, as plain data.
 *
 * `analyze()` (door: `index.ts`) builds one `Analysis`; finding rules, reports and the comparison read it and
 * nothing else. What it offers, section by section:
 *
 * - `capture`   file, hash, container, times, sizes, link types, what was wrong with the file
 * - `counters`  the plain counters of `writ pcap counters`
 * - `arp` `icmp` `tcp` `dns` `tls` `http` `dhcp`   facts with sample frames (1-based, as every analyser numbers them)
 * - `tunnels`   encapsulations seen; every protocol section describes the innermost flow
 * - `series`    at most `SERIES_BINS` bins over the whole capture, for charts and bursts
 * - `talkers`   the busiest conversations
 * - `limits`    which bound was reached and what was therefore not kept (empty for ordinary captures)
 *
 * Invariants:
 * 1. Every list is bounded; a list that was cut says so through `Bounded.total`.
 * 2. Times are milliseconds (durations) or epoch seconds (`first`, `last`); frames are 1-based numbers.
 * 3. Strings that come from packets are already made harmless (`safeText`): printable, bounded in length.
 * 4. Sample frames are ascending and at most `SAMPLE_FRAMES`.
 */
import type { Counters } from './counters.ts';

export const SAMPLE_FRAMES = 5;
export const SERIES_BINS = 512;
export const LIST_BOUND = 20;

/** A list cut to its heaviest members, with how many there were. */
export interface Bounded<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Distribution of durations in milliseconds; `exact` is false when quantiles come from a sketch or a sample. */
export interface Spread {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
  readonly mean: number;
  readonly exact: boolean;
}

/** Something wrong with the file itself, in the reader's words. */
export interface CaptureProblem {
  readonly kind: 'cut_short' | 'corrupt' | 'unsupported' | 'clock' | 'note';
  readonly message: string;
  /** Frames read before it was met. */
  readonly after_frame: number;
}

export interface CaptureFacts {
  readonly file: string;
  readonly sha256: string;
  readonly container: 'pcap' | 'pcapng';
  readonly compressed: boolean;
  readonly packets: number;
  /** Epoch seconds of the first and last frame in file order, null when there is none. */
  readonly first: number | null;
  readonly last: number | null;
  readonly earliest: number | null;
  readonly latest: number | null;
  readonly time_ordered: boolean;
  /** latest − earliest. */
  readonly duration_seconds: number;
  readonly bytes: number;
  readonly bytes_captured: number;
  readonly truncated_packets: number;
  readonly malformed_packets: number;
  readonly malformed_sample_frames: readonly number[];
  readonly link_types: readonly { readonly id: number; readonly name: string; readonly packets: number }[];
  readonly interfaces: number;
  readonly snaplen: number | null;
  readonly problems: readonly CaptureProblem[];
  readonly protocols: readonly { readonly name: string; readonly frames: number }[];
}

/* ---------------------------------------------------------------- link and network */

export interface ArpFacts {
  readonly requests: number;
  readonly replies: number;
  readonly gratuitous: number;
  readonly unanswered: Bounded<{
    readonly ip: string;
    readonly count: number;
    readonly sample_frames: readonly number[];
  }>;
  /** Addresses claimed by more than one MAC (as sender of requests or replies, probes excluded). */
  readonly duplicates: Bounded<{
    readonly ip: string;
    readonly macs: readonly string[];
    readonly sample_frames: readonly number[];
  }>;
}

export interface IcmpUnreachable {
  /** Who sent the error, who it was sent to. */
  readonly src: string;
  readonly dst: string;
  readonly version: 4 | 6;
  readonly type: number;
  readonly code: number;
  readonly code_meaning: string;
  /** The packet it complains about, when quoted. */
  readonly original: {
    readonly src: string;
    readonly dst: string;
    readonly protocol: string;
    readonly src_port: number;
    readonly dst_port: number;
  } | null;
  /** Next-hop MTU of "fragmentation needed" and "packet too big", else null. */
  readonly mtu: number | null;
  readonly count: number;
  readonly sample_frames: readonly number[];
}

export interface IcmpFacts {
  readonly frames: number;
  readonly echo_requests: number;
  readonly echo_replies: number;
  readonly echo_pairs_matched: number;
  readonly echo_unmatched: number;
  readonly rtt: Spread | null;
  /** Answers slower than twice the median. */
  readonly anomalies: Bounded<{
    readonly seq: number;
    readonly rtt_ms: number;
    readonly frame: number;
    readonly src: string;
    readonly dst: string;
  }>;
  readonly unanswered: Bounded<{
    readonly src: string;
    readonly dst: string;
    readonly count: number;
    readonly sample_frames: readonly number[];
  }>;
  /** Keys as `v4:8 echo request`. */
  readonly types: readonly {
    readonly version: 4 | 6;
    readonly type: number;
    readonly name: string;
    readonly count: number;
  }[];
  readonly unreachable: Bounded<IcmpUnreachable>;
  readonly redirects: Bounded<{
    readonly src: string;
    readonly gateway: string;
    readonly target: string;
    readonly count: number;
    readonly sample_frames: readonly number[];
  }>;
  readonly ttl_exceeded: Bounded<{
    readonly src: string;
    readonly count: number;
    /** Final destinations of the packets that died there (up to five). */
    readonly destinations: readonly string[];
    readonly sample_frames: readonly number[];
  }>;
}

/** The same IP packet seen again with a lower TTL: what a routing loop (or a capture on two legs) looks like. */
export interface LoopFact {
  readonly src: string;
  readonly dst: string;
  readonly ip_id: number;
  readonly sightings: number;
  readonly ttl_high: number;
  readonly ttl_low: number;
  readonly sample_frames: readonly number[];
}

/* ---------------------------------------------------------------- TCP */

/** One direction of a TCP stream. */
export interface TcpSide {
  readonly packets: number;
  readonly bytes: number;
  readonly payload_bytes: number;
  readonly retransmissions: number;
  readonly fast_retransmissions: number;
  readonly spurious_retransmissions: number;
  readonly duplicate_acks: number;
  readonly out_of_order: number;
  readonly lost_segments: number;
  readonly zero_windows: number;
  readonly window_full: number;
  readonly keep_alives: number;
  readonly syn: number;
  readonly fin: number;
  readonly rst: number;
  /** TTL / hop limit of the first packet and of the RSTs, 0 when none: a middlebox betrays itself here. */
  readonly ttl_first: number;
  readonly ttl_min: number;
  readonly ttl_max: number;
  readonly ttl_rst: number;
  /** Largest payload in one segment, and the largest that had to be retransmitted. */
  readonly largest_segment: number;
  readonly largest_retransmitted: number;
  /** Times the largest-size segment was sent again: PMTUD black holes show here. */
  readonly mss: number;
  readonly df_set: boolean;
  /** Longest time this side advertised window 0. */
  readonly zero_window_ms: number;
}

export type TcpOutcome = 'syn_unanswered' | 'refused' | 'established' | 'half_open' | 'midstream';

export interface TcpStream {
  readonly stream_id: number;
  /** `client` is who sent the SYN, or else the first packet. */
  readonly client: { readonly address: string; readonly port: number };
  readonly server: { readonly address: string; readonly port: number };
  readonly from_client: TcpSide;
  readonly from_server: TcpSide;
  readonly outcome: TcpOutcome;
  readonly closed_by: 'fin' | 'rst' | 'open';
  /** Who sent the first RST, and whether data had flowed before it. */
  readonly rst_by: 'client' | 'server' | 'none';
  readonly rst_frames: readonly number[];
  readonly syn_frames: readonly number[];
  readonly syn_retries: number;
  readonly handshake_rtt_ms: number | null;
  readonly ack_rtt: Spread | null;
  readonly delta: Spread | null;
  readonly first: number;
  readonly last: number;
  readonly duration_ms: number;
  readonly first_frame: number;
  readonly last_frame: number;
  /** First frames that carried an issue, ascending. */
  readonly sample_frames: readonly number[];
  readonly retransmission_frames: readonly number[];
  readonly zero_window_frames: readonly number[];
  /** Weight for ordering: the sum of issues. */
  readonly issues: number;
}

export interface TcpFacts {
  readonly streams: number;
  readonly totals: {
    readonly packets: number;
    readonly retransmissions: number;
    readonly fast_retransmissions: number;
    readonly spurious_retransmissions: number;
    readonly duplicate_acks: number;
    readonly out_of_order: number;
    readonly lost_segments: number;
    readonly acked_unseen: number;
    readonly zero_windows: number;
    readonly zero_window_probes: number;
    readonly window_full: number;
    readonly window_updates: number;
    readonly keep_alives: number;
    readonly keep_alive_acks: number;
    readonly ports_reused: number;
    readonly rst: number;
    readonly fin: number;
  };
  readonly connections: {
    /** Attempts: a SYN sent again is the same attempt. */
    readonly syn_sent: number;
    readonly syn_ack_received: number;
    readonly handshakes_completed: number;
    readonly rst_teardowns: number;
    readonly fin_teardowns: number;
    readonly refused: number;
    readonly unanswered: number;
    /** Streams whose two directions were both seen, and those with one only. */
    readonly two_way: number;
    readonly one_way: number;
  };
  readonly ack_rtt: Spread | null;
  readonly handshake_rtt: Spread | null;
  /** Streams with issues, heaviest first; at most `KEPT_STREAMS` are kept for rules, reports cut further. */
  readonly with_issues: Bounded<TcpStream>;
  /** Streams without any issue that a rule may still want (largest by bytes). */
  readonly largest: Bounded<TcpStream>;
  /** Servers (address:port) that refused or ignored SYNs. */
  readonly failing_servers: Bounded<{
    readonly server: string;
    readonly port: number;
    readonly attempts: number;
    readonly refused: number;
    readonly unanswered: number;
    readonly sample_frames: readonly number[];
  }>;
}

/* ---------------------------------------------------------------- names and applications */

export interface DnsNameCount {
  readonly name: string;
  readonly count: number;
  readonly sample_frames: readonly number[];
}

export interface DnsServer {
  readonly server: string;
  readonly queries: number;
  readonly answered: number;
  readonly unanswered: number;
  readonly latency: Spread | null;
  readonly sample_frames: readonly number[];
}

export interface DnsFacts {
  readonly queries: number;
  readonly responses: number;
  readonly unanswered: number;
  readonly retried: number;
  readonly truncated_responses: number;
  readonly over_tcp: number;
  readonly mdns_messages: number;
  readonly types: readonly { readonly type: string; readonly count: number }[];
  readonly rcodes: readonly { readonly rcode: string; readonly count: number }[];
  readonly latency: Spread | null;
  /** Answers slower than twice the median. */
  readonly slow: Bounded<{ readonly name: string; readonly latency_ms: number; readonly frame: number }>;
  readonly nxdomain: Bounded<DnsNameCount>;
  readonly servfail: Bounded<DnsNameCount>;
  readonly top: Bounded<DnsNameCount>;
  readonly servers: Bounded<DnsServer>;
  readonly unanswered_names: Bounded<DnsNameCount>;
  /** Registered-domain view for tunnelling signs: many long, unique names below one parent. */
  readonly parents: Bounded<{
    readonly parent: string;
    readonly queries: number;
    readonly distinct_names: number;
    readonly longest_label: number;
    readonly mean_name_length: number;
    readonly txt_or_null: number;
    /** Shannon entropy (bits per character) of the labels below the parent. */
    readonly entropy: number;
    readonly sample_frames: readonly number[];
  }>;
}

export interface TlsFacts {
  readonly client_hellos: number;
  readonly server_names: Bounded<{
    readonly name: string;
    readonly count: number;
    readonly sample_frames: readonly number[];
  }>;
  readonly alerts: Bounded<{
    readonly src: string;
    readonly dst: string;
    readonly level: 'warning' | 'fatal' | 'other';
    readonly description: string;
    readonly count: number;
    readonly sample_frames: readonly number[];
  }>;
}

export interface HttpFacts {
  readonly requests: number;
  readonly responses: number;
  readonly statuses: readonly {
    readonly status: number;
    readonly count: number;
    readonly sample_frames: readonly number[];
  }[];
}

export interface DhcpFacts {
  readonly messages: readonly { readonly type: string; readonly count: number }[];
  readonly servers: readonly string[];
  readonly discovers_unanswered: number;
  readonly naks: number;
  readonly sample_frames: readonly number[];
}

export interface FragmentFacts {
  readonly fragments: number;
  readonly reassembled: number;
  readonly incomplete: number;
  readonly sample_frames: readonly number[];
}

/* ---------------------------------------------------------------- views over time */

export interface TimeSeries {
  /** Epoch seconds at the left edge of bin 0. */
  readonly start: number;
  readonly bin_ms: number;
  readonly packets: readonly number[];
  readonly bytes: readonly number[];
  readonly retransmissions: readonly number[];
  readonly resets: readonly number[];
  readonly zero_windows: readonly number[];
  readonly dns_queries: readonly number[];
  readonly dns_failures: readonly number[];
  /** Mean TCP ack RTT of the bin, null where none was measured. */
  readonly ack_rtt_ms: readonly (number | null)[];
}

export interface Talker {
  readonly a: string;
  readonly b: string;
  readonly protocol: 'tcp' | 'udp';
  readonly packets: number;
  readonly bytes: number;
  readonly a_to_b_bytes: number;
}

export interface Analysis {
  readonly capture: CaptureFacts;
  readonly counters: Counters;
  readonly arp: ArpFacts | null;
  readonly icmp: IcmpFacts | null;
  readonly loops: Bounded<LoopFact>;
  readonly fragments: FragmentFacts | null;
  readonly tcp: TcpFacts | null;
  readonly dns: DnsFacts | null;
  readonly tls: TlsFacts | null;
  readonly http: HttpFacts | null;
  readonly dhcp: DhcpFacts | null;
  readonly tunnels: readonly { readonly name: string; readonly frames: number }[];
  readonly series: TimeSeries;
  readonly talkers: Bounded<Talker>;
  readonly limits: readonly { readonly what: string; readonly bound: number; readonly dropped: number }[];
}
