/** Connections that come about and then suffer. */
import type { Analysis, TcpSide, TcpStream } from '../analysis.ts';
import { predicate, service } from './filter.ts';
import { byServer, framesOf, rule, sidesOf, streamsOf } from './rule.ts';

/** Segments of this size and more do not fit through links a tunnel or a VPN has made smaller. */
const LARGE = 1200;

export const TCP_RULES = [
  rule('pmtud_black_hole', (a) => {
    if (fragNeeded(a) > 0) return [];
    const sender = mostlyStuck(a);
    const receiver = streamsOf(a).filter((s) => missesLarge(a, s));
    const streams = sender.length > 0 ? sender : receiver.length >= 2 ? receiver : [];
    return byServer(streams).map((g) => ({
      severity: sender.length > 0 ? 'CRITICAL' : 'HIGH',
      title: `Large packets vanish on the way to or from ${g.name}`,
      explanation:
        sender.length > 0
          ? `In ${g.streams.length} conversation(s) full-size segments are sent again and again without getting through, while the handshake and small segments pass, and no "fragmentation needed" arrives: a link on the path has a smaller MTU than the hosts believe, and the message that would tell them is lost.`
          : `In ${g.streams.length} conversation(s) only small segments arrive, with gaps before them that are never filled, although both ends agreed on full-size ones: larger packets are lost before this point.`,
      frames: framesOf(g.streams, (s) => (sender.length > 0 ? s.retransmission_frames : s.sample_frames)),
      predicate: predicate(
        `${service(g)} && ${sender.length > 0 ? 'tcp.analysis.retransmission' : 'tcp.analysis.flags'}`,
        `${sender.length > 0 ? 'segments' : 'gaps where segments'} of ${LARGE} bytes and more never pass in ${g.streams.length} streams; no icmp.type == 3 && icmp.code == 4 and no icmpv6.type == 2 in the capture`,
      ),
      remediation: [
        'Lower the MTU (or clamp the MSS) on the path, or let ICMP type 3 code 4 (ICMPv6 type 2) through.',
        'Confirm with: ping -M do -s 1472 ADDRESS',
      ],
    }));
  }),
  rule('zero_window', (a) =>
    byServer(streamsOf(a).filter((s) => sidesOf(s).some((d) => d.zero_windows > 0))).map((g) => {
      const sum = (of: (s: TcpStream) => TcpSide) => g.streams.reduce((n, s) => n + of(s).zero_windows, 0);
      const [byServerSide, byClient] = [sum((s) => s.from_server), sum((s) => s.from_client)];
      const who = byServerSide >= byClient ? 'server' : 'client';
      const longest = Math.max(...g.streams.flatMap((s) => sidesOf(s).map((d) => d.zero_window_ms)));
      return {
        severity: longest > 1000 ? 'HIGH' : longest > 100 ? 'MEDIUM' : 'LOW',
        title: `The ${who} of ${g.name} does not read its data`,
        explanation: `The ${who} advertised a zero window in ${g.streams.length} conversation(s), for up to ${Math.round(longest)} ms: the application is too slow to take what has arrived. The network is not at fault.`,
        frames: framesOf(g.streams, (s) => s.zero_window_frames),
        predicate: predicate(
          `${service(g)} && tcp.analysis.zero_window`,
          `${byServerSide} by the server, ${byClient} by the client`,
        ),
        remediation: [
          `Look at the application on the ${who}: CPU, blocked threads, its own downstream.`,
          'ss -tn on that machine shows a growing Recv-Q.',
        ],
      };
    }),
  ),
  rule('resets_in_conversation', (a) =>
    byServer(streamsOf(a).filter(isAborted)).map((g) => {
      const byServerSide = g.streams.filter((s) => s.rst_by === 'server').length;
      const who = byServerSide * 2 >= g.streams.length ? 'server' : 'client';
      const odd = g.streams.filter(isForeignReset);
      return {
        severity: 'HIGH',
        title:
          odd.length > 0
            ? `A device in between resets connections of ${g.name}`
            : `The ${who} resets established connections of ${g.name}`,
        explanation:
          odd.length > 0
            ? `In ${odd.length} conversation(s) the reset carries another TTL (${odd[0] ? ttlsOf(odd[0]) : ''}) than the rest of that side's packets: something on the path sent it.`
            : `${g.streams.length} established conversation(s) ended with a reset by the ${who}, before they were closed in order.`,
        frames: framesOf(odd.length > 0 ? odd : g.streams, (s) => s.rst_frames),
        predicate: predicate(
          `${service(g)} && tcp.flags.reset == 1`,
          `resets in ${g.streams.length} established streams, ${odd.length} with a TTL of their own`,
        ),
        remediation:
          odd.length > 0
            ? ['Find the firewall, proxy or load balancer on the path and its idle or policy limits.']
            : [`Read the log of the application on the ${who} at the time of the resets.`],
      };
    }),
  ),
  rule('packet_loss', (a) => {
    if (a.tcp === null) return [];
    const { totals } = a.tcp;
    // What a black hole makes its victims repeat is told there, and says nothing of other packets.
    const resent = dataResent(a) - repeatedBy(victims(a));
    const pct = totals.packets === 0 ? 0 : (100 * resent) / totals.packets;
    if (resent < 5 || pct < 0.2 || resent <= 5 * fragNeeded(a) || seenTwice(a)) return [];
    const worst = a.tcp.with_issues.items.filter(repeatsData);
    const [there, back] = [share(worst, (s) => s.from_client), share(worst, (s) => s.from_server)];
    const way =
      there > 4 * back
        ? ' Nearly all of them were sent by clients: the loss is on the way to the servers.'
        : back > 4 * there
          ? ' Nearly all of them were sent by servers: the loss is on the way to the clients.'
          : '';
    return [
      {
        severity: pct >= 3 ? 'HIGH' : pct >= 1 ? 'MEDIUM' : 'LOW',
        title: `${pct.toFixed(1)} % of TCP packets had to be sent again`,
        explanation: `${resent} segments were repeated among ${totals.packets} TCP packets, with ${totals.duplicate_acks} duplicate ACKs. Losses of this size slow every transfer down.${way}`,
        frames: framesOf(worst, (s) => s.retransmission_frames),
        predicate: predicate(
          'tcp.analysis.retransmission',
          `${totals.retransmissions} frames, ${resent} of them neither handshakes nor spurious`,
        ),
        remediation: [
          'Capture at both ends and compare: the segment where packets disappear is named there.',
          'Check interface errors, policers and overloaded appliances on the path.',
        ],
      },
    ];
  }),
  rule('capture_both_sides', (a) => {
    if (!seenTwice(a)) return [];
    const streams = (a.tcp?.with_issues.items ?? []).filter((s) => repeatedBy([s]) > 0);
    return [
      {
        severity: 'INFO',
        title: 'Packets were captured on both sides of a router',
        explanation:
          'The same packets appear twice, the second time one hop older: the machine that captured forwards them. Retransmissions and segments out of order are counted as they stand in the file, and say nothing about loss.',
        frames: framesOf(streams, (s) => s.retransmission_frames),
        predicate: predicate(
          'tcp.analysis.retransmission',
          'repetitions whose ip.ttl is one lower than that of the packet before',
        ),
        remediation: ['Capture on one interface, or in one direction, to count losses here.'],
      },
    ];
  }),
  rule('packet_reordering', (a) => {
    if (a.tcp === null) return [];
    const { out_of_order: odd, packets } = a.tcp.totals;
    if (odd < 10 || odd < dataResent(a) || odd * 200 < packets || odd <= 5 * fragNeeded(a) || seenTwice(a))
      return [];
    const streams = a.tcp.with_issues.items.filter((s) => sidesOf(s).some((d) => d.out_of_order > 0));
    return [
      {
        severity: 'MEDIUM',
        title: `${odd} TCP segments arrived out of order`,
        explanation: `Segments overtake each other on the way (${((100 * odd) / packets).toFixed(1)} % of TCP packets) without being lost: several paths of different length, or a device that handles packets of one flow in parallel.`,
        frames: framesOf(streams, (s) => s.sample_frames),
        predicate: predicate('tcp.analysis.flags', `tcp.analysis.out_of_order in ${odd} frames`),
        remediation: ['Keep packets of one flow on one path (per-flow load balancing).'],
      },
    ];
  }),
];

