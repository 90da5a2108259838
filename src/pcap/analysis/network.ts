/** Facts of the link and network layers. */
import type { Bounded, Spread } from './shape.ts';

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

export interface ChecksumFacts {
  readonly checked: number;
  /** One in sixty-four frames was checked from some point on. */
  readonly sampled: boolean;
  /** Left to the network card: they say nothing about damage. */
  readonly offloaded: number;
  /** Senders of packets whose checksum is wrong, most first. */
  readonly senders: Bounded<{
    readonly address: string;
    readonly checked: number;
    readonly bad: number;
    readonly sample_frames: readonly number[];
  }>;
}

export interface FragmentFacts {
  readonly fragments: number;
  readonly reassembled: number;
  readonly incomplete: number;
  readonly sample_frames: readonly number[];
}
