/** What the report wants of every live stream, in flat arrays beside the sequence state. */
export const SIDE_COUNTS = 20;
export const N = {
  packets: 0,
  retransmissions: 1,
  fast: 2,
  spurious: 3,
  duplicate_acks: 4,
  out_of_order: 5,
  lost: 6,
  zero_windows: 7,
  window_full: 8,
  keep_alives: 9,
  syn: 10,
  fin: 11,
  rst: 12,
  largest: 13,
  largest_again: 14,
  mss: 15,
  ttl_first: 16,
  ttl_min: 17,
  ttl_max: 18,
  ttl_rst: 19,
} as const;

export const SIDE_SUMS = 4;
export const B = { bytes: 0, payload: 1, zero_since: 2, zero_longest: 3 } as const;

export const STREAM_WORDS = 6;
export const I = { id: 0, marks: 1, first_frame: 2, syn_frame: 3, syn_retries: 4, issues: 5 } as const;
export const STREAM_SUMS = 3;
export const X = { first: 0, last: 1, handshake: 2 } as const;

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
} as const;

/** Frames worth looking at: made for streams with issues only. */
export interface IssueNotes {
  readonly sample: number[];
  readonly retransmissions: number[];
  readonly zeroWindows: number[];
  readonly syns: number[];
  readonly resets: number[];
}

export class StreamStats {
  counts = new Uint32Array(0);
  sums = new Float64Array(0);
  words = new Uint32Array(0);
  times = new Float64Array(0);
  readonly notes = new Map<number, IssueNotes>();

  grow(slots: number): void {
    const counts = new Uint32Array(slots * 2 * SIDE_COUNTS);
    counts.set(this.counts);
    this.counts = counts;
    const sums = new Float64Array(slots * 2 * SIDE_SUMS);
    sums.set(this.sums);
    this.sums = sums;
    const words = new Uint32Array(slots * STREAM_WORDS);
    words.set(this.words);
    this.words = words;
    const times = new Float64Array(slots * STREAM_SUMS);
    times.set(this.times);
    this.times = times;
  }

  reset(slot: number, id: number, frame: number, now: number): void {
    this.counts.fill(0, slot * 2 * SIDE_COUNTS, (slot * 2 + 2) * SIDE_COUNTS);
    this.sums.fill(0, slot * 2 * SIDE_SUMS, (slot * 2 + 2) * SIDE_SUMS);
    this.sums[slot * 2 * SIDE_SUMS + B.zero_since] = -1;
    this.sums[(slot * 2 + 1) * SIDE_SUMS + B.zero_since] = -1;
    const at = slot * STREAM_WORDS;
    this.words.fill(0, at, at + STREAM_WORDS);
    this.words[at + I.id] = id;
    this.words[at + I.first_frame] = frame;
    this.times[slot * STREAM_SUMS + X.first] = now;
    this.times[slot * STREAM_SUMS + X.last] = now;
    this.times[slot * STREAM_SUMS + X.handshake] = -1;
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
