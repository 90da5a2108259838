/** Facts of TCP: streams, their sides, and totals. */
import type { Bounded, Spread } from './shape.ts';

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
  /** Most bytes missing before one segment. */
  readonly largest_gap: number;
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
