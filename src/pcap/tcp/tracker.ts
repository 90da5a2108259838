/**
 * TCP streams: finds the conversation of a segment, has it judged, keeps what reports want.
 *
 * Invariants:
 * 1. A SYN that starts from another number than the stream's opens a new stream under the same endpoints; one
 *    that starts from the same number is the same attempt again.
 * 2. Segments quoted in ICMP errors and cut fragments belong to a stream but are never judged.
 * 3. Streams are bounded (`FlowTable`); one that is given up is folded into the summary first.
 */
import { TCP_FLAG, TCP_VERDICT } from '../decode/bits.ts';
import type { Engine } from '../engine.ts';
import { FlowTable } from './flow-table.ts';
import { judge } from './judge.ts';
import { MultipathTcp } from './mptcp.ts';
import { MPTCP, readOptions, TcpOptions } from './options.ts';
import { TcpPayloads } from './payload.ts';
import { record } from './record.ts';
import { SampleChains } from './sample-chains.ts';
import {
  I,
  MARK,
  SCALE_UNKNOWN,
  SCALE_UNUSED,
  SIDE,
  SIDE_WORDS,
  STREAM_DOUBLES,
  STREAM_WORDS,
  StreamState,
  W,
  X,
} from './stream-state.ts';
import { TcpSummary } from './summary.ts';
import { UnackedPool } from './unacked.ts';

export const MAX_STREAMS = 131_072;
/** A header with a timestamp and nothing else. */
const PLAIN_HEADER = 32;

export class TcpTracker {
  readonly state = new StreamState();
  readonly pool = new UnackedPool();
  readonly samples = new SampleChains();
  readonly options = new TcpOptions();
  readonly payloads = new TcpPayloads();
  readonly multipath = new MultipathTcp(this.state);
  readonly summary: TcpSummary;
  readonly table: FlowTable;
  streams = 0;
  /** Stream and side of the segment in hand, and what the analysis says of it. */
  slot = -1;
  side: 0 | 1 = 0;
  verdict = 0;

  readonly clock: { epoch(time: number): number };

  constructor(clock: { epoch(time: number): number }) {
    this.clock = clock;
    this.summary = new TcpSummary(this);
    this.table = new FlowTable(MAX_STREAMS, {
      grow: (slots) => this.state.grow(slots),
      evict: (slot) => this.#close(slot),
      lastFrame: (slot) => this.state.words[slot * STREAM_WORDS + I.last_frame]!,
    });
  }

