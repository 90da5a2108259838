/**
 * tshark as the oracle: one record a frame, taken from its fields. Only tests use it; where it is not installed
 * they are skipped with that reason.
 */
import { spawnSync } from 'node:child_process';

export interface FrameRecord {
  readonly frame: number;
  readonly time: string;
  readonly length: number;
  readonly captured: number;
  /** Names of what is present, sorted: protocols, TCP flags and verdicts. */
  readonly has: readonly string[];
  readonly tcp: readonly number[];
  readonly udp: readonly number[];
  readonly dns: { readonly queries: number; readonly responses: number; readonly rcodes: readonly number[] };
  readonly icmp: number;
  readonly icmpv6: number;
  readonly arp: { readonly requests: number; readonly replies: number };
  readonly vlans: readonly number[];
}

/** Field, and the name it stands for when present. */
const PRESENCE: readonly (readonly [string, string])[] = [
  ['ip', 'ip'],
  ['ipv6', 'ipv6'],
  ['tcp', 'tcp'],
  ['udp', 'udp'],
  ['icmp', 'icmp'],
  ['icmpv6', 'icmpv6'],
  ['arp', 'arp'],
  ['vlan', 'vlan'],
  ['gre', 'gre'],
  ['vxlan', 'vxlan'],
  ['geneve', 'geneve'],
  ['mpls', 'mpls'],
  ['wlan', 'wlan'],
  ['dns', 'dns'],
  ['mdns', 'mdns'],
  ['tcp.analysis.retransmission', 'retransmission'],
  ['tcp.analysis.fast_retransmission', 'fast_retransmission'],
  ['tcp.analysis.spurious_retransmission', 'spurious_retransmission'],
  ['tcp.analysis.duplicate_ack', 'duplicate_ack'],
  ['tcp.analysis.out_of_order', 'out_of_order'],
  ['tcp.analysis.zero_window', 'zero_window'],
  ['tcp.analysis.lost_segment', 'lost_segment'],
  ['tcp.analysis.keep_alive', 'keep_alive'],
  ['tcp.analysis.keep_alive_ack', 'keep_alive_ack'],
  ['tcp.analysis.ack_lost_segment', 'acked_unseen'],
  ['tcp.analysis.window_full', 'window_full'],
  ['tcp.analysis.window_update', 'window_update'],
  ['tcp.analysis.zero_window_probe', 'zero_window_probe'],
  ['tcp.analysis.zero_window_probe_ack', 'zero_window_probe_ack'],
  ['tcp.analysis.reused_ports', 'ports_reused'],
];

const VALUES = [
  'frame.number',
  'frame.time_epoch',
  'frame.len',
  'frame.cap_len',
  'frame.protocols',
  'tcp.stream',
  'udp.stream',
  'tcp.flags',
  'dns.flags.response',
  'dns.flags.rcode',
  'ip.flags.mf',
  'ip.frag_offset',
  'icmp.type',
  'icmpv6.type',
  'arp.opcode',
  'vlan.id',
  'tcp.analysis.ack_rtt',
] as const;

export function tsharkVersion(): string | undefined {
  const run = spawnSync('tshark', ['--version'], { encoding: 'utf8' });
  return run.status === 0 ? /TShark \(Wireshark\) ([\d.]+)/.exec(run.stdout)?.[1] : undefined;
}

export interface TsharkRun {
  readonly frames: readonly FrameRecord[];
  readonly rtts: ReadonlyMap<number, number>;
  readonly status: number;
  readonly error: string;
}

export function tshark(path: string): TsharkRun {
  const fields = [...VALUES, ...PRESENCE.map(([field]) => field)];
  const args = ['-n', '-r', path, '-T', 'fields', '-E', 'separator=/t', ...fields.flatMap((f) => ['-e', f])];
  const run = spawnSync('tshark', args, { encoding: 'utf8', maxBuffer: 1 << 30 });
  const lines = run.stdout.split('\n').filter((line) => line !== '');
  const rtts = new Map<number, number>();
  const frames = lines.map((line) => {
    const cells = line.split('\t');
    const rtt = cells[VALUES.length - 1];
    if (rtt && Number(rtt.split(',')[0]) > 0) rtts.set(Number(cells[0]), Number(rtt.split(',')[0]) * 1000);
    return frameOf(cells);
  });
  return { frames, rtts, status: run.status ?? -1, error: run.stderr.replace(/^Running as.*\n/, '').trim() };
}

function frameOf(cells: readonly string[]): FrameRecord {
  const value = (name: (typeof VALUES)[number]) => cells[VALUES.indexOf(name)] ?? '';
  const present = (field: string) =>
    (cells[VALUES.length + PRESENCE.findIndex(([known]) => known === field)] ?? '') !== '';
  const list = (name: (typeof VALUES)[number]) =>
    value(name)
      .split(',')
      .filter((cell) => cell !== '');
  const protocols = value('frame.protocols').split(':');
  const has = new Set(PRESENCE.filter(([field]) => present(field)).map(([, name]) => name));
  for (const flags of list('tcp.flags').map(Number)) {
    if ((flags & 4) !== 0) has.add('rst');
    if ((flags & 1) !== 0) has.add('fin');
    if ((flags & 2) !== 0) has.add((flags & 16) !== 0 ? 'synack' : 'syn');
  }
  if (list('ip.flags.mf').includes('1') || list('ip.frag_offset').some((offset) => Number(offset) > 0))
    has.add('fragment');
  const multicast = protocols.includes('mdns') || protocols.includes('llmnr');
  const responses = multicast ? [] : list('dns.flags.response');
  return {
    frame: Number(value('frame.number')),
    time: value('frame.time_epoch'),
    length: Number(value('frame.len')),
    captured: Number(value('frame.cap_len')),
    has: [...has].sort(),
    tcp: list('tcp.stream').map(Number),
    udp: list('udp.stream').map(Number),
    dns: {
      queries: responses.filter((flag) => flag === '0' || flag === 'False').length,
      responses: responses.filter((flag) => flag === '1' || flag === 'True').length,
      rcodes: multicast
        ? []
        : list('dns.flags.rcode')
            .map(Number)
            .sort((a, b) => a - b),
    },
    icmp: Number(list('icmp.type')[0] ?? -1),
    icmpv6: Number(list('icmpv6.type')[0] ?? -1),
    arp: {
      requests: list('arp.opcode').filter((code) => code === '1').length,
      replies: list('arp.opcode').filter((code) => code === '2').length,
    },
    vlans: list('vlan.id').map(Number),
  };
}
