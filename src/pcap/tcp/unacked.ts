/**
 * Segments that wait for their acknowledgement, all streams in one pool: linked from the oldest to the newest. They
 * give the round-trip time; nothing else depends on them, so a full pool only loses RTTs.
 */
import { SIDE, SIDE_WORDS, STREAM_WORDS, type StreamState, W } from './stream-state.ts';

/** Most segments one side may have waiting, and all sides together. */
const MAX_A_SIDE = 10_000;
const MAX_POOL = 1 << 20;
const FIRST_POOL = 4096;
/** Words of an entry: end, link, and a double for the time. */
const ENTRY = 4;
const END = 0;
const LINK = 1;

export class UnackedPool {
  dropped = 0;
  /** Time since the acknowledged segment in nanoseconds, -1 when the last `acknowledge` matched none. */
  rtt = -1;
  #words = new Int32Array(FIRST_POOL * ENTRY);
  #times = new Float64Array(this.#words.buffer);
  #free = -1;
  #used = 0;

  add(state: StreamState, row: number, end: number, now: number): void {
    const w = state.words;
    if (w[row + W.unacked]! >= MAX_A_SIDE) return;
    const at = this.#allocate();
    if (at < 0) {
      this.dropped++;
      return;
    }
    const p = this.#words;
    p[at * ENTRY + END] = end;
    p[at * ENTRY + LINK] = -1;
    this.#times[at * 2 + 1] = now;
    const newest = w[row + W.newest]!;
    if (newest < 0) {
      w[row + W.oldest] = at;
      w[row + W.marks]! &= ~SIDE.unsorted;
    } else {
      p[newest * ENTRY + LINK] = at;
      if (((end - p[newest * ENTRY + END]!) | 0) < 0) w[row + W.marks]! |= SIDE.unsorted;
    }
    w[row + W.newest] = at;
    w[row + W.unacked]!++;
  }

  /** Removes what `ack` covers from that side's list; leaves the RTT of the segment it matches exactly. */
  acknowledge(state: StreamState, row: number, ack: number, now: number): void {
    const w = state.words;
    this.rtt = -1;
    let at = w[row + W.oldest]!;
    if (at < 0) return;
    const p = this.#words;
    const sorted = (w[row + W.marks]! & SIDE.unsorted) === 0;
    let kept = -1;
    let match = Number.NaN;
    while (at >= 0) {
      const next = p[at * ENTRY + LINK]!;
      const ahead = (p[at * ENTRY + END]! - ack) | 0;
      if (ahead > 0) {
        if (sorted) break;
        kept = at;
      } else {
        // The reference walks from the newest, so the oldest exact match is the one that stays.
        if (ahead === 0 && Number.isNaN(match)) match = now - this.#times[at * 2 + 1]!;
        if (kept < 0) w[row + W.oldest] = next;
        else p[kept * ENTRY + LINK] = next;
        if (next < 0) w[row + W.newest] = kept;
        w[row + W.unacked]!--;
        p[at * ENTRY + LINK] = this.#free;
        this.#free = at;
      }
      at = next;
    }
    // No time passed, or the clock stepped back: no round trip was measured.
    if (match > 0) this.rtt = match;
  }

  releaseStream(state: StreamState, slot: number): void {
    this.#release(state, slot * STREAM_WORDS);
    this.#release(state, slot * STREAM_WORDS + SIDE_WORDS);
  }

  #release(state: StreamState, row: number): void {
    const w = state.words;
    for (let at = w[row + W.oldest]!; at >= 0; ) {
      const next = this.#words[at * ENTRY + LINK]!;
      this.#words[at * ENTRY + LINK] = this.#free;
      this.#free = at;
      at = next;
    }
    w[row + W.oldest] = -1;
    w[row + W.newest] = -1;
    w[row + W.unacked] = 0;
  }

  #allocate(): number {
    if (this.#free >= 0) {
      const at = this.#free;
      this.#free = this.#words[at * ENTRY + LINK]!;
      return at;
    }
    if (this.#used * ENTRY === this.#words.length) {
      const size = this.#used * 2;
      if (size > MAX_POOL) return -1;
      const words = new Int32Array(size * ENTRY);
      words.set(this.#words);
      this.#words = words;
      this.#times = new Float64Array(words.buffer);
    }
    return this.#used++;
  }
}
