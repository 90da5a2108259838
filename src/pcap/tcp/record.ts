/** Counts one segment into its stream, its side and the totals. */
import { TCP_FLAG, TCP_VERDICT } from '../decode/bits.ts';
import type { Engine } from '../engine.ts';
import { S, STREAM_TIMES } from './sequence-state.ts';
import { B, I, MARK, N, SIDE_COUNTS, SIDE_SUMS, STREAM_SUMS, STREAM_WORDS, X } from './stream-stats.ts';
import type { TcpTracker } from './tracker.ts';

const ISSUES =
  TCP_VERDICT.retransmission |
  TCP_VERDICT.fast_retransmission |
  TCP_VERDICT.spurious_retransmission |
  TCP_VERDICT.out_of_order |
  TCP_VERDICT.lost_segment |
  TCP_VERDICT.duplicate_ack |
  TCP_VERDICT.zero_window |
  TCP_VERDICT.window_full;
const AGAIN =
  TCP_VERDICT.retransmission | TCP_VERDICT.fast_retransmission | TCP_VERDICT.spurious_retransmission;
const MAX_FRAMES = 5;
const MILLISECOND = 1e6;

export function record(
  t: TcpTracker,
  e: Engine,
  slot: number,
  side: 0 | 1,
  verdict: number,
  mss: number,
): void {
  const { stats } = t;
  const c = stats.counts;
  const n = (slot * 2 + side) * SIDE_COUNTS;
  const sums = stats.sums;
  const x = (slot * 2 + side) * SIDE_SUMS;
  const w = stats.words;
  const i = slot * STREAM_WORDS;
  const times = stats.times;
  const { flags, length, window } = e.segment;
  const now = e.time;

  if (c[n + N.packets]!++ === 0) {
    c[n + N.ttl_first] = e.ttl;
    c[n + N.ttl_min] = e.ttl;
    c[n + N.ttl_max] = e.ttl;
  } else if (e.ttl < c[n + N.ttl_min]!) c[n + N.ttl_min] = e.ttl;
  else if (e.ttl > c[n + N.ttl_max]!) c[n + N.ttl_max] = e.ttl;
  sums[x + B.bytes]! += e.wireLength;
  if (length > 0) {
    sums[x + B.payload]! += length;
    if (length > c[n + N.largest]!) c[n + N.largest] = length;
  }
  let marks = w[i + I.marks]! | (side === 0 ? MARK.seen_0 : MARK.seen_1);
  if (e.dontFragment) marks |= side === 0 ? MARK.df_0 : MARK.df_1;
  if (length > 0) marks |= side === 0 ? MARK.data_0 : MARK.data_1;

  const at = slot * STREAM_TIMES + S.previous;
  const previous = t.state.stream[at]!;
  t.state.stream[at] = now;
  if (now !== previous || c[n + N.packets]! > 1)
    t.deltas.add(slot, Math.max(0, now - previous) / MILLISECOND);
  if (now > times[slot * STREAM_SUMS + X.last]!) times[slot * STREAM_SUMS + X.last] = now;
  if (t.pool.rtt >= 0) {
    const ms = t.pool.rtt / MILLISECOND;
    t.rtts.add(slot, ms);
    t.summary.ackRtt.add(ms);
    e.series.rtt(now, ms);
  }
  if ((flags & (TCP_FLAG.syn | TCP_FLAG.fin | TCP_FLAG.rst)) !== 0)
    marks = control(t, e, slot, side, marks, mss);
  else if ((marks & (MARK.synack | MARK.established)) === MARK.synack && (flags & TCP_FLAG.ack) !== 0) {
    const client = (marks & MARK.client_1) !== 0 ? 1 : 0;
    if (side === client) {
      marks |= MARK.established;
      const syn = t.state.stream[slot * STREAM_TIMES + S.syn]!;
      if (!Number.isNaN(syn)) times[slot * STREAM_SUMS + X.handshake] = Math.max(0, now - syn);
    }
  }
  w[i + I.marks] = marks;

  if (window === 0 && (flags & (TCP_FLAG.syn | TCP_FLAG.rst | TCP_FLAG.fin)) === 0) {
    if (sums[x + B.zero_since]! < 0) sums[x + B.zero_since] = now;
  } else if (sums[x + B.zero_since]! >= 0) {
    const lasted = now - sums[x + B.zero_since]!;
    if (lasted > sums[x + B.zero_longest]!) sums[x + B.zero_longest] = lasted;
    sums[x + B.zero_since] = -1;
  }
  if (verdict !== 0) verdicts(t, e, slot, n, i, verdict, length);
}

