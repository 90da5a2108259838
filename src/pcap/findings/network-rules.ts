/** What the network layer itself says: neighbours, routers, and the capture. */
import type { IcmpUnreachable } from '../analysis.ts';
import { endpointText } from '../facts/text.ts';
import { from, predicate, to } from './filter.ts';
import { MOST, rule } from './rule.ts';

export const NETWORK_RULES = [
  rule('duplicate_ip', ({ arp }) =>
    (arp?.duplicates.items ?? []).slice(0, MOST).map((d) => ({
      severity: 'CRITICAL' as const,
      title: `Two machines claim ${d.ip}`,
      explanation: `${d.ip} was claimed by ${d.macs.join(' and ')}: traffic for it reaches now one, now the other.`,
      frames: d.sample_frames,
      predicate: predicate(`arp.src.proto_ipv4 == ${d.ip}`, `${d.macs.length} different arp.src.hw_mac`),
      remediation: ['Give one of them another address; look for a clone or a failover pair gone wrong.'],
    })),
  ),
  rule('arp_unanswered', ({ arp }) => {
    const silent = (arp?.unanswered.items ?? []).filter((u) => u.count >= 3);
    if (silent.length === 0) return [];
    return [
      {
        severity: 'MEDIUM' as const,
        title: `${silent.length} address(es) do not answer ARP`,
        explanation: `Nobody on the segment answers for ${silent
          .slice(0, 5)
          .map((u) => `${u.ip} (asked ${u.count} times)`)
          .join(', ')}.`,
        frames: silent.slice(0, 5).flatMap((u) => u.sample_frames.slice(0, 2)),
        predicate: predicate(
          `arp.opcode == 1 && (${silent
            .slice(0, 5)
            .map((u) => `arp.dst.proto_ipv4 == ${u.ip}`)
            .join(' || ')})`,
          'no reply follows',
        ),
        remediation: ['Check that the machine runs and is in this subnet.'],
      },
    ];
  }),
  rule('icmp_unreachable', ({ icmp }) =>
    complaints(icmp?.unreachable.items ?? [])
      .slice(0, MOST)
      .map(({ first: u, about, count, frames }) => {
        const field = u.version === 4 ? 'icmp' : 'icmpv6';
        return {
          severity: u.mtu !== null ? ('MEDIUM' as const) : ('HIGH' as const),
          title:
            u.mtu !== null
              ? `${u.src} asks for packets of at most ${u.mtu} bytes`
              : `${u.src} reports: ${u.code_meaning}`,
          explanation: `${count} ICMP message(s) from ${u.src} to ${u.dst}${about.length > 0 ? ` about ${about.slice(0, 3).join('; ')}${about.length > 3 ? ` and ${about.length - 3} more` : ''}` : ''}.`,
          frames,
          predicate: predicate(
            `${field}.type == ${u.type} && ${field}.code == ${u.code} && ${from(u.src)}`,
            `${count} frames`,
          ),
          remediation: remedy(u),
        };
      }),
  ),
  rule('routing_loop', ({ loops }) =>
    loops.items.slice(0, 1).map((loop) => ({
      severity: 'CRITICAL' as const,
      title: `Packets to ${loop.dst} go round in a loop`,
      explanation: `The same packet from ${loop.src} to ${loop.dst} was seen ${loop.sightings} times with a falling TTL (${loop.ttl_high} to ${loop.ttl_low})${loops.total > 1 ? `, and ${loops.total - 1} more like it` : ''}.`,
      frames: loop.sample_frames,
      predicate: predicate(
        `ip.id == ${loop.ip_id} && ${from(loop.src)} && ${to(loop.dst)}`,
        `${loop.sightings} frames, each with a lower ip.ttl than the one before`,
      ),
      remediation: ['Two routers point at each other for this destination: compare their routes.'],
    })),
  ),
  rule('ttl_exceeded', ({ icmp }) => {
    // A traceroute makes every router on the path say so a few times; a loop makes one or two say it often.
    const dying = (icmp?.ttl_exceeded.items ?? []).filter((t) => t.count >= 10);
    const first = dying[0];
    if (first === undefined) return [];
    return [
      {
        severity: 'HIGH' as const,
        title: `Packets die of old age at ${first.src}`,
        explanation: `${first.src} discarded ${first.count} packets whose TTL had run out, on their way to ${first.destinations.join(', ') || 'an unknown place'}: they go round between routers, or were sent with too small a TTL.`,
        frames: first.sample_frames,
        predicate: predicate(
          `${first.src.includes(':') ? 'icmpv6.type == 3' : 'icmp.type == 11'} && ${from(first.src)}`,
          `${first.count} frames`,
        ),
        remediation: ['Compare the routes of this router and its neighbours for the destination.'],
      },
    ];
  }),
  rule('icmp_redirect', ({ icmp }) =>
    (icmp?.redirects.items ?? []).slice(0, 1).map((r) => ({
      severity: 'LOW' as const,
      title: `${r.src} sends traffic for ${r.target} to another gateway`,
      explanation: `${r.count} redirect(s) from ${r.src}: use ${r.gateway} for ${r.target}. Either routes are not as they should be, or somebody wants to stand in between.`,
      frames: r.sample_frames,
      predicate: predicate(
        `${r.src.includes(':') ? 'icmpv6.type == 137' : 'icmp.type == 5'} && ${from(r.src)}`,
        `${r.count} frames`,
      ),
      remediation: ['Correct the route on the sender, or refuse redirects.'],
    })),
  ),
  rule('echo_unanswered', ({ icmp }) =>
    (icmp?.unanswered.items ?? [])
      .filter((u) => u.count >= 3)
      .slice(0, MOST)
      .map((u) => ({
        severity: 'LOW' as const,
        title: `${u.dst} does not answer pings`,
        explanation: `${u.count} echo requests from ${u.src} stayed without an answer. Many hosts limit or drop ICMP; on its own this proves little.`,
        frames: u.sample_frames,
        predicate: predicate(
          `${u.dst.includes(':') ? 'icmpv6.type == 128' : 'icmp.type == 8'} && ${to(u.dst)}`,
          `${u.count} without reply`,
        ),
        remediation: ['Look at TCP to the same host before concluding anything.'],
      })),
  ),
  rule('bad_checksums', ({ checksums }) =>
    (checksums?.senders.items ?? [])
      // Where nearly everything is wrong, the capture was taken before the network card did its part.
      .filter((s) => s.bad >= 2 && s.bad * 2 < s.checked)
      .slice(0, MOST)
      .map((s) => ({
        severity: s.bad * 100 >= s.checked ? ('HIGH' as const) : ('MEDIUM' as const),
        title: `Packets from ${s.address} arrive damaged`,
        explanation: `${s.bad} of ${s.checked} checked packets from ${s.address} have a wrong TCP or UDP checksum: bytes changed on the way (a failing card, memory or link, or a device that rewrites packets badly). Receivers drop them, so it looks like loss. Checksums left to the network card are not counted.${checksums?.sampled ? ' Of a large capture one packet in sixty-four is checked.' : ''}`,
        frames: s.sample_frames,
        predicate: predicate(
          `${from(s.address)} && (tcp || udp)`,
          `${s.bad} with a wrong checksum (tshark -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE)`,
        ),
        remediation: [
          'Capture at the sender too: if the same packets are whole there, the damage is in between.',
          'Look at the error counters of interfaces and devices on the path; replace what counts up.',
        ],
      })),
  ),
  rule('capture_quality', ({ capture }) => {
    const notes = [
      ...(capture.packets === 0 ? ['the capture holds no packets'] : []),
      ...capture.problems.map((p) => p.message),
      ...(capture.truncated_packets > 0
        ? [`${capture.truncated_packets} packets were cut by the snap length`]
        : []),
      ...(capture.malformed_packets > 0 ? [`${capture.malformed_packets} packets are malformed`] : []),
    ];
    if (notes.length === 0) return [];
    return [
      {
        severity: 'INFO' as const,
        title: 'The capture itself has limits',
        explanation: `${notes.slice(0, 6).join('; ')}.`,
        frames: capture.malformed_sample_frames,
        predicate: predicate(
          'frame',
          `${capture.packets} packets, ${capture.truncated_packets} cut, ${capture.malformed_packets} malformed`,
        ),
        remediation: [
          capture.packets === 0
            ? 'Check the interface and the filter the capture was taken with.'
            : 'Capture again, whole packets and until the end, if what is missing matters.',
        ],
      },
    ];
  }),
];

