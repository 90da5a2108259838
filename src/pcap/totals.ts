/** Totals over all frames: the raw material of the counters. */
import { HAS, TCP_VERDICT } from './decode/bits.ts';

const MAX_SAMPLES = 5;
const AGAIN =
  TCP_VERDICT.retransmission | TCP_VERDICT.fast_retransmission | TCP_VERDICT.spurious_retransmission;

export class Totals {
  packets = 0;
  bytes = 0;
  captured = 0;
  truncated = 0;
  firstSeconds = 0;
  firstNanoseconds = 0;
  lastSeconds = 0;
  lastNanoseconds = 0;
  minSeconds = Number.POSITIVE_INFINITY;
  minNanoseconds = 0;
  maxSeconds = Number.NEGATIVE_INFINITY;
  maxNanoseconds = 0;
  timeOrdered = true;
  malformed = 0;
  readonly malformedFrames: number[] = [];
  /** Frames by bit of `HAS` and of `TCP_VERDICT`. */
  readonly has = new Float64Array(32);
  readonly verdicts = new Float64Array(32);
  retransmissions = 0;
  arpRequests = 0;
  arpReplies = 0;
  dnsQueries = 0;
  dnsResponses = 0;
  mdnsMessages = 0;
  readonly dnsRcodes = new Float64Array(16);
  readonly icmpTypes = new Float64Array(256);
  readonly icmp6Types = new Float64Array(256);

  frame(captured: number, length: number, seconds: number, nanoseconds: number): void {
    if (this.packets++ === 0) {
      this.firstSeconds = seconds;
      this.firstNanoseconds = nanoseconds;
    } else if (
      seconds < this.lastSeconds ||
      (seconds === this.lastSeconds && nanoseconds < this.lastNanoseconds)
    )
      this.timeOrdered = false;
    this.lastSeconds = seconds;
    this.lastNanoseconds = nanoseconds;
    if (seconds < this.minSeconds || (seconds === this.minSeconds && nanoseconds < this.minNanoseconds)) {
      this.minSeconds = seconds;
      this.minNanoseconds = nanoseconds;
    }
    if (seconds > this.maxSeconds || (seconds === this.maxSeconds && nanoseconds > this.maxNanoseconds)) {
      this.maxSeconds = seconds;
      this.maxNanoseconds = nanoseconds;
    }
    this.bytes += length;
    this.captured += captured;
    if (captured < length) this.truncated++;
  }

  protocols(bits: number, verdict: number, icmpType: number, icmp6Type: number): void {
    const has = this.has;
    for (let rest = bits; rest !== 0; rest &= rest - 1) has[31 - Math.clz32(rest & -rest)]!++;
    if (verdict !== 0) {
      for (let rest = verdict; rest !== 0; rest &= rest - 1) this.verdicts[31 - Math.clz32(rest & -rest)]!++;
      if ((verdict & AGAIN) !== 0) this.retransmissions++;
    }
    if (icmpType >= 0) this.icmpTypes[icmpType]!++;
    if (icmp6Type >= 0) this.icmp6Types[icmp6Type]!++;
  }

  malformedFrame(frame: number): void {
    this.malformed++;
    if (this.malformedFrames.length < MAX_SAMPLES) this.malformedFrames.push(frame);
  }

  /** Frames that hold the thing. */
  frames(bit: keyof typeof HAS): number {
    return this.has[31 - Math.clz32(HAS[bit])]!;
  }

  verdict(bit: keyof typeof TCP_VERDICT): number {
    return this.verdicts[31 - Math.clz32(TCP_VERDICT[bit])]!;
  }
}