/** Notices that packets are too big: what follows them is repetition by design, not loss. */
function fragNeeded(a: Analysis): number {
  const all = a.icmp?.unreachable;
  if (all === undefined || all.items.length === 0) return 0;
  const told = all.items.filter((u) => u.mtu !== null).reduce((n, u) => n + u.count, 0);
  // The list holds the heaviest; those it leaves out are taken to be like them.
  return told * Math.max(1, all.total / all.items.length);
}

/** Repeated segments without handshakes (they have rules of their own) and without needless repetitions. */
function dataResent(a: Analysis): number {
  if (a.tcp === null) return 0;
  const { totals } = a.tcp;
  return Math.max(0, totals.retransmissions - totals.spurious_retransmissions - handshakesRepeated(a));
}

function handshakesRepeated({ tcp, counters }: Analysis): number {
  if (tcp === null) return 0;
  const { syn_sent, syn_ack_received } = tcp.connections;
  return Math.max(0, counters.tcp_syn - syn_sent) + Math.max(0, counters.tcp_synack - syn_ack_received);
}

/** Conversations with the services behind a black hole, those included that began before the capture. */
function victims(a: Analysis): readonly TcpStream[] {
  if (fragNeeded(a) > 0) return [];
  const services = new Set(mostlyStuck(a).map((s) => `${s.server.address} ${s.server.port}`));
  return (a.tcp?.with_issues.items ?? []).filter(
    (s) =>
      services.has(`${s.server.address} ${s.server.port}`) &&
      sidesOf(s).some((d) => d.largest_retransmitted >= LARGE),
  );
}

