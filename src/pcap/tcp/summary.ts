/**
 * What remains of streams when they end or are given up: totals, and the heaviest ones in full.
 */
import type { Bounded, Talker, TcpFacts, TcpStream } from '../analysis.ts';
import { TCP_VERDICT } from '../decode/bits.ts';
import { Samples } from '../facts/samples.ts';
import { nth } from '../facts/select.ts';
import { Tally } from '../facts/tally.ts';
import { endpointText } from '../facts/text.ts';
import { TopList } from '../facts/top-list.ts';
import { describeStream } from './describe.ts';
import { D, I, MARK, SIDE_DOUBLES, STREAM_DOUBLES, STREAM_WORDS, X } from './stream-state.ts';
import type { TcpTracker } from './tracker.ts';

/** Streams kept in full for rules and reports. */
export const KEPT_STREAMS = 256;
const KEPT_LARGEST = 20;
const KEPT_SERVERS = 4096;

type Totals = { -readonly [K in keyof TcpFacts['totals']]: number };
type Connections = { -readonly [K in keyof TcpFacts['connections']]: number };

interface Failures {
  attempts: number;
  refused: number;
  unanswered: number;
}

export class TcpSummary {
  readonly ackRtt = new Samples();
  readonly handshakes = new Samples();
  readonly totals: Totals = {
    packets: 0,
    retransmissions: 0,
    fast_retransmissions: 0,
    spurious_retransmissions: 0,
    duplicate_acks: 0,
    out_of_order: 0,
    lost_segments: 0,
    acked_unseen: 0,
    zero_windows: 0,
    zero_window_probes: 0,
    window_full: 0,
    window_updates: 0,
    keep_alives: 0,
    keep_alive_acks: 0,
    ports_reused: 0,
    rst: 0,
    fin: 0,
  };
  readonly connections: Connections = {
    syn_sent: 0,
    syn_ack_received: 0,
    handshakes_completed: 0,
    rst_teardowns: 0,
    fin_teardowns: 0,
    refused: 0,
    unanswered: 0,
    two_way: 0,
    one_way: 0,
  };
  readonly #tracker: TcpTracker;
  readonly #issues = new TopList<TcpStream>(KEPT_STREAMS);
  readonly #largest = new TopList<TcpStream>(KEPT_LARGEST);
  readonly #talkers = new TopList<Talker>(KEPT_LARGEST);
  readonly #servers = new Tally<Failures>(KEPT_SERVERS, () => ({ attempts: 0, refused: 0, unanswered: 0 }));

  constructor(tracker: TcpTracker) {
    this.#tracker = tracker;
  }

  count(verdict: number): void {
    const t = this.totals;
    const V = TCP_VERDICT;
    if ((verdict & (V.retransmission | V.fast_retransmission | V.spurious_retransmission)) !== 0) {
      t.retransmissions++;
      if ((verdict & V.fast_retransmission) !== 0) t.fast_retransmissions++;
      if ((verdict & V.spurious_retransmission) !== 0) t.spurious_retransmissions++;
    }
    if ((verdict & V.duplicate_ack) !== 0) t.duplicate_acks++;
    if ((verdict & V.out_of_order) !== 0) t.out_of_order++;
    if ((verdict & V.lost_segment) !== 0) t.lost_segments++;
    if ((verdict & V.acked_unseen) !== 0) t.acked_unseen++;
    if ((verdict & V.zero_window) !== 0) t.zero_windows++;
    if ((verdict & V.zero_window_probe) !== 0) t.zero_window_probes++;
    if ((verdict & V.window_full) !== 0) t.window_full++;
    if ((verdict & V.window_update) !== 0) t.window_updates++;
    if ((verdict & V.keep_alive) !== 0) t.keep_alives++;
    if ((verdict & V.keep_alive_ack) !== 0) t.keep_alive_acks++;
    if ((verdict & V.ports_reused) !== 0) t.ports_reused++;
  }

  /** Takes a stream's story into the totals and, if it is heavy enough, keeps it whole. */
  fold(slot: number): void {
    const { state } = this.#tracker;
    const i = slot * STREAM_WORDS;
    const marks = state.words[i + I.marks]!;
    const c = this.connections;
    const both = MARK.seen_0 | MARK.seen_1;
    const twoWay = (marks & both) === both;
    if ((marks & both) === 0) return;
    if (twoWay) c.two_way++;
    else c.one_way++;
    if ((marks & MARK.syn) !== 0) c.syn_sent++;
    if ((marks & MARK.synack) !== 0) c.syn_ack_received++;
    if ((marks & MARK.established) !== 0) c.handshakes_completed++;
    if ((marks & MARK.rst) !== 0) c.rst_teardowns++;
    else if ((marks & MARK.fin) !== 0) c.fin_teardowns++;
    const handshake = state.doubles[slot * STREAM_DOUBLES + X.handshake]!;
    if (handshake >= 0) this.handshakes.add(handshake / 1e6);
    const failed = (marks & (MARK.syn | MARK.synack)) === MARK.syn;
    const refused = failed && (marks & MARK.rst) !== 0;
    const unanswered = failed && !refused && !twoWay;
    if (refused) c.refused++;
    if (unanswered) c.unanswered++;
    this.#keep(slot, i, refused, unanswered);
  }

