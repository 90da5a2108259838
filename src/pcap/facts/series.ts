/** A fixed number of bins over the whole capture: when time runs past the last one, neighbours are merged. */
import { SERIES_BINS, type TimeSeries } from '../analysis.ts';

const FIRST_WIDTH = 1e6;

export class Series {
  #width = FIRST_WIDTH;
  #span = FIRST_WIDTH * SERIES_BINS;
  readonly #packets = new Float64Array(SERIES_BINS);
  readonly #bytes = new Float64Array(SERIES_BINS);
  readonly #retransmissions = new Float64Array(SERIES_BINS);
  readonly #resets = new Float64Array(SERIES_BINS);
  readonly #zeroWindows = new Float64Array(SERIES_BINS);
  readonly #queries = new Float64Array(SERIES_BINS);
  readonly #failures = new Float64Array(SERIES_BINS);
  readonly #rttSums = new Float64Array(SERIES_BINS);
  readonly #rttCounts = new Float64Array(SERIES_BINS);
  #last = 0;
  /** The bin of the last look-up, and its edges: most events fall into it again. */
  #current = 0;
  #from = 0;
  #to = 0;

  packet(time: number, bytes: number): void {
    const at = this.#bin(time);
    this.#packets[at]!++;
    this.#bytes[at]! += bytes;
  }

  retransmission(time: number): void {
    this.#retransmissions[this.#bin(time)]!++;
  }

  reset(time: number): void {
    this.#resets[this.#bin(time)]!++;
  }

  zeroWindow(time: number): void {
    this.#zeroWindows[this.#bin(time)]!++;
  }

  dnsQuery(time: number): void {
    this.#queries[this.#bin(time)]!++;
  }

  dnsFailure(time: number): void {
    this.#failures[this.#bin(time)]!++;
  }

  rtt(time: number, milliseconds: number): void {
    const at = this.#bin(time);
    this.#rttSums[at]! += milliseconds;
    this.#rttCounts[at]!++;
  }

  facts(start: number): TimeSeries {
    const used = this.#last + 1;
    const list = (values: Float64Array) => Array.from(values.subarray(0, used));
    return {
      start,
      bin_ms: this.#width / 1e6,
      packets: list(this.#packets),
      bytes: list(this.#bytes),
      retransmissions: list(this.#retransmissions),
      resets: list(this.#resets),
      zero_windows: list(this.#zeroWindows),
      dns_queries: list(this.#queries),
      dns_failures: list(this.#failures),
      ack_rtt_ms: list(this.#rttCounts).map((n, i) => (n === 0 ? null : this.#rttSums[i]! / n)),
    };
  }

  /** Frames from before the first one (clocks that step back) go into the first bin. */
  #bin(time: number): number {
    if (time >= this.#from && time < this.#to) return this.#current;
    if (!(time > 0)) return 0;
    while (time >= this.#span) this.#merge();
    const at = Math.floor(time / this.#width);
    if (at > this.#last) this.#last = at;
    this.#current = at;
    this.#from = at * this.#width;
    this.#to = this.#from + this.#width;
    return at;
  }

  #merge(): void {
    for (const values of [
      this.#packets,
      this.#bytes,
      this.#retransmissions,
      this.#resets,
      this.#zeroWindows,
      this.#queries,
      this.#failures,
      this.#rttSums,
      this.#rttCounts,
    ]) {
      for (let i = 0; i < SERIES_BINS / 2; i++) values[i] = values[2 * i]! + values[2 * i + 1]!;
      values.fill(0, SERIES_BINS / 2);
    }
    this.#last >>= 1;
    this.#to = 0;
    this.#width *= 2;
    this.#span *= 2;
  }
}
