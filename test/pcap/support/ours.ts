/** The engine's own view of a capture, one record a frame, in the oracle's terms. */

import { HAS, TCP_VERDICT } from '../../../src/pcap/decode/bits.ts';
import { Engine } from '../../../src/pcap/engine.ts';
import { readCapture } from '../../../src/pcap/read/capture-file.ts';
import type { FrameSink } from '../../../src/pcap/read/sink.ts';
import { I, STREAM_WORDS } from '../../../src/pcap/tcp/stream-state.ts';
import { timeText } from '../../../src/pcap/time-text.ts';
import type { FrameRecord } from './tshark.ts';

const NAMES = Object.entries(HAS).filter(
  ([name]) => name !== 'malformed' && name !== 'llmnr' && name !== 'tunnel',
);
const AGAIN =
  TCP_VERDICT.retransmission | TCP_VERDICT.fast_retransmission | TCP_VERDICT.spurious_retransmission;

export interface OurRun {
  readonly frames: readonly FrameRecord[];
  readonly rtts: ReadonlyMap<number, number>;
  readonly engine: Engine;
  readonly problems: readonly string[];
}

export async function ours(path: string): Promise<OurRun> {
  const engine = new Engine();
  const frames: FrameRecord[] = [];
  const rtts = new Map<number, number>();
  const t = engine.totals;
  let vlans: number[] = [];
  const add = engine.vlanIds.add.bind(engine.vlanIds);
  engine.vlanIds.add = (id: number) => {
    vlans.push(id);
    return add(id);
  };
  // Which streams a frame belongs to, in the order its layers name them.
  let udp: number[] = [];
  let tcp: number[] = [];
  const datagram = engine.udp.datagram.bind(engine.udp);
  const udpNumbers = new Map<number, number>();
  engine.udp.datagram = (e) => {
    const before = engine.udp.streams;
    datagram(e);
    const slot = engine.udp.table.find(e, engine.udp.table.direction(e));
    if (engine.udp.streams !== before) udpNumbers.set(slot, before);
    udp.push(udpNumbers.get(slot) ?? -1);
  };
  const segment = engine.tcp.segment.bind(engine.tcp);
  engine.tcp.segment = (...args) => {
    segment(...args);
    tcp.push(engine.tcp.state.words[engine.tcp.slot * STREAM_WORDS + I.id]!);
  };
  const sink: FrameSink = {
    frame(bytes, start, captured, length, seconds, nanoseconds, link) {
      const before = {
        tcp: engine.tcp.streams,
        queries: t.dnsQueries,
        responses: t.dnsResponses,
        rcodes: [...t.dnsRcodes],
        requests: t.arpRequests,
        replies: t.arpReplies,
      };
      engine.tcp.pool.rtt = -1;
      vlans = [];
      udp = [];
      tcp = [];
      engine.frame(bytes, start, captured, length, seconds, nanoseconds, link);
      const has = NAMES.filter(([, bit]) => (engine.bits & bit) !== 0).map(([name]) => name);
      for (const [name, bit] of Object.entries(TCP_VERDICT))
        if (name !== 'retransmission' && (engine.tcpBits & bit) !== 0) has.push(name);
      if ((engine.tcpBits & AGAIN) !== 0) has.push('retransmission');
      if (engine.tcp.pool.rtt >= 0) rtts.set(engine.frameNumber, engine.tcp.pool.rtt / 1e6);
      frames.push({
        frame: engine.frameNumber,
        time: Number.isNaN(seconds) ? '' : timeText(seconds, nanoseconds),
        length: engine.wireLength,
        captured,
        has: has.sort(),
        tcp,
        udp,
        dns: {
          queries: t.dnsQueries - before.queries,
          responses: t.dnsResponses - before.responses,
          rcodes: [...t.dnsRcodes].flatMap((count, code) =>
            Array.from({ length: count - before.rcodes[code]! }, () => code),
          ),
        },
        icmp: engine.icmpType,
        icmpv6: engine.icmp6Type,
        arp: { requests: t.arpRequests - before.requests, replies: t.arpReplies - before.replies },
        vlans,
      });
    },
  };
  const read = await readCapture(path, sink);
  engine.finish();
  return { frames, rtts, engine, problems: read.parser.problems.map(({ message }) => message) };
}