interface Complaint {
  readonly first: IcmpUnreachable;
  readonly about: string[];
  count: number;
  readonly frames: number[];
}

/** One complaint a reporter and reason, however many conversations it is about. */
function complaints(items: readonly IcmpUnreachable[]): readonly Complaint[] {
  const groups = new Map<string, Complaint>();
  for (const u of items) {
    const key = `${u.src} ${u.type} ${u.code} ${u.mtu ?? ''}`;
    const group = groups.get(key) ?? { first: u, about: [], count: 0, frames: [] };
    if (u.original !== null) group.about.push(originalText(u.original));
    group.count += u.count;
    group.frames.push(...u.sample_frames);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

function originalText(o: NonNullable<IcmpUnreachable['original']>): string {
  const place = (address: string, port: number) => (port === 0 ? address : endpointText(address, port));
  return `${o.protocol} ${place(o.src, o.src_port)} → ${place(o.dst, o.dst_port)}`;
}

function remedy(u: IcmpUnreachable): readonly string[] {
  if (u.mtu !== null)
    return [
      'Path MTU discovery works here. Lower the MTU of the sender if it has to learn this again and again.',
    ];
  const filtered = u.version === 4 ? [9, 10, 13].includes(u.code) : u.code === 1;
  const port = u.version === 4 ? u.code === 3 : u.code === 4;
  if (filtered) return ['A firewall rejects this traffic: look at the rules of the reporting machine.'];
  if (port)
    return ['Nothing listens on the port, or the firewall of the machine rejects it: look at both there.'];
  return ['Follow the reporter: its routes are the place to look.'];
}
