/** From one pass to the `Analysis` every report is made from. */
import {
  type Analysis,
  type Bounded,
  type CaptureFacts,
  type CaptureProblem,
  LIST_BOUND,
  type Talker,
} from './analysis.ts';
import type { HAS } from './decode/bits.ts';
import type { Engine } from './engine.ts';
import type { ReadOptions } from './read/capture-file.ts';
import { linkName } from './read/link-types.ts';
import { countersOfPass, type Pass, passOver } from './run.ts';
import { MAX_STREAMS } from './tcp/tracker.ts';
import { MAX_UDP_STREAMS } from './udp-tracker.ts';

/** Reads the file once and says everything there is to say. Throws `NotACapture` for what is none. */
export async function analyze(path: string, options: Omit<ReadOptions, 'hash'> = {}): Promise<Analysis> {
  const pass = await passOver(path, 'full', { ...options, hash: true });
  return analysisOf(path, pass);
}

export function analysisOf(path: string, pass: Pass): Analysis {
  const e = pass.engine;
  const t = e.totals;
  const icmpFrames = t.frames('icmp') + t.frames('icmpv6');
  return {
    capture: captureFacts(path, pass),
    counters: countersOfPass(pass),
    arp: e.arp.facts(t.arpRequests, t.arpReplies),
    icmp: e.icmp.facts(icmpFrames),
    loops: e.loops.facts(),
    fragments:
      e.fragments.seen === 0
        ? null
        : {
            fragments: e.fragments.seen,
            reassembled: e.fragments.reassembled,
            incomplete: e.fragments.incomplete,
            sample_frames: e.fragments.sampleFrames,
          },
    checksums: e.checksums.facts(),
    tcp: e.tcp.summary.facts(t.frames('rst'), t.frames('fin'), t.frames('tcp')),
    dns: e.dns.facts(t.dnsQueries, t.dnsResponses, t.dnsRcodes, t.mdnsMessages),
    tls: e.apps.tls(),
    http: e.apps.http(),
    dhcp: e.apps.dhcpFacts(),
    tunnels: tunnelsOf(e),
    series: e.series.facts(t.timed ? e.epoch(0) : 0),
    talkers: talkersOf(e),
    limits: limitsOf(e),
  };
}

function captureFacts(path: string, { engine, read }: Pass): CaptureFacts {
  const t = engine.totals;
  const seconds = (whole: number, nano: number) => (t.timed ? whole + nano / 1e9 : null);
  const duration = t.timed ? t.maxSeconds - t.minSeconds + (t.maxNanoseconds - t.minNanoseconds) / 1e9 : 0;
  const problems: CaptureProblem[] = [...read.parser.problems];
  if (engine.undecoded > 0) {
    const message = `${engine.undecoded} frames have a link type that is not decoded (the file has ${linkTypes(
      engine,
      [],
    )
      .map(({ name }) => name)
      .join(', ')}): they are counted, nothing is said about what they carry`;
    problems.push({ kind: 'unsupported', message, after_frame: t.packets });
  }
  if (!t.timeOrdered) {
    const message = 'timestamps step back: frames are not in order of time';
    problems.push({ kind: 'clock', message, after_frame: t.packets });
  }
  return {
    file: path,
    sha256: read.sha256,
    container: read.parser.container.kind,
    compressed: read.compressed,
    packets: t.packets,
    first: seconds(t.firstSeconds, t.firstNanoseconds),
    last: seconds(t.lastSeconds, t.lastNanoseconds),
    earliest: seconds(t.minSeconds, t.minNanoseconds),
    latest: seconds(t.maxSeconds, t.maxNanoseconds),
    time_ordered: t.timeOrdered,
    duration_seconds: duration,
    bytes: t.bytes,
    bytes_captured: t.captured,
    truncated_packets: t.truncated,
    malformed_packets: t.malformed,
    malformed_sample_frames: t.malformedFrames,
    link_types: linkTypes(engine, read.parser.container.links),
    interfaces: read.parser.container.interfaces,
    snaplen: read.parser.container.snaplen,
    problems,
    protocols: protocolsOf(engine),
  };
}