  segment(e: Engine, b: Uint8Array, o: number, end: number, header: number, analysed: boolean): void {
    const s = e.segment;
    const side = this.table.direction(e);
    let slot = this.table.find(e, side);
    let verdict = 0;
    if (slot < 0) {
      slot = this.table.insert();
      this.#open(slot, e);
    } else {
      this.state.words[slot * STREAM_WORDS + I.last_frame] = e.frameNumber;
      if ((s.flags & TCP_FLAG.syn) !== 0) verdict = this.#again(e, slot, side);
    }
    this.slot = slot;
    this.side = side;
    const w = this.state.words;
    const own = slot * STREAM_WORDS + side * SIDE_WORDS;
    this.pool.rtt = -1;
    if (analysed)
      verdict = judge(this.state, e.facts ? this.pool : undefined, slot, side, s, e.time, verdict);
    this.verdict = verdict;
    if (header < 20) return;
    this.#handshakeTimes(e, slot, own);
    // Options come after the verdict: what they say holds from the next segment on.
    let shown = o + header <= end;
    let mss = 0;
    // Besides those of SYNs only options of MPTCP matter: first, or behind a timestamp.
    const more = header > PLAIN_HEADER || (header > 20 && shown && b[o + 20] === MPTCP);
    if ((s.flags & TCP_FLAG.syn) !== 0 || !shown || more || w[slot * STREAM_WORDS + I.mptcp] !== 0) {
      shown = o + 20 <= end && readOptions(this.options, b, o + 20, o + header, end);
      mss = this.options.mss;
      if (shown && this.options.mptcp >= 0) this.multipath.options(slot, b, this.options.mptcp, o + header);
    }
    if ((s.flags & TCP_FLAG.syn) !== 0) {
      if (this.options.windowScale >= 0) w[own + W.window_scale] = this.options.windowScale;
      if (shown)
        this.#verifyScaling(
          own,
          slot * STREAM_WORDS + (1 - side) * SIDE_WORDS,
          (s.flags & TCP_FLAG.ack) !== 0,
        );
    }
    // A header cut before its end hides the verdict, as it does in the reference.
    if (shown) e.tcpBits |= verdict;
    if (e.facts && e.errorDepth === 0) record(this, e, slot, side, verdict, mss);
  }

  payload(e: Engine, b: Uint8Array, o: number, end: number, wire: number, analysed: boolean): void {
    this.payloads.take(e, this, b, o, end, wire, analysed);
  }

  /** Folds every live stream into the summary. */
  finish(): void {
    this.summary.finish(this.table.live());
  }

  #open(slot: number, e: Engine): void {
    this.state.reset(slot, this.streams++, e.frameNumber, e.time);
    this.payloads.forget(slot);
    this.multipath.forget(slot);
  }

  #close(slot: number): void {
    this.summary.fold(slot);
    this.pool.releaseStream(this.state, slot);
    this.samples.release(this.state.words, slot * STREAM_WORDS + I.deltas);
    this.samples.release(this.state.words, slot * STREAM_WORDS + I.rtts);
    this.state.notes.delete(slot);
    this.payloads.forget(slot);
  }

  /** A SYN on a known stream: reused ports, or the same attempt again. */
  #again(e: Engine, slot: number, side: 0 | 1): number {
    const s = e.segment;
    const w = this.state.words;
    const own = slot * STREAM_WORDS + side * SIDE_WORDS;
    if ((w[own + W.marks]! & SIDE.base_known) === 0) return 0;
    if ((s.flags & TCP_FLAG.ack) !== 0) {
      if (s.seq === w[own + W.base]) return 0;
      w[own + W.base] = s.seq;
      return TCP_VERDICT.ports_reused;
    }
    if (s.seq === w[own + W.base]) {
      w[own + W.next] = w[own + W.contiguous]!;
      return 0;
    }
    this.#close(slot);
    this.#open(slot, e);
    return TCP_VERDICT.ports_reused;
  }

  /** Times of the handshake: the last SYN, and the first acknowledgement after it. */
  #handshakeTimes(e: Engine, slot: number, own: number): void {
    const flags = e.segment.flags;
    const { words: w, doubles: d } = this.state;
    const at = slot * STREAM_WORDS + I.marks;
    const x = slot * STREAM_DOUBLES;
    if ((flags & TCP_FLAG.syn) !== 0) {
      w[own + W.marks]! |= SIDE.first_ack;
      if ((flags & TCP_FLAG.ack) !== 0) return;
      d[x + X.syn] = e.time;
      // Time zero of the epoch reads as "not set" in the reference.
      if (e.isEpochZero) w[at]! &= ~MARK.syn_timed;
      else w[at]! |= MARK.syn_timed;
      return;
    }
    if ((flags & TCP_FLAG.ack) === 0) return;
    if ((w[at]! & (MARK.syn_timed | MARK.rtt_known)) === MARK.syn_timed) {
      const rtt = e.time - d[x + X.syn]!;
      d[x + X.first_rtt] = rtt;
      if (rtt !== 0) w[at]! |= MARK.rtt_known;
    }
    w[own + W.marks]! &= ~SIDE.first_ack;
  }

  /** Window scaling holds only when both SYNs offered it. */
  #verifyScaling(own: number, other: number, synack: boolean): void {
    const w = this.state.words;
    if (w[own + W.window_scale] === SCALE_UNKNOWN) {
      w[own + W.window_scale] = SCALE_UNUSED;
      w[other + W.window_scale] = SCALE_UNUSED;
    } else if (synack && w[other + W.window_scale] === SCALE_UNUSED) w[own + W.window_scale] = SCALE_UNUSED;
  }
}
