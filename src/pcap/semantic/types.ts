/**
 * The semantic JSON: a contract with people, scripts and models. Milliseconds for times, lists bounded
 * (`*_total` says how many there were when a list was cut), sections without traffic left out.
 */
export type Severity = 'CRITICAL' | 'HIGH' | 'MEDIUM' | 'LOW' | 'INFO';

/** One finding of a rule. `predicate` is a re-runnable statement; `frames` is where to look. */
export interface Finding {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  readonly explanation: string;
  readonly frames: readonly number[];
  readonly predicate: string;
  readonly remediation: readonly string[];
}

export interface Quantiles {
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
  /** Present (false) when they come from a sketch or a sample of very many values. */
  readonly exact?: false;
}

export interface SemanticReport {
  readonly schema: 'writ.pcap.semantic/1';
  readonly capture_summary: {
    readonly file: string;
    readonly sha256: string;
    readonly total_packets: number;
    readonly duration_seconds: number;
    readonly protocols_present: readonly string[];
    readonly avg_packets_per_second: number;
    readonly bytes: number;
    readonly link_types: readonly string[];
    readonly truncated_packets: number;
    readonly malformed_packets: number;
    readonly notes?: readonly string[];
  };
  readonly arp?: {
    readonly total_requests: number;
    readonly total_replies: number;
    readonly unanswered_requests: readonly { readonly ip: string; readonly count: number }[];
    readonly unanswered_requests_total: number;
    readonly gratuitous_arp_count: number;
    readonly duplicate_ip_alerts: readonly {
      readonly ip: string;
      readonly macs: readonly string[];
      readonly sample_frames: readonly number[];
    }[];
    readonly duplicate_ip_alerts_total: number;
  };
  readonly icmp?: {
    readonly echo_pairs_matched: number;
    readonly echo_unmatched: number;
    readonly rtt_ms?: Quantiles;
    readonly anomalies: readonly { readonly seq: number; readonly rtt_ms: number; readonly frame: number }[];
    readonly anomalies_total: number;
    readonly type_distribution: Readonly<Record<string, number>>;
    readonly unreachable_details: readonly {
      readonly src: string;
      readonly dst: string;
      readonly code: number;
      readonly code_meaning: string;
      readonly count: number;
      readonly sample_frame: number;
    }[];
    readonly unreachable_total: number;
    readonly redirect_details: readonly {
      readonly src: string;
      readonly gateway: string;
      readonly count: number;
      readonly sample_frame: number;
    }[];
    readonly redirect_total: number;
    readonly ttl_exceeded_sources: readonly {
      readonly src: string;
      readonly count: number;
      readonly sample_frame: number;
    }[];
    readonly ttl_exceeded_total: number;
  };
  readonly tcp?: {
    readonly streams_total: number;
    readonly retransmissions_total: number;
    readonly fast_retransmissions_total: number;
    readonly spurious_retransmissions_total: number;
    readonly rst_count: number;
    readonly duplicate_ack_total: number;
    readonly out_of_order_total: number;
    readonly zero_window_total: number;
    readonly lost_segment_total: number;
    readonly connection_stats: {
      readonly syn_sent: number;
      readonly syn_ack_received: number;
      readonly handshakes_completed: number;
      readonly handshake_success_rate_pct: number | null;
      readonly rst_teardowns: number;
      readonly fin_teardowns: number;
    };
    readonly ack_rtt_ms?: Quantiles;
    readonly streams_with_issues: readonly {
      readonly stream_id: number;
      readonly src: string;
      readonly dst: string;
      readonly retransmissions: number;
      readonly duplicate_acks: number;
      readonly out_of_order: number;
      readonly zero_window_events: number;
      readonly rst: number;
      readonly ack_rtt_ms: Quantiles | null;
      readonly delta_ms: Quantiles | null;
      readonly sample_frames: readonly number[];
    }[];
    readonly streams_with_issues_total: number;
  };
  readonly dns?: {
    readonly queries_total: number;
    readonly responses_total: number;
    readonly unanswered_queries: number;
    readonly query_type_distribution: Readonly<Record<string, number>>;
    readonly rcode_distribution: Readonly<Record<string, number>>;
    readonly latency_ms?: Quantiles;
    readonly slow_queries: readonly {
      readonly name: string;
      readonly latency_ms: number;
      readonly frame: number;
    }[];
    readonly slow_queries_total: number;
    readonly nxdomain_domains: readonly {
      readonly name: string;
      readonly count: number;
      readonly sample_frame: number;
    }[];
    readonly nxdomain_domains_total: number;
    readonly servfail_domains: readonly {
      readonly name: string;
      readonly count: number;
      readonly sample_frame: number;
    }[];
    readonly servfail_domains_total: number;
    readonly top_queried_domains: readonly { readonly name: string; readonly count: number }[];
    readonly queried_domains_total: number;
    readonly dns_servers_queried: readonly string[];
    readonly dns_servers_total: number;
    readonly truncated_responses: number;
    readonly mdns_messages?: number;
  };
  readonly tunnels?: Readonly<Record<string, number>>;
  readonly tls?: {
    readonly client_hellos: number;
    readonly server_names: readonly { readonly name: string; readonly count: number }[];
    readonly alerts: readonly {
      readonly src: string;
      readonly dst: string;
      readonly level: string;
      readonly description: string;
      readonly count: number;
      readonly sample_frame: number;
    }[];
  };
  readonly http?: {
    readonly requests: number;
    readonly responses: number;
    readonly status_distribution: Readonly<Record<string, number>>;
  };
  readonly dhcp?: {
    readonly messages: Readonly<Record<string, number>>;
    readonly servers: readonly string[];
    readonly discovers_unanswered: number;
    readonly naks: number;
  };
  readonly limits?: readonly { readonly what: string; readonly bound: number; readonly dropped: number }[];
  readonly findings: readonly Finding[];
}
