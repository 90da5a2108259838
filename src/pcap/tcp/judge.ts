/**
 * The sequence analysis: what one segment means, given what both sides sent before. It follows the rules
 * published in the Wireshark user's guide ("TCP Analysis"), so that counters can be compared frame for frame.
 *
 * Order matters and is part of the rules:
 * 1. zero-window probe ends the look at flow control; keep-alive acks and probe acks do as well
 * 2. a segment is one of spurious, fast, out-of-order, retransmission, in that order
 * 3. what the segment changes is stored after it was judged
 */
import { TCP_FLAG, TCP_VERDICT } from '../decode/bits.ts';
import {
  D,
  I,
  N,
  SCALE_UNKNOWN,
  SIDE,
  SIDE_WORDS,
  STREAM_DOUBLES,
  STREAM_WORDS,
  type StreamState,
  W,
  X,
} from './stream-state.ts';
import type { UnackedPool } from './unacked.ts';

/** A fast retransmission follows the last duplicate ACK within this time. */
const FAST_WITHIN = 20_000_000;
/** Without a measured handshake, a segment this close after the newest is late rather than sent again. */
const LATE_WITHIN = 3_000_000;

/*
 * Sequence numbers are compared by the sign of a 32-bit difference, `((earlier - later) | 0) < 0`. The order of the
 * two matters when they are half the range apart: then each is later than the other, in the reference as well.
 */
const CONTROL = TCP_FLAG.syn | TCP_FLAG.fin | TCP_FLAG.rst;

export interface Segment {
  seq: number;
  ack: number;
  length: number;
  flags: number;
  window: number;
}

/** Answers the verdict bits; `given` are bits found before (reused ports). RTT of the ack is left in the pool, if there is one. */
export function judge(
  state: StreamState,
  pool: UnackedPool | undefined,
  slot: number,
  side: 0 | 1,
  s: Segment,
  now: number,
  given: number,
): number {
  const w = state.words;
  const d = state.doubles;
  const own = slot * STREAM_WORDS + side * SIDE_WORDS;
  const other = slot * STREAM_WORDS + (1 - side) * SIDE_WORDS;
  const ownTimes = own >> 1;
  const { seq, ack, length, flags, window } = s;
  const synOrFin = (flags & (TCP_FLAG.syn | TCP_FLAG.fin)) !== 0;

  learnBases(w, own, other, s);

  const next = w[own + W.next]!;
  let verdict = given;

  if (length === 1 && seq === next && w[other + W.window] === 0) verdict |= TCP_VERDICT.zero_window_probe;
  else {
    if (window === 0 && (flags & CONTROL) === 0) verdict |= TCP_VERDICT.zero_window;
    if (next !== 0 && ((next - seq) | 0) < 0 && (flags & TCP_FLAG.rst) === 0) {
      verdict |= TCP_VERDICT.lost_segment;
      const gap = (seq - next) | 0;
      if (gap > w[own + N.largest_gap]!) w[own + N.largest_gap] = gap;
    }
    if (length <= 1 && seq === ((next - 1) | 0) && (flags & CONTROL) === 0) verdict |= TCP_VERDICT.keep_alive;
    if (length === 0) {
      if (seq === next && ack === w[own + W.last_ack] && (flags & CONTROL) === 0)
        verdict |= repeatedAck(w, slot * STREAM_WORDS, own, other, s, window === w[own + W.window]);
    } else if ((flags & CONTROL) === 0 && fillsWindow(w, other, seq, length))
      verdict |= TCP_VERDICT.window_full;
  }

  if (ack !== w[own + W.last_ack]) w[own + W.duplicate_acks] = 0;
  if ((flags & TCP_FLAG.ack) !== 0) verdict |= ackOfUnseen(w, other, ack);

  if ((length > 0 || synOrFin) && (verdict & TCP_VERDICT.keep_alive) === 0) {
    // One byte behind with more to say is new data after a window probe, not a repetition.
    const behind = next !== 0 && ((seq - next) | 0) < 0 && !(length > 1 && ((next - 1) | 0) === seq);
    const otherAck = w[other + W.last_ack]!;
    if (length > 0 && otherAck !== 0 && ((seq + length - otherAck) | 0) <= 0)
      verdict |= TCP_VERDICT.spurious_retransmission;
    else if (behind) {
      const sinceAck = now - d[(other >> 1) + D.ack]!;
      const sinceNext = now - d[ownTimes + D.next]!;
      const firstRtt = d[slot * STREAM_DOUBLES + X.first_rtt]!;
      const late = firstRtt === 0 ? LATE_WITHIN : firstRtt;
      if (
        w[other + W.duplicate_acks]! >>> 0 >= 2 &&
        otherAck === seq &&
        sinceAck >= 0 &&
        sinceAck < FAST_WITHIN
      )
        verdict |= TCP_VERDICT.fast_retransmission;
      else if (soonerThan(sinceNext, late) && next !== ((seq + length + (synOrFin ? 1 : 0)) | 0))
        verdict |= TCP_VERDICT.out_of_order;
      else verdict |= TCP_VERDICT.retransmission;
    }
  }

  let end = (seq + length) | 0;
  if (length > 0 || synOrFin) {
    if (synOrFin) end = (end + 1) | 0;
    pool?.add(state, own, end, now);
  }
  if ((verdict & TCP_VERDICT.zero_window_probe) === 0) {
    if (((next - end) | 0) < 0 || next === 0) {
      w[own + W.next] = end;
      d[ownTimes + D.next] = now;
    }
    const contiguous = w[own + W.contiguous]!;
    if (seq === contiguous || contiguous === 0) w[own + W.contiguous] = w[own + W.next]!;
  }
  w[own + W.window] = window;
  w[own + W.last_ack] = ack;
  d[ownTimes + D.ack] = now;
  w[own + W.last_verdict] = verdict;
  w[own + W.mptcp] = w[slot * STREAM_WORDS + I.mptcp]!;
  pool?.acknowledge(state, other, ack, now);
  return verdict;
}

