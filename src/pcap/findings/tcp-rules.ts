import type { TcpStream } from '../analysis.ts';
import { byServer, rule, streamsOf } from './rule.ts';

const frames = (streams: readonly TcpStream[], of: (s: TcpStream) => readonly number[]) =>
  streams
    .flatMap((s) => of(s).slice(0, 3))
    .sort((a, b) => a - b)
    .slice(0, 10);
const at = (server: string) =>
  `ip.addr == ${server.slice(0, server.lastIndexOf(':'))} && tcp.port == ${server.slice(server.lastIndexOf(':') + 1)}`;
const side = (s: TcpStream) => [s.from_client, s.from_server] as const;

export const TCP_RULES = [
  rule('syn_unanswered', ({ tcp }) =>
    (tcp?.failing_servers.items ?? [])
      .filter((f) => f.unanswered > 0 && f.unanswered >= f.refused)
      .slice(0, 5)
      .map((f) => ({
        severity: f.unanswered >= f.attempts ? 'CRITICAL' : 'HIGH',
        title: `No answer from ${f.server}:${f.port}`,
        explanation: `${f.unanswered} of ${f.attempts} connection attempts to ${f.server} port ${f.port} got no answer at all: packets are dropped on the way there or back (security group, route, host firewall) or the machine is down.`,
        frames: f.sample_frames,
        predicate: `ip.dst == ${f.server} && tcp.dstport == ${f.port} && tcp.flags.syn == 1 && tcp.flags.ack == 0: no SYN-ACK or RST follows for ${f.unanswered} attempts`,
        remediation: [
          'Check NSGs at both ends, the effective route in both directions, and the firewall inside the server.',
          'Capture at the server: if no SYN arrives there, the loss is before it.',
        ],
      })),
  ),
  rule('connection_refused', ({ tcp }) =>
    (tcp?.failing_servers.items ?? [])
      .filter((f) => f.refused > f.unanswered)
      .slice(0, 5)
      .map((f) => ({
        severity: 'HIGH',
        title: `Connections to ${f.server}:${f.port} are refused`,
        explanation: `${f.refused} of ${f.attempts} attempts were answered with a reset: the path is open, but nothing listens on the port (or a device answers in its place).`,
        frames: f.sample_frames,
        predicate: `ip.src == ${f.server} && tcp.srcport == ${f.port} && tcp.flags.reset == 1 in answer to a SYN: ${f.refused} attempts`,
        remediation: [
          'Start the service or check the address it is bound to.',
          'Compare the TTL of the reset with that of other packets of the server: another value means a middlebox sent it.',
        ],
      })),
  ),
  rule('pmtud_black_hole', (a) =>
    byServer(streamsOf(a).filter(isBlackHole)).map(([server, streams]) => ({
      severity: 'CRITICAL',
      title: `Large packets vanish on the way to or from ${server}`,
      explanation: `In ${streams.length} conversation(s) full-size segments are sent again and again without being acknowledged, while small ones pass, and no "fragmentation needed" arrives: a link on the path has a smaller MTU than the hosts believe, and the message that would tell them is lost.`,
      frames: frames(streams, (s) => s.retransmission_frames),
      predicate: `${at(server)} && tcp.analysis.retransmission && tcp.len >= 1200, and no icmp.type == 3 && icmp.code == 4`,
      remediation: [
        'Lower the MTU (or clamp the MSS) on the path, or let ICMP type 3 code 4 through.',
        'Confirm with: ping -M do -s 1472 ADDRESS',
      ],
    })),
  ),
  rule('zero_window', (a) =>
    byServer(streamsOf(a).filter((s) => side(s).some((d) => d.zero_windows > 0))).map(([server, streams]) => {
      const stalled =
        streams.filter((s) => s.from_server.zero_windows > 0).length >= streams.length / 2
          ? 'server'
          : 'client';
      const longest = Math.max(...streams.flatMap((s) => side(s).map((d) => d.zero_window_ms)));
      return {
        severity: longest > 1000 ? 'HIGH' : 'MEDIUM',
        title: `The ${stalled} of ${server} does not read its data`,
        explanation: `The ${stalled} advertised a zero window in ${streams.length} conversation(s), for up to ${Math.round(longest)} ms: the application is too slow to take what has arrived. The network is not at fault.`,
        frames: frames(streams, (s) => s.zero_window_frames),
        predicate: `${at(server)} && tcp.analysis.zero_window`,
        remediation: [
          `Look at the application on the ${stalled}: CPU, blocked threads, its own downstream.`,
          'ss -tn on that machine shows a growing Recv-Q.',
        ],
      };
    }),
  ),
  rule('resets_in_conversation', (a) =>
    byServer(
      streamsOf(a).filter(
        (s) => s.outcome === 'established' && s.rst_by !== 'none' && s.from_client.payload_bytes > 0,
      ),
    ).map(([server, streams]) => {
      const byServerSide = streams.filter((s) => s.rst_by === 'server').length;
      const who = byServerSide * 2 >= streams.length ? 'server' : 'client';
      const odd = streams.filter((s) => middlebox(s)).length;
      return {
        severity: 'HIGH',
        title:
          odd > 0
            ? `A device in between resets connections of ${server}`
            : `The ${who} resets established connections of ${server}`,
        explanation:
          odd > 0
            ? `${odd} reset(s) carry another TTL than the rest of that side's packets: something on the path sent them.`
            : `${streams.length} established conversation(s) ended with a reset by the ${who} after data had flowed.`,
        frames: frames(streams, (s) => s.rst_frames),
        predicate: `${at(server)} && tcp.flags.reset == 1 after data in the same stream`,
        remediation:
          odd > 0
            ? ['Find the firewall, proxy or load balancer on the path and its idle or policy limits.']
            : [`Read the log of the application on the ${who} at the time of the resets.`],
      };
    }),
  ),
  rule('packet_loss', ({ tcp }) => {
    if (tcp === null) return [];
    const { totals } = tcp;
    const resent = totals.retransmissions + totals.fast_retransmissions;
    const pct = totals.packets === 0 ? 0 : (100 * resent) / totals.packets;
    if (resent < 5 || pct < 0.5) return [];
    const worst = tcp.with_issues.items.filter((s) => s.retransmission_frames.length > 0).slice(0, 5);
    return [
      {
        severity: pct >= 5 ? 'HIGH' : pct >= 2 ? 'MEDIUM' : 'LOW',
        title: `${pct.toFixed(1)} % of TCP packets had to be sent again`,
        explanation: `${resent} retransmissions among ${totals.packets} TCP packets, ${totals.duplicate_acks} duplicate ACKs. Losses of this size slow every transfer down.`,
        frames: frames(worst, (s) => s.retransmission_frames),
        predicate: `tcp.analysis.retransmission || tcp.analysis.fast_retransmission: ${resent} frames`,
        remediation: [
          'Capture at both ends and compare: the segment where packets disappear is named there.',
          'Check interface errors, policers and overloaded appliances on the path.',
        ],
      },
    ];
  }),
  rule('packet_reordering', ({ tcp }) => {
    if (tcp === null) return [];
    const { out_of_order: odd, retransmissions, packets } = tcp.totals;
    if (odd < 10 || odd < retransmissions || odd * 200 < packets) return [];
    return [
      {
        severity: 'MEDIUM',
        title: `${odd} TCP segments arrived out of order`,
        explanation: `Segments overtake each other on the way (${((100 * odd) / packets).toFixed(1)} % of TCP packets) without being lost: several paths of different length, or a device that handles packets of one flow in parallel.`,
        frames: tcp.with_issues.items.flatMap((s) => s.sample_frames).slice(0, 10),
        predicate: `tcp.analysis.out_of_order: ${odd} frames`,
        remediation: ['Keep packets of one flow on one path (per-flow load balancing).'],
      },
    ];
  }),
  rule('high_latency', ({ tcp }) => {
    const rtt = tcp?.handshake_rtt;
    if (!rtt || rtt.count < 3 || rtt.median < 100) return [];
    return [
      {
        severity: rtt.median > 300 ? 'HIGH' : 'MEDIUM',
        title: `Handshakes take ${Math.round(rtt.median)} ms (median)`,
        explanation: `Half of ${rtt.count} TCP handshakes took longer than ${Math.round(rtt.median)} ms, the slowest ${Math.round(rtt.max)} ms. Within a region a few milliseconds are usual.`,
        frames: [],
        predicate: `tcp.analysis.initial_rtt >= 0.1: median ${rtt.median.toFixed(1)} ms over ${rtt.count} handshakes`,
        remediation: ['Find the hop that adds the delay (traceroute, captures at both ends).'],
      },
    ];
  }),
  rule('one_way_traffic', ({ tcp }) => {
    const c = tcp?.connections;
    if (!c || c.one_way < 3 || c.one_way <= c.two_way) return [];
    return [
      {
        severity: 'MEDIUM',
        title: 'Mostly one direction of the conversations was captured',
        explanation: `${c.one_way} streams show one direction only, ${c.two_way} show both: replies take another path than requests, or the capture point sees only one of them.`,
        frames: [],
        predicate: `streams with packets in one direction only: ${c.one_way} of ${c.one_way + c.two_way}`,
        remediation: ['Compare the effective routes of both ends for asymmetry.'],
      },
    ];
  }),
];

function isBlackHole(s: TcpStream): boolean {
  return (
    side(s).some(
      (d) =>
        d.largest_retransmitted >= 1200 &&
        d.largest_retransmitted >= d.largest_segment &&
        d.retransmissions >= 3,
    ) &&
    s.handshake_rtt_ms !== null &&
    stuck(s)
  );
}

/** The other side never acknowledges the big ones: nearly every big segment seen is a repetition. */
function stuck(s: TcpStream): boolean {
  return side(s).some(
    (d) =>
      d.retransmissions >= 3 && d.retransmissions * 2 >= d.packets / 2 && d.largest_retransmitted >= 1200,
  );
}

function middlebox(s: TcpStream): boolean {
  const d = s.rst_by === 'server' ? s.from_server : s.from_client;
  return d.ttl_rst > 0 && d.ttl_first > 0 && Math.abs(d.ttl_rst - d.ttl_first) > 5;
}
