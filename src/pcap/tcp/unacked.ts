/**
 * Segments that wait for their acknowledgement, all streams in one pool of flat arrays: linked from the oldest
 * to the newest. They give the round-trip time; nothing else depends on them, so a full pool only loses RTTs.
 */
import { SIDE, SIDE_WORDS, STREAM_WORDS, type StreamState, W } from './stream-state.ts';

/** Most segments one side may have waiting, and all sides together. */
const MAX_A_SIDE = 10_000;
const MAX_POOL = 1 << 20;
const FIRST_POOL = 4096;

export class UnackedPool {
  dropped = 0;
  /** Time since the acknowledged segment in nanoseconds, -1 when the last `acknowledge` matched none. */
  rtt = -1;
  #ends = new Int32Array(FIRST_POOL);
  #times = new Float64Array(FIRST_POOL);
  #links = new Int32Array(FIRST_POOL);
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
    this.#ends[at] = end;
    this.#times[at] = now;
    this.#links[at] = -1;
    const newest = w[row + W.newest]!;
    if (newest < 0) {
      w[row + W.oldest] = at;
      w[row + W.marks]! &= ~SIDE.unsorted;
    } else {
      this.#links[newest] = at;
      if (((end - this.#ends[newest]!) | 0) < 0) w[row + W.marks]! |= SIDE.unsorted;
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
    const sorted = (w[row + W.marks]! & SIDE.unsorted) === 0;
    let kept = -1;
    let match = Number.NaN;
    while (at >= 0) {
      const next = this.#links[at]!;
      const ahead = (this.#ends[at]! - ack) | 0;
      if (ahead > 0) {
        if (sorted) break;
        kept = at;
      } else {
        // The reference walks from the newest, so the oldest exact match is the one that stays.
        if (ahead === 0 && Number.isNaN(match)) match = now - this.#times[at]!;
        if (kept < 0) w[row + W.oldest] = next;
        else this.#links[kept] = next;
        if (next < 0) w[row + W.newest] = kept;
        w[row + W.unacked]!--;
        this.#links[at] = this.#free;
        this.#free = at;
      }
      at = next;
    }
    // No time passed, or the clock stepped back: no round trip was measured.
    if (match > 0) this.rtt = match;
  }

  /** Gives a side's list back. */
  release(state: StreamState, row: number): void {
    const w = state.words;
    for (let at = w[row + W.oldest]!; at >= 0; ) {
      const next = this.#links[at]!;
      this.#links[at] = this.#free;
      this.#free = at;
      at = next;
    }
    w[row + W.oldest] = -1;
    w[row + W.newest] = -1;
    w[row + W.unacked] = 0;
  }

  releaseStream(state: StreamState, slot: number): void {
    this.release(state, slot * STREAM_WORDS);
    this.release(state, slot * STREAM_WORDS + SIDE_WORDS);
  }

  #allocate(): number {
    if (this.#free >= 0) {
      const at = this.#free;
      this.#free = this.#links[at]!;
      return at;
    }
    if (this.#used === this.#ends.length) {
      const size = this.#used * 2;
      if (size > MAX_POOL) return -1;
      const ends = new Int32Array(size);
      ends.set(this.#ends);
      const times = new Float64Array(size);
      times.set(this.#times);
      const links = new Int32Array(size);
      links.set(this.#links);
      this.#ends = ends;
      this.#times = times;
      this.#links = links;
    }
    return this.#used++;
  }
}