/** Clocks may step back. Durations are unsigned in the reference: a negative one is longer than any positive one. */
function soonerThan(duration: number, limit: number): boolean {
  return duration < 0 === limit < 0 ? duration < limit : limit < 0;
}

/** First sight of a side fixes where its numbers start; the other side's start shows in the ack. */
function learnBases(w: Int32Array, own: number, other: number, s: Segment): void {
  const marks = w[own + W.marks]!;
  if ((marks & SIDE.base_known) === 0) {
    if ((s.flags & TCP_FLAG.syn) !== 0) {
      w[own + W.base] = s.seq;
      w[own + W.marks] =
        marks | SIDE.base_known | ((s.flags & TCP_FLAG.ack) !== 0 ? SIDE.saw_synack : SIDE.saw_syn);
    } else {
      w[own + W.base] = (s.seq - 1) | 0;
      w[own + W.marks] = marks | SIDE.base_known;
    }
  }
  if ((s.flags & TCP_FLAG.ack) !== 0 && (w[other + W.marks]! & SIDE.base_known) === 0) {
    w[other + W.base] = (s.ack - 1) | 0;
    w[other + W.marks]! |= SIDE.base_known;
  }
}

/** An empty segment that repeats sequence and acknowledgement: update, keep-alive ack, probe ack or duplicate. */
function repeatedAck(
  w: Int32Array,
  stream: number,
  own: number,
  other: number,
  s: Segment,
  sameWindow: boolean,
): number {
  if (!sameWindow) return s.window !== 0 ? TCP_VERDICT.window_update : 0;
  const last = w[other + W.last_verdict]!;
  if (s.window === 0)
    return (last & TCP_VERDICT.zero_window_probe) !== 0 ? TCP_VERDICT.zero_window_probe_ack : 0;
  if ((last & TCP_VERDICT.keep_alive) !== 0) return TCP_VERDICT.keep_alive_ack;
  // MPTCP repeats acks on purpose when its own signalling changed.
  if (w[stream + I.mptcp] !== w[own + W.mptcp]) return 0;
  const count = w[own + W.duplicate_acks]!;
  w[own + W.duplicate_acks] = count === -1 ? 1 : count + 1;
  return TCP_VERDICT.duplicate_ack;
}

function fillsWindow(w: Int32Array, other: number, seq: number, length: number): boolean {
  const scale = w[other + W.window_scale]!;
  if (scale === SCALE_UNKNOWN) return false;
  const unscaled = (w[other + W.marks]! & SIDE.first_ack) !== 0 || scale < 0;
  const edge = w[other + W.last_ack]! + (w[other + W.window]! << (unscaled ? 0 : scale));
  return ((seq + length) | 0) === (edge | 0);
}

/** Acknowledges data the capture does not hold. Told once for every hole, not once for every ack. */
function ackOfUnseen(w: Int32Array, other: number, ack: number): number {
  const contiguous = w[other + W.contiguous]!;
  if (contiguous === 0 || ((contiguous - ack) | 0) >= 0) return 0;
  if (((contiguous - w[other + W.next]!) | 0) < 0) {
    w[other + W.contiguous] = w[other + W.next]!;
    return TCP_VERDICT.acked_unseen;
  }
  const told = w[other + W.duplicate_acks]! === 0 ? TCP_VERDICT.acked_unseen : 0;
  w[other + W.duplicate_acks] = -1;
  return told;
}
