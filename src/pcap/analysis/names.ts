/** Facts of names and applications. */
import type { Bounded, Spread } from './shape.ts';

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
  /** The slowest answers, whatever the median. */
  readonly slowest: readonly { readonly name: string; readonly latency_ms: number; readonly frame: number }[];
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