/** SYN, FIN and RST move the stream's story on. */
function control(t: TcpTracker, e: Engine, slot: number, side: 0 | 1, before: number, mss: number): number {
  const c = t.stats.counts;
  const n = (slot * 2 + side) * SIDE_COUNTS;
  const i = slot * STREAM_WORDS;
  const w = t.stats.words;
  const flags = e.segment.flags;
  let marks = before;
  if ((flags & TCP_FLAG.syn) !== 0) {
    c[n + N.syn]!++;
    if (mss > 0) c[n + N.mss] = mss;
    if ((flags & TCP_FLAG.ack) === 0) {
      if ((marks & MARK.syn) === 0) {
        marks |= MARK.syn | (side === 1 ? MARK.client_1 : 0);
        w[i + I.syn_frame] = e.frameNumber;
      } else {
        w[i + I.syn_retries]!++;
        push(t.stats.noteOf(slot).syns, e.frameNumber);
      }
    } else {
      if ((marks & (MARK.syn | MARK.synack)) === 0) marks |= side === 0 ? MARK.client_1 : 0;
      marks |= MARK.synack;
    }
  }
  if ((flags & TCP_FLAG.fin) !== 0) {
    c[n + N.fin]!++;
    marks |= MARK.fin;
  }
  if ((flags & TCP_FLAG.rst) !== 0) {
    c[n + N.rst]!++;
    c[n + N.ttl_rst] = e.ttl;
    if ((marks & MARK.rst) === 0) marks |= MARK.rst | (side === 1 ? MARK.rst_side_1 : 0);
    w[i + I.issues]!++;
    const notes = t.stats.noteOf(slot);
    push(notes.resets, e.frameNumber);
    push(notes.sample, e.frameNumber);
    e.series.reset(e.time);
  }
  return marks;
}

function verdicts(
  t: TcpTracker,
  e: Engine,
  slot: number,
  n: number,
  i: number,
  verdict: number,
  length: number,
): void {
  t.summary.count(verdict);
  const c = t.stats.counts;
  if ((verdict & TCP_VERDICT.keep_alive) !== 0) c[n + N.keep_alives]!++;
  if ((verdict & ISSUES) === 0) return;
  const notes = t.stats.noteOf(slot);
  push(notes.sample, e.frameNumber);
  t.stats.words[i + I.issues]!++;
  if ((verdict & AGAIN) !== 0) {
    c[n + N.retransmissions]!++;
    if ((verdict & TCP_VERDICT.fast_retransmission) !== 0) c[n + N.fast]!++;
    if ((verdict & TCP_VERDICT.spurious_retransmission) !== 0) c[n + N.spurious]!++;
    if (length > c[n + N.largest_again]!) c[n + N.largest_again] = length;
    push(notes.retransmissions, e.frameNumber);
    e.series.retransmission(e.time);
  }
  if ((verdict & TCP_VERDICT.duplicate_ack) !== 0) c[n + N.duplicate_acks]!++;
  if ((verdict & TCP_VERDICT.out_of_order) !== 0) c[n + N.out_of_order]!++;
  if ((verdict & TCP_VERDICT.lost_segment) !== 0) c[n + N.lost]!++;
  if ((verdict & TCP_VERDICT.window_full) !== 0) c[n + N.window_full]!++;
  if ((verdict & TCP_VERDICT.zero_window) !== 0) {
    c[n + N.zero_windows]!++;
    push(notes.zeroWindows, e.frameNumber);
    e.series.zeroWindow(e.time);
  }
}

function push(frames: number[], frame: number): void {
  if (frames.length < MAX_FRAMES) frames.push(frame);
}
