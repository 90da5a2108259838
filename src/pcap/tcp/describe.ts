/** One stream's flat state as the record rules and reports read. */
import type { TcpOutcome, TcpSide, TcpStream } from '../analysis.ts';
import { addressText } from '../facts/text.ts';
import type { Endpoints } from './flow-table.ts';
import { D, I, MARK, N, SIDE_WORDS, STREAM_DOUBLES, STREAM_WORDS, X } from './stream-state.ts';
import type { TcpTracker } from './tracker.ts';

const MILLISECOND = 1e6;

export function describeStream(t: TcpTracker, slot: number): TcpStream {
  const { words, doubles, notes: allNotes } = t.state;
  const ends: Endpoints = {
    src: new Int32Array(4),
    dst: new Int32Array(4),
    family: 4,
    srcPort: 0,
    dstPort: 0,
  };
  t.table.endpoints(slot, ends);
  const first = { address: addressText(ends.src, ends.family), port: ends.srcPort };
  const second = { address: addressText(ends.dst, ends.family), port: ends.dstPort };
  const i = slot * STREAM_WORDS;
  const marks = words[i + I.marks]!;
  // Side 0 sends from the first endpoint of the key.
  const clientSide = clientOf(marks, ends);
  const notes = allNotes.get(slot);
  const times = slot * STREAM_DOUBLES;
  const started = doubles[times + X.first]!;
  const ended = doubles[times + X.last]!;
  const handshake = doubles[times + X.handshake]!;
  const synFrame = words[i + I.syn_frame]!;
  const rstSide = (marks & MARK.rst_side_1) !== 0 ? 1 : 0;
  const resets = notes?.resets ?? [];
  return {
    stream_id: words[i + I.id]!,
    client: clientSide === 0 ? first : second,
    server: clientSide === 0 ? second : first,
    from_client: sideOf(t, slot, clientSide),
    from_server: sideOf(t, slot, clientSide === 0 ? 1 : 0),
    outcome: outcomeOf(marks),
    closed_by: (marks & MARK.rst) !== 0 ? 'rst' : (marks & MARK.fin) !== 0 ? 'fin' : 'open',
    rst_by: (marks & MARK.rst) === 0 ? 'none' : rstSide === clientSide ? 'client' : 'server',
    rst_frames: [...resets],
    syn_frames: synFrame === 0 ? [] : [synFrame, ...(notes?.syns ?? [])].slice(0, 5),
    syn_retries: words[i + I.syn_retries]!,
    handshake_rtt_ms: handshake < 0 ? null : handshake / MILLISECOND,
    ack_rtt: t.samples.spread(words, i + I.rtts, doubles, times + X.rtt_sum),
    delta: t.samples.spread(words, i + I.deltas, doubles, times + X.delta_sum),
    first: t.clock.epoch(started),
    last: t.clock.epoch(ended),
    duration_ms: Math.max(0, ended - started) / MILLISECOND,
    first_frame: words[i + I.first_frame]!,
    last_frame: words[i + I.last_frame]!,
    sample_frames: notes ? [...notes.sample] : synFrame === 0 ? [] : [synFrame],
    retransmission_frames: [...(notes?.retransmissions ?? [])],
    zero_window_frames: [...(notes?.zeroWindows ?? [])],
    issues: words[i + I.issues]!,
  };
}

/** Who opened the connection: the SYN tells, else the side with the higher port is taken for the client. */
function clientOf(marks: number, ends: Endpoints): 0 | 1 {
  if ((marks & (MARK.syn | MARK.synack)) !== 0) return (marks & MARK.client_1) !== 0 ? 1 : 0;
  return ends.srcPort >= ends.dstPort ? 0 : 1;
}

function outcomeOf(marks: number): TcpOutcome {
  if ((marks & MARK.established) !== 0) return 'established';
  if ((marks & (MARK.syn | MARK.synack)) === 0) return 'midstream';
  if ((marks & MARK.synack) !== 0) return 'half_open';
  if ((marks & MARK.rst) !== 0) return 'refused';
  const both = MARK.seen_0 | MARK.seen_1;
  return (marks & both) === both ? 'half_open' : 'syn_unanswered';
}

function sideOf(t: TcpTracker, slot: number, side: 0 | 1): TcpSide {
  const { words: c, doubles: s } = t.state;
  const n = slot * STREAM_WORDS + side * SIDE_WORDS;
  const x = n >> 1;
  const marks = c[slot * STREAM_WORDS + I.marks]!;
  const since = s[x + D.zero_since]!;
  const stillZero = since >= 0 ? s[slot * STREAM_DOUBLES + X.last]! - since : 0;
  return {
    packets: c[n + N.packets]!,
    bytes: s[x + D.bytes]!,
    payload_bytes: s[x + D.payload]!,
    retransmissions: c[n + N.retransmissions]!,
    fast_retransmissions: c[n + N.fast]!,
    spurious_retransmissions: c[n + N.spurious]!,
    duplicate_acks: c[n + N.duplicate_acks]!,
    out_of_order: c[n + N.out_of_order]!,
    lost_segments: c[n + N.lost]!,
    largest_gap: c[n + N.largest_gap]!,
    zero_windows: c[n + N.zero_windows]!,
    window_full: c[n + N.window_full]!,
    keep_alives: c[n + N.keep_alives]!,
    syn: c[n + N.syn]!,
    fin: c[n + N.fin]!,
    rst: c[n + N.rst]!,
    ttl_first: c[n + N.ttl_first]!,
    ttl_min: c[n + N.ttl_min]!,
    ttl_max: c[n + N.ttl_max]!,
    ttl_rst: c[n + N.ttl_rst]!,
    largest_segment: c[n + N.largest]!,
    largest_retransmitted: c[n + N.largest_again]!,
    mss: c[n + N.mss]!,
    df_set: (marks & (side === 0 ? MARK.df_0 : MARK.df_1)) !== 0,
    zero_window_ms: Math.max(s[x + D.zero_longest]!, stillZero) / MILLISECOND,
  };
}
