/** Counts one segment into its stream, its side and the totals. */
import { TCP_FLAG, TCP_VERDICT } from '../decode/bits.ts';
import type { Engine } from '../engine.ts';
import { D, I, MARK, N, SIDE_WORDS, STREAM_DOUBLES, STREAM_WORDS, X } from './stream-state.ts';
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
  const { words: w, doubles: d } = t.state;
  const i = slot * STREAM_WORDS;
  const n = i + side * SIDE_WORDS;
  const x = n >> 1;
  const s = slot * STREAM_DOUBLES;
  const { flags, length, window } = e.segment;
  const now = e.time;

  if (w[n + N.packets]!++ === 0) {
    w[n + N.ttl_first] = e.ttl;
    w[n + N.ttl_min] = e.ttl;
    w[n + N.ttl_max] = e.ttl;
  } else if (e.ttl < w[n + N.ttl_min]!) w[n + N.ttl_min] = e.ttl;
  else if (e.ttl > w[n + N.ttl_max]!) w[n + N.ttl_max] = e.ttl;
  d[x + D.bytes]! += e.wireLength;
  if (length > 0) {
    d[x + D.payload]! += length;
    if (length > w[n + N.largest]!) w[n + N.largest] = length;
  }
  let marks = w[i + I.marks]! | (side === 0 ? MARK.seen_0 : MARK.seen_1);
  if (e.dontFragment) marks |= side === 0 ? MARK.df_0 : MARK.df_1;
  if (length > 0) marks |= side === 0 ? MARK.data_0 : MARK.data_1;

  const previous = d[s + X.previous]!;
  d[s + X.previous] = now;
  if (now !== previous || w[n + N.packets]! > 1)
    t.samples.add(w, i + I.deltas, d, s + X.delta_sum, Math.max(0, now - previous) / MILLISECOND);
  if (now > d[s + X.last]!) d[s + X.last] = now;
  if (t.pool.rtt >= 0) {
    const ms = t.pool.rtt / MILLISECOND;
    t.samples.add(w, i + I.rtts, d, s + X.rtt_sum, ms);
    t.summary.ackRtt.add(ms);
    e.series.rtt(now, ms);
  }
  if ((flags & (TCP_FLAG.syn | TCP_FLAG.fin | TCP_FLAG.rst)) !== 0)
    marks = control(t, e, slot, side, marks, mss);
  else if ((marks & (MARK.synack | MARK.established)) === MARK.synack && (flags & TCP_FLAG.ack) !== 0) {
    const client = (marks & MARK.client_1) !== 0 ? 1 : 0;
    if (side === client) {
      marks |= MARK.established;
      const syn = d[s + X.syn]!;
      if ((marks & MARK.syn) !== 0) d[s + X.handshake] = Math.max(0, now - syn);
    }
  }
  w[i + I.marks] = marks;

  if (window === 0 && (flags & (TCP_FLAG.syn | TCP_FLAG.rst | TCP_FLAG.fin)) === 0) {
    if (d[x + D.zero_since]! < 0) d[x + D.zero_since] = now;
  } else if (d[x + D.zero_since]! >= 0) {
    const lasted = now - d[x + D.zero_since]!;
    if (lasted > d[x + D.zero_longest]!) d[x + D.zero_longest] = lasted;
    d[x + D.zero_since] = -1;
  }
  if (verdict !== 0) verdicts(t, e, slot, n, i, verdict, length);
}

/** SYN, FIN and RST move the stream's story on. */
function control(t: TcpTracker, e: Engine, slot: number, side: 0 | 1, before: number, mss: number): number {
  const w = t.state.words;
  const i = slot * STREAM_WORDS;
  const n = i + side * SIDE_WORDS;
  const flags = e.segment.flags;
  let marks = before;
  if ((flags & TCP_FLAG.syn) !== 0) {
    w[n + N.syn]!++;
    if (mss > 0) w[n + N.mss] = mss;
    if ((flags & TCP_FLAG.ack) === 0) {
      if ((marks & MARK.syn) === 0) {
        marks |= MARK.syn | (side === 1 ? MARK.client_1 : 0);
        w[i + I.syn_frame] = e.frameNumber;
      } else {
        w[i + I.syn_retries]!++;
        push(t.state.noteOf(slot).syns, e.frameNumber);
      }
    } else {
      if ((marks & (MARK.syn | MARK.synack)) === 0) marks |= side === 0 ? MARK.client_1 : 0;
      marks |= MARK.synack;
    }
  }
  if ((flags & TCP_FLAG.fin) !== 0) {
    w[n + N.fin]!++;
    marks |= MARK.fin;
  }
  if ((flags & TCP_FLAG.rst) !== 0) {
    w[n + N.rst]!++;
    w[n + N.ttl_rst] = e.ttl;
    if ((marks & MARK.rst) === 0) marks |= MARK.rst | (side === 1 ? MARK.rst_side_1 : 0);
    w[i + I.issues]!++;
    const notes = t.state.noteOf(slot);
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
  const w = t.state.words;
  if ((verdict & TCP_VERDICT.keep_alive) !== 0) w[n + N.keep_alives]!++;
  if ((verdict & ISSUES) === 0) return;
  const notes = t.state.noteOf(slot);
  push(notes.sample, e.frameNumber);
  w[i + I.issues]!++;
  if ((verdict & AGAIN) !== 0) {
    w[n + N.retransmissions]!++;
    if ((verdict & TCP_VERDICT.fast_retransmission) !== 0) w[n + N.fast]!++;
    if ((verdict & TCP_VERDICT.spurious_retransmission) !== 0) w[n + N.spurious]!++;
    if (length > w[n + N.largest_again]!) w[n + N.largest_again] = length;
    push(notes.retransmissions, e.frameNumber);
    e.series.retransmission(e.time);
  }
  if ((verdict & TCP_VERDICT.duplicate_ack) !== 0) w[n + N.duplicate_acks]!++;
  if ((verdict & TCP_VERDICT.out_of_order) !== 0) w[n + N.out_of_order]!++;
  if ((verdict & TCP_VERDICT.lost_segment) !== 0) w[n + N.lost]!++;
  if ((verdict & TCP_VERDICT.window_full) !== 0) w[n + N.window_full]!++;
  if ((verdict & TCP_VERDICT.zero_window) !== 0) {
    w[n + N.zero_windows]!++;
    push(notes.zeroWindows, e.frameNumber);
    e.series.zeroWindow(e.time);
  }
}

function push(frames: number[], frame: number): void {
  if (frames.length < MAX_FRAMES) frames.push(frame);
}
