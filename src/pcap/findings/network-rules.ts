import { rule } from './rule.ts';

export const NETWORK_RULES = [
  rule('duplicate_ip', ({ arp }) =>
    (arp?.duplicates.items ?? []).slice(0, 5).map((d) => ({
      severity: 'CRITICAL' as const,
      title: `Two machines claim ${d.ip}`,
      explanation: `${d.ip} was claimed by ${d.macs.join(' and ')}: traffic for it reaches now one, now the other.`,
      frames: d.sample_frames,
      predicate: `arp.src.proto_ipv4 == ${d.ip}: ${d.macs.length} different arp.src.hw_mac`,
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
        explanation: `Nobody on the segment has ${silent
          .slice(0, 5)
          .map((u) => u.ip)
          .join(', ')}.`,
        frames: silent.flatMap((u) => u.sample_frames).slice(0, 10),
        predicate: `arp.opcode == 1 && arp.dst.proto_ipv4 == ${silent[0]!.ip}: no reply`,
        remediation: ['Check that the machine runs and is in this subnet.'],
      },
    ];
  }),
  rule('icmp_unreachable', ({ icmp }) =>
    (icmp?.unreachable.items ?? []).slice(0, 5).map((u) => ({
      severity: u.mtu !== null ? ('MEDIUM' as const) : ('HIGH' as const),
      title:
        u.mtu !== null
          ? `${u.src} asks for packets of at most ${u.mtu} bytes`
          : `${u.src} reports: ${u.code_meaning}`,
      explanation: `${u.count} ICMP message(s) from ${u.src} to ${u.dst}${u.original ? ` about ${u.original.protocol} ${u.original.src}:${u.original.src_port} → ${u.original.dst}:${u.original.dst_port}` : ''}.`,
      frames: u.sample_frames,
      predicate: `icmp.type == ${u.type} && icmp.code == ${u.code} && ip.src == ${u.src}: ${u.count} frames`,
      remediation:
        u.code === 13 || u.code === 10 || u.code === 9
          ? ['A firewall rejects this traffic: look at the rules of the reporting machine.']
          : ['Follow the reporter: its routing or the closed port is the place to look.'],
    })),
  ),
  rule('routing_loop', ({ icmp, loops }) => {
    const dying = (icmp?.ttl_exceeded.items ?? []).filter((t) => t.count >= 3);
    if (loops.total === 0 && dying.length === 0) return [];
    const first = loops.items[0];
    return [
      {
        severity: loops.total > 0 ? ('CRITICAL' as const) : ('MEDIUM' as const),
        title: loops.total > 0 ? 'Packets go round in a loop' : 'Packets die of old age on the way',
        explanation: first
          ? `The same packet from ${first.src} to ${first.dst} was seen ${first.sightings} times with a falling TTL (${first.ttl_high} to ${first.ttl_low}).`
          : `${dying.length} router(s) report exceeded TTLs, ${dying[0]!.src} most often (${dying[0]!.count}).`,
        frames: [...(first?.sample_frames ?? []), ...dying.flatMap((d) => d.sample_frames)].slice(0, 10),
        predicate: first
          ? `ip.id == ${first.ip_id} && ip.src == ${first.src} && ip.dst == ${first.dst}: ${first.sightings} frames with different ip.ttl`
          : `icmp.type == 11: ${dying.reduce((n, d) => n + d.count, 0)} frames`,
        remediation: ['Two routers point at each other for this destination: compare their routes.'],
      },
    ];
  }),
  rule('echo_unanswered', ({ icmp }) => {
    const silent = (icmp?.unanswered.items ?? []).filter((u) => u.count >= 3);
    if (silent.length === 0) return [];
    return silent.slice(0, 3).map((u) => ({
      severity: 'LOW' as const,
      title: `${u.dst} does not answer pings`,
      explanation: `${u.count} echo requests from ${u.src} stayed without an answer. Many hosts limit or drop ICMP; on its own this proves little.`,
      frames: u.sample_frames,
      predicate: `icmp.type == 8 && ip.dst == ${u.dst}: ${u.count} without reply`,
      remediation: ['Look at TCP to the same host before concluding anything.'],
    }));
  }),
  rule('capture_quality', ({ capture }) => {
    const notes = [
      ...capture.problems.map((p) => p.message),
      ...(capture.truncated_packets > 0
        ? [`${capture.truncated_packets} packets were cut by the snap length`]
        : []),
      ...(capture.malformed_packets > 0 ? [`${capture.malformed_packets} packets are malformed`] : []),
      ...(capture.packets === 0 ? ['the capture holds no packets'] : []),
    ];
    if (notes.length === 0) return [];
    return [
      {
        severity: 'INFO' as const,
        title: 'The capture itself has limits',
        explanation: `${notes.slice(0, 6).join('; ')}.`,
        frames: capture.malformed_sample_frames,
        predicate: `facts about the file: ${capture.packets} packets, ${capture.truncated_packets} cut, ${capture.malformed_packets} malformed`,
        remediation: ['Capture again with a larger snap length if payload sizes matter.'],
      },
    ];
  }),
];
