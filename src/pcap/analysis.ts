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

import type { DhcpFacts, DnsFacts, HttpFacts, TlsFacts } from './analysis/names.ts';
import type { ArpFacts, ChecksumFacts, FragmentFacts, IcmpFacts, LoopFact } from './analysis/network.ts';
import type { Bounded } from './analysis/shape.ts';
import type { TcpFacts } from './analysis/tcp.ts';
import type { Counters } from './counters.ts';

export type * from './analysis/names.ts';
export type * from './analysis/network.ts';
export { type Bounded, LIST_BOUND, SAMPLE_FRAMES, SERIES_BINS, type Spread } from './analysis/shape.ts';
export type * from './analysis/tcp.ts';

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
  readonly checksums: ChecksumFacts | null;
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
