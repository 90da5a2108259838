/**
 * What the sequence analysis remembers of every live TCP stream, in flat arrays. Each stream has two sides;
 * side 0 sends from the key's first endpoint. `row` is `(slot * 2 + side) * SIDE_WORDS`.
 */
export const SIDE_WORDS = 16;
export const W = {
  base: 0,
  /** Highest sequence number seen, plus one; 0 means none yet. */
  next: 1,
  /** End of the data seen without a hole: what the other side may acknowledge. */
  contiguous: 2,
  last_ack: 3,
  window: 4,
  /** Bits of `SIDE`. */
  marks: 5,
  duplicate_acks: 6,
  last_verdict: 7,
  window_scale: 8,
  /** Oldest and newest segment not acknowledged yet, as indices into the pool, -1 for none. */
  oldest: 9,
  newest: 10,
  unacked: 11,
  /** MPTCP operations of the last segment. */
  mptcp: 12,
} as const;

export const SIDE = {
  base_known: 1,
  saw_syn: 2,
  saw_synack: 4,
  /** The next pure ACK is the first since a SYN: its window is not scaled yet. */
  first_ack: 8,
  /** The segments waiting are not in order of their ends: search them all. */
  unsorted: 16,
} as const;

/** Times in nanoseconds since the first frame: two a side, and per stream those of the handshake. */
export const SIDE_TIMES = 2;
export const T = { next: 0, ack: 1 } as const;
export const STREAM_TIMES = 3;
export const S = { syn: 0, first_rtt: 1, previous: 2 } as const;

export const WINDOW_UNKNOWN = -1;
export const SCALE_UNKNOWN = -1;
export const SCALE_UNUSED = -2;

export class SequenceState {
  words = new Int32Array(0);
  times = new Float64Array(0);
  stream = new Float64Array(0);

  grow(slots: number): void {
    const words = new Int32Array(slots * 2 * SIDE_WORDS);
    words.set(this.words);
    this.words = words;
    const times = new Float64Array(slots * 2 * SIDE_TIMES);
    times.set(this.times);
    this.times = times;
    const stream = new Float64Array(slots * STREAM_TIMES);
    stream.set(this.stream);
    this.stream = stream;
  }

  /** A new conversation starts in this slot. */
  reset(slot: number, now: number): void {
    for (let side = 0; side < 2; side++) {
      const row = (slot * 2 + side) * SIDE_WORDS;
      this.words.fill(0, row, row + SIDE_WORDS);
      this.words[row + W.window] = WINDOW_UNKNOWN;
      this.words[row + W.window_scale] = SCALE_UNKNOWN;
      this.words[row + W.oldest] = -1;
      this.words[row + W.newest] = -1;
      const at = (slot * 2 + side) * SIDE_TIMES;
      // The reference starts from time zero of the epoch; for differences that is "very long ago".
      this.times[at + T.next] = Number.NEGATIVE_INFINITY;
      this.times[at + T.ack] = Number.NEGATIVE_INFINITY;
    }
    const at = slot * STREAM_TIMES;
    this.stream[at + S.syn] = Number.NaN;
    this.stream[at + S.first_rtt] = 0;
    this.stream[at + S.previous] = now;
  }
}