function linkTypes(engine: Engine, declared: readonly number[]): CaptureFacts['link_types'] {
  const ids = new Set([...declared, ...engine.links.keys()]);
  return [...ids]
    .filter((id) => id >= 0)
    .map((id) => ({ id, name: linkName(id), packets: engine.links.get(id) ?? 0 }))
    .sort((a, b) => b.packets - a.packets)
    .slice(0, LIST_BOUND);
}

const PROTOCOLS: readonly (readonly [keyof typeof HAS, string])[] = [
  ['arp', 'ARP'],
  ['ip', 'IPv4'],
  ['ipv6', 'IPv6'],
  ['tcp', 'TCP'],
  ['udp', 'UDP'],
  ['icmp', 'ICMP'],
  ['icmpv6', 'ICMPv6'],
  ['dns', 'DNS'],
  ['mdns', 'mDNS'],
  ['llmnr', 'LLMNR'],
  ['vlan', 'VLAN'],
  ['gre', 'GRE'],
  ['vxlan', 'VXLAN'],
  ['geneve', 'Geneve'],
  ['mpls', 'MPLS'],
  ['wlan', '802.11'],
];

function protocolsOf(engine: Engine): CaptureFacts['protocols'] {
  const rows = PROTOCOLS.map(([bit, name]) => ({ name, frames: engine.totals.frames(bit) }));
  const extra = [
    { name: 'TLS', frames: engine.apps.tls()?.client_hellos ?? 0 },
    { name: 'HTTP', frames: (engine.apps.http()?.requests ?? 0) + (engine.apps.http()?.responses ?? 0) },
    {
      name: 'DHCP',
      frames: engine.apps.dhcpFacts()?.messages.reduce((sum, { count }) => sum + count, 0) ?? 0,
    },
  ];
  return [...rows, ...extra].filter(({ frames }) => frames > 0);
}

function tunnelsOf(e: Engine): Analysis['tunnels'] {
  const named = [
    { name: 'gre', frames: e.totals.frames('gre') },
    { name: 'vxlan', frames: e.totals.frames('vxlan') },
    { name: 'geneve', frames: e.totals.frames('geneve') },
    { name: 'mpls', frames: e.totals.frames('mpls') },
    { name: 'ip in ip', frames: e.ipInIp },
  ];
  const noted = [...e.notes.values()].map(({ key, value }) => ({ name: key, frames: value.count }));
  return [...named, ...noted].filter(({ frames }) => frames > 0).sort((a, b) => b.frames - a.frames);
}

function talkersOf(e: Engine): Bounded<Talker> {
  const tcp = e.tcp.summary.talkers().bounded(LIST_BOUND);
  const udp = e.udp.talkers().bounded(LIST_BOUND);
  const items = [...tcp.items, ...udp.items].sort((a, b) => b.bytes - a.bytes).slice(0, LIST_BOUND);
  return { items, total: tcp.total + udp.total };
}

function limitsOf(e: Engine): Analysis['limits'] {
  return [
    { what: 'TCP streams followed at once', bound: MAX_STREAMS, dropped: e.tcp.table.evicted },
    { what: 'UDP streams followed at once', bound: MAX_UDP_STREAMS, dropped: e.udp.table.evicted },
    { what: 'segments waiting for an acknowledgement', bound: 1 << 20, dropped: e.tcp.pool.dropped },
    { what: 'IP datagrams being put together', bound: 4096, dropped: e.fragments.dropped },
    { what: 'DNS names', bound: 32_768, dropped: e.dns.dropped },
    { what: 'ARP addresses', bound: 65_536, dropped: e.arp.dropped },
  ].filter(({ dropped }) => dropped > 0);
}
