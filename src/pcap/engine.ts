/**
 * The engine: takes frames one by one, decodes them, and leaves totals and collectors behind. Decoders work on
 * the reader's own buffer and on the fields below; nothing is allocated for an ordinary packet.
 *
 * Invariants:
 * 1. `bits`, `tcpBits`, `icmpType`, `icmp6Type` describe one frame and start empty.
 * 2. Addresses, ports, TTL and `segment` are those of the innermost layer decoded so far.
 * 3. A decoder returns early where the capture ends; it never throws.
 */
import { HAS } from './decode/bits.ts';
import { link } from './decode/link.ts';
import { Fragments } from './decode/reassembly.ts';
import { WlanFragments } from './decode/wlan-fragments.ts';
import { AppNotes } from './facts/app-notes.ts';
import { ArpCollector } from './facts/arp-facts.ts';
import { ChecksumCollector } from './facts/checksum-facts.ts';
import { DnsCollector } from './facts/dns-facts.ts';
import { IcmpCollector } from './facts/icmp-facts.ts';
import { LoopCollector } from './facts/loop-facts.ts';
import { Series } from './facts/series.ts';
import { counting } from './facts/tally.ts';
import type { FrameSink } from './read/sink.ts';
import type { Endpoints } from './tcp/flow-table.ts';
import type { Segment } from './tcp/judge.ts';
import { TcpTracker } from './tcp/tracker.ts';
import { Totals } from './totals.ts';
import { UdpTracker } from './udp-tracker.ts';

/** No packet is longer; a damaged record may say so. */
const MAX_LENGTH = 0x7fff_ffff;

/** `counters` leaves out everything only reports need. */
export type Detail = 'counters' | 'full';

export class Engine implements FrameSink, Endpoints {
  /** Whether facts are collected besides the counters. */
  readonly facts: boolean;
  readonly totals = new Totals();
  readonly tcp: TcpTracker;
  readonly udp = new UdpTracker();
  readonly fragments = new Fragments();
  readonly wlanFragments = new WlanFragments();
  readonly arp = new ArpCollector();
  readonly icmp = new IcmpCollector();
  readonly dns = new DnsCollector();
  readonly apps = new AppNotes();
  readonly loops = new LoopCollector();
  readonly checksums = new ChecksumCollector();
  readonly series = new Series();
  readonly notes = counting(64);
  readonly links = new Map<number, number>();
  readonly vlanIds = new Set<number>();

  frameNumber = 0;
  /** Nanoseconds since the first frame. */
  time = 0;
  isEpochZero = false;
  wireLength = 0;
  bits = 0;
  tcpBits = 0;
  icmpType = -1;
  icmp6Type = -1;
  depth = 0;
  /** How deep inside packets quoted by ICMP errors. */
  errorDepth = 0;
  fragmented = false;
  overTcp = false;
  /** Frames with one network layer inside another and no tunnel protocol between. */
  ipInIp = 0;
  /** Frames of link types nothing here reads. */
  undecoded = 0;

  readonly src = new Int32Array(4);
  readonly dst = new Int32Array(4);
  family = 0;
  srcPort = 0;
  dstPort = 0;
  ttl = 0;
  ipId = 0;
  dontFragment = false;
  readonly segment: Segment = { seq: 0, ack: 0, length: 0, flags: 0, window: 0 };

  #firstSeconds = 0;
  #firstNanoseconds = 0;
  #lastLink = -2;
  #lastLinkCount = 0;

  constructor(detail: Detail = 'full') {
    this.facts = detail === 'full';
    this.tcp = new TcpTracker({ epoch: (time) => this.epoch(time) });
  }

  frame(
    bytes: Uint8Array,
    start: number,
    captured: number,
    claimed: number,
    seconds: number,
    nanoseconds: number,
    linkType: number,
  ): void {
    const length = claimed > MAX_LENGTH ? MAX_LENGTH : claimed;
    const number = ++this.frameNumber;
    const totals = this.totals;
    totals.frame(captured, length);
    if (Number.isNaN(seconds)) this.#untimed();
    else {
      if (!totals.timed) {
        this.#firstSeconds = seconds;
        this.#firstNanoseconds = nanoseconds;
      }
      this.time = (seconds - this.#firstSeconds) * 1e9 + (nanoseconds - this.#firstNanoseconds);
      this.isEpochZero = seconds === 0 && nanoseconds === 0;
      totals.at(seconds, nanoseconds, this.time);
      if (this.facts) this.series.packet(this.time, length);
    }
    this.wireLength = length;
    this.bits = 0;
    this.tcpBits = 0;
    this.icmpType = -1;
    this.icmp6Type = -1;
    this.depth = 0;
    this.errorDepth = 0;
    this.fragmented = false;
    this.family = 0;
    if (linkType !== this.#lastLink) this.#countLink(linkType);
    this.#lastLinkCount++;
    link(this, bytes, start, start + captured, start + (length < captured ? captured : length), linkType);
    totals.protocols(this.bits, this.tcpBits, this.icmpType, this.icmp6Type);
    if ((this.bits & (HAS.tunnel | HAS.gre | HAS.vxlan | HAS.geneve)) === HAS.tunnel) this.ipInIp++;
    if ((this.bits & HAS.malformed) !== 0) totals.malformedFrame(number);
  }

  /** Epoch seconds of a time in nanoseconds since the first frame. */
  epoch(time: number): number {
    return this.#firstSeconds + (this.#firstNanoseconds + time) / 1e9;
  }

  /** Remembers that an encapsulation or protocol was met. */
  note(what: string): void {
    const entry = this.notes.of(what);
    if (entry !== undefined) entry.value.count++;
  }

  saveAddresses(): Int32Array {
    const saved = new Int32Array(8);
    saved.set(this.src);
    saved.set(this.dst, 4);
    return saved;
  }

  restoreAddresses(saved: Int32Array): void {
    this.src.set(saved.subarray(0, 4));
    this.dst.set(saved.subarray(4));
  }

  finish(): void {
    this.totals.settle();
    this.#countLink(-2);
    if (this.facts) this.tcp.finish();
  }

  /** Without a time of its own a frame counts as taken at the start of the epoch, as in the reference. */
  #untimed(): void {
    this.time = -(this.#firstSeconds * 1e9 + this.#firstNanoseconds);
    this.isEpochZero = true;
  }

  #countLink(next: number): void {
    if (this.#lastLink !== -2)
      this.links.set(this.#lastLink, (this.links.get(this.#lastLink) ?? 0) + this.#lastLinkCount);
    this.#lastLink = next;
    this.#lastLinkCount = 0;
  }
}
