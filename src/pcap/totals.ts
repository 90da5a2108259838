/** Totals over all frames: the raw material of the counters. */
import { HAS, TCP_VERDICT } from './decode/bits.ts';
import { timeText } from './time-text.ts';

const MAX_SAMPLES = 5;
const AGAIN =
  TCP_VERDICT.retransmission | TCP_VERDICT.fast_retransmission | TCP_VERDICT.spurious_retransmission;

const COMBINATIONS = 64;

export class Totals {
  packets = 0;
  bytes = 0;
  captured = 0;
  truncated = 0;
  firstSeconds = 0;
  firstNanoseconds = 0;
  lastSeconds = 0;
  lastNanoseconds = 0;
  minSeconds = 0;
  minNanoseconds = 0;
  maxSeconds = 0;
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
  /** Whether any frame had a time. */
  timed = false;
  #oddFirst = false;
  #earliest = 0;
  #latest = 0;
  #last = Number.NEGATIVE_INFINITY;
  readonly #combinations = new Int32Array(COMBINATIONS);
  readonly #combinationCounts = new Float64Array(COMBINATIONS);

  frame(captured: number, length: number): void {
    this.packets++;
    this.bytes += length;
    this.captured += captured;
    if (captured < length) this.truncated++;
  }

  /** When a frame was taken; `time` is in nanoseconds since the first that says so. */
  at(seconds: number, nanoseconds: number, time: number): void {
    const first = !this.timed;
    const odd = nanoseconds < 0 || nanoseconds >= 1e9;
    if (first) {
      this.timed = true;
      this.firstSeconds = seconds;
      this.firstNanoseconds = nanoseconds;
      this.#oddFirst = odd;
    }
    // A fraction that no second has (a damaged record) counts as the number it shows as.
    const shown = odd || this.#oddFirst ? this.#sinceFirst(seconds, nanoseconds) : time;
    if (first || shown >= this.#latest) {
      this.#latest = shown;
      this.maxSeconds = seconds;
      this.maxNanoseconds = nanoseconds;
    }
    if (first || shown < this.#earliest) {
      this.#earliest = shown;
      this.minSeconds = seconds;
      this.minNanoseconds = nanoseconds;
    }
    if (shown < this.#last) this.timeOrdered = false;
    this.#last = shown;
    this.lastSeconds = seconds;
    this.lastNanoseconds = nanoseconds;
  }

  #sinceFirst(seconds: number, nanoseconds: number): number {
    const first = Number(timeText(this.firstSeconds, this.firstNanoseconds));
    return (Number(timeText(seconds, nanoseconds)) - first) * 1e9;
  }

  /** Most frames hold what one of the last few held: combinations are counted, bits only when one gives way. */
  protocols(bits: number, verdict: number, icmpType: number, icmp6Type: number): void {
    const at = Math.imul(bits, 0x9e3779b1) >>> 26;
    if (this.#combinations[at] === bits) this.#combinationCounts[at]!++;
    else {
      this.#spill(at);
      this.#combinations[at] = bits;
      this.#combinationCounts[at] = 1;
    }
    if (verdict !== 0) {
      for (let rest = verdict; rest !== 0; rest &= rest - 1) this.verdicts[31 - Math.clz32(rest & -rest)]!++;
      if ((verdict & AGAIN) !== 0) this.retransmissions++;
    }
    if (icmpType >= 0) this.icmpTypes[icmpType]!++;
    if (icmp6Type >= 0) this.icmp6Types[icmp6Type]!++;
  }

  /** Adds what the combinations hold to the counts by bit. */
  settle(): void {
    for (let at = 0; at < COMBINATIONS; at++) this.#spill(at);
  }

  #spill(at: number): void {
    const count = this.#combinationCounts[at]!;
    if (count === 0) return;
    for (let rest = this.#combinations[at]!; rest !== 0; rest &= rest - 1)
      this.has[31 - Math.clz32(rest & -rest)]! += count;
    this.#combinationCounts[at] = 0;
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