  /** Folds what is still alive. The heaviest come first, so that few have to be described. */
  finish(slots: readonly number[]): void {
    const { words, doubles } = this.#tracker.state;
    const bytes = (slot: number) =>
      doubles[slot * STREAM_DOUBLES + D.bytes]! + doubles[slot * STREAM_DOUBLES + SIDE_DOUBLES + D.bytes]!;
    const issues = (slot: number) => words[slot * STREAM_WORDS + I.issues]!;
    const first = new Set([
      ...heaviest(slots, bytes, KEPT_LARGEST),
      ...heaviest(slots, issues, KEPT_STREAMS),
    ]);
    for (const slot of first) this.fold(slot);
    this.#issues.settle();
    this.#largest.settle();
    this.#talkers.settle();
    for (const slot of slots) if (!first.has(slot)) this.fold(slot);
  }

  #keep(slot: number, i: number, refused: boolean, unanswered: boolean): void {
    const { state } = this.#tracker;
    const x = slot * STREAM_DOUBLES;
    const bytes = state.doubles[x + D.bytes]! + state.doubles[x + SIDE_DOUBLES + D.bytes]!;
    const issues = state.words[i + I.issues]! + (unanswered ? 1 : 0);
    let described: TcpStream | undefined;
    const describe = () => {
      described ??= describeStream(this.#tracker, slot);
      return described;
    };
    if (issues > 0 && this.#issues.wants(issues)) this.#issues.add(issues, describe());
    else if (issues > 0) this.#issues.skip();
    if (this.#largest.wants(bytes)) this.#largest.add(bytes, describe());
    else this.#largest.skip();
    if (this.#talkers.wants(bytes)) this.#talkers.add(bytes, talkerOf(describe(), bytes));
    else this.#talkers.skip();
    if (!refused && !unanswered) return;
    const stream = describe();
    const server = this.#servers.of(endpointText(stream.server.address, stream.server.port));
    if (server === undefined) return;
    server.value.attempts++;
    if (refused) server.value.refused++;
    else server.value.unanswered++;
    server.frame(stream.first_frame);
  }

  facts(rst: number, fin: number, packets: number): TcpFacts | null {
    if (this.#tracker.streams === 0) return null;
    return {
      streams: this.#tracker.streams,
      totals: { ...this.totals, rst, fin, packets },
      connections: { ...this.connections },
      ack_rtt: this.ackRtt.spread(),
      handshake_rtt: this.handshakes.spread(),
      with_issues: this.#issues.bounded(),
      largest: this.#largest.bounded(),
      failing_servers: this.#failing(),
    };
  }

  talkers(): TopList<Talker> {
    return this.#talkers;
  }

  #failing(): TcpFacts['failing_servers'] {
    const rows = this.#servers.top(20, (entry) => entry.value.attempts);
    return {
      total: this.#servers.total,
      items: rows.map(({ key, value, frames }) => {
        const cut = key.lastIndexOf(':');
        return {
          server: key.slice(0, cut).replace(/^\[|\]$/g, ''),
          port: Number(key.slice(cut + 1)),
          ...value,
          sample_frames: frames,
        };
      }),
    } satisfies Bounded<unknown>;
  }
}

/** At least the `keep` heaviest, in the order given; those as heavy as the lightest of them come along. */
function heaviest(slots: readonly number[], weight: (slot: number) => number, keep: number): number[] {
  if (slots.length <= keep) return [...slots];
  const least = nth(Float64Array.from(slots, weight), slots.length - keep);
  return slots.filter((slot) => weight(slot) >= least && weight(slot) > 0);
}

function talkerOf(stream: TcpStream, bytes: number): Talker {
  return {
    a: endpointText(stream.client.address, stream.client.port),
    b: endpointText(stream.server.address, stream.server.port),
    protocol: 'tcp',
    packets: stream.from_client.packets + stream.from_server.packets,
    bytes,
    a_to_b_bytes: stream.from_client.bytes,
  };
}