const repeatsData = (s: TcpStream) =>
  s.from_client.retransmissions > s.syn_retries ||
  s.from_server.retransmissions > Math.max(0, s.from_server.syn - 1);

const repeatedBy = (streams: readonly TcpStream[]) =>
  streams.reduce((n, s) => n + s.from_client.retransmissions + s.from_server.retransmissions, 0);

/** Captured on a router, each packet is there twice, one hop older the second time: repetitions mean nothing. */
export function seenTwice(a: Analysis): boolean {
  const repeating = (a.tcp?.with_issues.items ?? []).filter((s) => repeatedBy([s]) > 0);
  const twice = repeating.filter((s) => sidesOf(s).some((d) => d.ttl_max - d.ttl_min === 1));
  return repeating.length > 0 && twice.length * 5 >= repeating.length * 4;
}

const share = (streams: readonly TcpStream[], of: (s: TcpStream) => TcpSide) =>
  streams.reduce((n, s) => n + of(s).retransmissions, 0);

/** What is repeated although it was acknowledged did get through. */
const notGotThrough = (d: TcpSide) => d.retransmissions - d.spurious_retransmissions;

/** The sender's view: full-size segments are repeated until one side gives up, and little else is sent. */
function isStuck(s: TcpStream): boolean {
  return (
    s.outcome === 'established' &&
    s.closed_by !== 'fin' &&
    sidesOf(s).some(
      (d) =>
        d.largest_retransmitted >= LARGE &&
        d.largest_retransmitted >= d.largest_segment &&
        notGotThrough(d) >= 3 &&
        notGotThrough(d) * 4 >= d.packets,
    )
  );
}

/** Random loss leaves some conversations stuck; a black hole nearly all of those that have much to say. */
function mostlyStuck(a: Analysis): readonly TcpStream[] {
  // Small packets pass a black hole: where SYNs are lost too, something else is at work.
  if (handshakesRepeated(a) * 5 > (a.tcp?.connections.syn_sent ?? 0)) return [];
  const large = streamsOf(a).filter(
    (s) => s.outcome === 'established' && sidesOf(s).some((d) => d.largest_segment >= LARGE),
  );
  const stuck = new Set(large.filter(isStuck));
  // Those that began just before the capture ended had no time to repeat anything three times.
  const old = large.filter((s) => stuck.has(s) || (a.capture.latest ?? 0) - s.first > 3);
  return byServer(old)
    .filter((g) => g.streams.filter((s) => stuck.has(s)).length * 2 > g.streams.length)
    .flatMap((g) => g.streams.filter((s) => stuck.has(s)));
}

/** The receiver's view: gaps that are never filled, and nothing large ever arrives. */
function missesLarge(a: Analysis, s: TcpStream): boolean {
  return (
    s.outcome === 'established' &&
    (a.tcp?.totals.acked_unseen ?? 0) < (a.tcp?.totals.lost_segments ?? 0) &&
    sidesOf(s).some(
      (d) =>
        d.lost_segments > 0 &&
        d.largest_gap >= LARGE &&
        d.retransmissions + d.out_of_order === 0 &&
        d.largest_segment < LARGE + 100 &&
        d.mss > LARGE + 100,
    )
  );
}

/** Reset after data and before an orderly end: a reset after both FINs is how many clients hang up. */
function isAborted(s: TcpStream): boolean {
  return (
    s.outcome === 'established' &&
    s.rst_by !== 'none' &&
    s.from_client.payload_bytes + s.from_server.payload_bytes > 0 &&
    (s.from_client.fin === 0 || s.from_server.fin === 0)
  );
}

function isForeignReset(s: TcpStream): boolean {
  const d = s.rst_by === 'server' ? s.from_server : s.from_client;
  return d.ttl_rst > 0 && d.ttl_first > 0 && Math.abs(d.ttl_rst - d.ttl_first) > 5;
}

function ttlsOf(s: TcpStream): string {
  const d = s.rst_by === 'server' ? s.from_server : s.from_client;
  return `${d.ttl_rst} instead of ${d.ttl_first}`;
}
