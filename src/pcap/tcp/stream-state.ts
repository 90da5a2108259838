/**
 * Everything remembered of every live TCP stream: one block of 512 bytes each in one buffer, seen as 32-bit words
 * and as doubles. What an ordinary packet touches lies together in four cache lines of 64 bytes.
 *
 * A block has two sides of 256 bytes; side 0 sends from the key's first endpoint. Lines of a side: the sequence
 * analysis (`W`); counts and doubles of every packet (`N`, `D`); rarer counts; and the stream's own fields, those
 * of every packet with side 0 (`I`, `X` below 32), the others with side 1.
 */
export const SIDE_WORDS = 64;
export const SIDE_DOUBLES = 32;
export const STREAM_WORDS = SIDE_WORDS * 2;
export const STREAM_DOUBLES = SIDE_DOUBLES * 2;

/** The sequence analysis of one side. */
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
  /** MPTCP operations the stream had shown at this side's last segment. */
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

/** Counts of one side: the first six with every packet, the others when something happens. */
export const N = {
  packets: 16,
  ttl_first: 17,
  ttl_min: 18,
  ttl_max: 19,
  largest: 20,
  mss: 21,
  ttl_rst: 32,
  retransmissions: 33,
  fast: 34,
  spurious: 35,
  duplicate_acks: 36,
  out_of_order: 37,
  lost: 38,
  zero_windows: 39,
  window_full: 40,
  keep_alives: 41,
  syn: 42,
  fin: 43,
  rst: 44,
  largest_again: 45,
  largest_gap: 46,
} as const;

/** Doubles of one side (times in nanoseconds since the first frame). */
export const D = { next: 11, ack: 12, bytes: 13, payload: 14, zero_since: 15, zero_longest: 23 } as const;

/** Words of the stream. */
export const I = {
  marks: 48,
  last_frame: 49,
  /** Durations kept of the stream: three words each, see `SampleChains`. */
  deltas: 50,
  rtts: 53,
  /** MPTCP operations so far, a bit each; 0 for ordinary TCP. In the first line of side 0: every packet reads it. */
  mptcp: 13,
  id: SIDE_WORDS + 48,
  first_frame: SIDE_WORDS + 49,
  syn_frame: SIDE_WORDS + 50,
  syn_retries: SIDE_WORDS + 51,
  issues: SIDE_WORDS + 52,
} as const;

/** Doubles of the stream. */
export const X = {
  previous: 28,
  last: 29,
  delta_sum: 30,
  rtt_sum: 31,
  syn: SIDE_DOUBLES + 28,
  first_rtt: SIDE_DOUBLES + 29,
  first: SIDE_DOUBLES + 30,
  handshake: SIDE_DOUBLES + 31,
} as const;

/** Bits of `I.marks`. */
export const MARK = {
  syn: 1,
  synack: 2,
  established: 4,
  /** The client is side 1. */
  client_1: 8,
  fin: 16,
  rst: 32,
  /** The first RST came from side 1. */
  rst_side_1: 64,
  data_0: 128,
  data_1: 256,
  seen_0: 512,
  seen_1: 1024,
  df_0: 2048,
  df_1: 4096,
  /** A SYN's time is known, and so is the first round trip: no need to look at either. */
  syn_timed: 8192,
  rtt_known: 16_384,
} as const;

export const WINDOW_UNKNOWN = -1;
export const SCALE_UNKNOWN = -1;
export const SCALE_UNUSED = -2;

/** Frames worth looking at: made for streams with issues only. */
export interface IssueNotes {
  readonly sample: number[];
  readonly retransmissions: number[];
  readonly zeroWindows: number[];
  readonly syns: number[];
  readonly resets: number[];
}

export class StreamState {
  words = new Int32Array(0);
  doubles = new Float64Array(0);
  readonly notes = new Map<number, IssueNotes>();

  grow(slots: number): void {
    const words = new Int32Array(slots * STREAM_WORDS);
    words.set(this.words);
    this.words = words;
    this.doubles = new Float64Array(words.buffer);
  }

  /** A new conversation starts in this slot. */
  reset(slot: number, id: number, frame: number, now: number): void {
    const at = slot * STREAM_WORDS;
    const w = this.words;
    const d = this.doubles;
    w.fill(0, at, at + STREAM_WORDS);
    for (let row = at; row < at + STREAM_WORDS; row += SIDE_WORDS) {
      w[row + W.window] = WINDOW_UNKNOWN;
      w[row + W.window_scale] = SCALE_UNKNOWN;
      w[row + W.oldest] = -1;
      w[row + W.newest] = -1;
      const column = row >> 1;
      // Nothing happened yet: for differences that is "very long ago".
      d[column + D.next] = Number.NEGATIVE_INFINITY;
      d[column + D.ack] = Number.NEGATIVE_INFINITY;
      d[column + D.zero_since] = -1;
    }
    w[at + I.id] = id;
    w[at + I.first_frame] = frame;
    w[at + I.last_frame] = frame;
    w[at + I.deltas] = -1;
    w[at + I.rtts] = -1;
    const column = slot * STREAM_DOUBLES;
    d[column + X.syn] = Number.NaN;
    d[column + X.first_rtt] = 0;
    d[column + X.previous] = now;
    d[column + X.first] = now;
    d[column + X.last] = now;
    d[column + X.handshake] = -1;
    this.notes.delete(slot);
  }

  noteOf(slot: number): IssueNotes {
    let notes = this.notes.get(slot);
    if (notes === undefined) {
      notes = { sample: [], retransmissions: [], zeroWindows: [], syns: [], resets: [] };
      this.notes.set(slot, notes);
    }
    return notes;
  }
}
