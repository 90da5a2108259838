/** Connections that never come about. */
import type { Analysis } from '../analysis.ts';
import { endpointText } from '../facts/text.ts';
import { host, predicate, SYN, service, to } from './filter.ts';
import { byServer, framesOf, MOST, rule, streamsOf } from './rule.ts';

type Failing = NonNullable<Analysis['tcp']>['failing_servers']['items'][number];

export const CONNECT_RULES = [
  rule('syn_unanswered', (a) =>
    (a.tcp?.failing_servers.items ?? [])
      .filter((f) => f.unanswered >= f.refused && !toldByIcmp(a, f) && waitedLongEnough(a, f))
      .slice(0, MOST)
      .map((f) => {
        const name = endpointText(f.server, f.port);
        return {
          severity: !everAnswered(a, f)
            ? 'CRITICAL'
            : f.unanswered * 4 >= (a.tcp?.connections.syn_sent ?? 0)
              ? 'HIGH'
              : 'MEDIUM',
          title: `No answer from ${name}`,
          explanation: `${f.unanswered} connection attempt(s) to ${f.server} port ${f.port} got no answer at all: packets are dropped on the way there or back (security group, route, firewall of the host) or the machine is down.`,
          frames: f.sample_frames,
          predicate: predicate(
            `${to(f.server)} && tcp.dstport == ${f.port} && ${SYN}`,
            `no SYN-ACK and no RST follows for ${f.unanswered} attempts`,
          ),
          remediation: [
            'Check NSGs at both ends, the effective route in both directions, and the firewall inside the server.',
            'Capture at the server: if no SYN arrives there, the loss is before it.',
          ],
        };
      }),
  ),
  rule('connection_refused', (a) =>
    (a.tcp?.failing_servers.items ?? [])
      .filter((f) => f.refused > f.unanswered)
      .slice(0, MOST)
      .map((f) => {
        const name = endpointText(f.server, f.port);
        return {
          severity: 'HIGH',
          title: `Connections to ${name} are refused`,
          explanation: `${f.refused} attempt(s) were answered with a reset: the path is open, but nothing listens on the port (or a device answers in its place).`,
          frames: f.sample_frames,
          predicate: predicate(
            `${host(f.server)} && tcp.port == ${f.port} && (${SYN} || tcp.flags.reset == 1)`,
            `${f.refused} attempts answered with RST`,
          ),
          remediation: [
            'Start the service or check the address it is bound to.',
            'Compare the TTL of the reset with that of other packets of the server: another value means a middlebox sent it.',
          ],
        };
      }),
  ),
  rule('handshake_unfinished', (a) =>
    byServer(
      streamsOf(a).filter(
        (s) => s.outcome === 'half_open' && s.from_server.syn >= 2 && s.from_client.packets > 0,
      ),
    )
      // Among many that succeed, a few unfinished ones are ordinary loss.
      .filter((g) => g.streams.length * 4 >= (a.tcp?.connections.handshakes_completed ?? 0))
      .map((g) => ({
        severity: 'CRITICAL',
        title: `Answers of ${g.name} do not reach the client`,
        explanation: `In ${g.streams.length} conversation(s) the server answered the SYN again and again and the client never took it up: the way back loses packets (asymmetric route through a stateful device, a filter on the return path), or the addresses of the SYNs are forged.`,
        frames: framesOf(g.streams, (s) => s.syn_frames),
        predicate: predicate(
          `${service(g)} && tcp.flags.syn == 1`,
          `SYN-ACK sent more than once, handshake never completed, in ${g.streams.length} streams`,
        ),
        remediation: [
          'Compare the effective routes of both ends: the answer must pass the same stateful devices as the request.',
          'Capture at the client: if no SYN-ACK arrives there, the way back loses it.',
        ],
      })),
  ),
  rule('one_way_traffic', (a) => {
    const c = a.tcp?.connections;
    if (!c) return [];
    // Attempts without an answer have a rule of their own.
    const lonely = c.one_way - c.unanswered;
    if (lonely < 3 || lonely <= c.two_way) return [];
    const streams = streamsOf(a).filter(
      (s) => s.outcome !== 'syn_unanswered' && (s.from_client.packets === 0 || s.from_server.packets === 0),
    );
    return [
      {
        severity: 'MEDIUM',
        title: 'Mostly one direction of the conversations was captured',
        explanation: `${lonely} streams show one direction only, ${c.two_way} show both: replies take another path than requests, or the capture point sees only one of them.`,
        frames: framesOf(streams, (s) => [s.first_frame]),
        predicate: predicate('tcp', `${lonely} streams with packets in one direction only`),
        remediation: ['Compare the effective routes of both ends for asymmetry.'],
      },
    ];
  }),
  rule('connect_slow', (a) =>
    byServer(streamsOf(a).filter((s) => s.handshake_rtt_ms !== null)).flatMap((g) => {
      const times = g.streams.map((s) => s.handshake_rtt_ms!).sort((x, y) => x - y);
      const median = times[times.length >> 1]!;
      const near = isPrivate(g.address) && isPrivate(g.streams[0]!.client.address);
      if (times.length < 3 || median < (near ? 30 : 200)) return [];
      const slow = g.streams.filter((s) => s.handshake_rtt_ms! >= median);
      return [
        {
          severity: median >= (near ? 200 : 500) ? ('HIGH' as const) : ('MEDIUM' as const),
          title: `Connecting to ${g.name} takes ${Math.round(median)} ms (median)`,
          explanation: `Half of ${times.length} handshakes took ${Math.round(median)} ms or more, the slowest ${Math.round(times.at(-1)!)} ms. ${near ? 'Both addresses are private: inside a region or site a few milliseconds are usual.' : 'Even between continents 200 ms are much.'}`,
          frames: framesOf(slow, (s) => s.syn_frames.slice(0, 1)),
          predicate: predicate(
            `${service(g)} && ${SYN}`,
            `median time to the end of the handshake ${median.toFixed(1)} ms over ${times.length} streams`,
          ),
          remediation: [
            'Find the hop that adds the delay: captures at both ends, compared, name the segment.',
            'A full queue on a narrow link looks the same: compare with the time when nothing is transferred.',
          ],
        },
      ];
    }),
  ),
];

/** A device that says no over ICMP does answer: the finding about its message covers it. */
function toldByIcmp(a: Analysis, f: Failing): boolean {
  return (a.icmp?.unreachable.items ?? []).some(
    (u) => u.original?.dst === f.server && u.original.dst_port === f.port,
  );
}

/** A single SYN sent just before the capture ended proves nothing. */
function waitedLongEnough(a: Analysis, f: Failing): boolean {
  if (f.unanswered === 0) return false;
  if (f.unanswered > 1) return true;
  const stream = streamsOf(a).find(
    (s) => s.server.address === f.server && s.server.port === f.port && s.outcome === 'syn_unanswered',
  );
  return stream === undefined || stream.syn_retries > 0 || (a.capture.latest ?? 0) - stream.first >= 3;
}

const everAnswered = (a: Analysis, f: Failing) =>
  f.refused > 0 ||
  streamsOf(a).some(
    (s) => s.server.address === f.server && s.server.port === f.port && s.outcome === 'established',
  );

export function isPrivate(address: string): boolean {
  return /^(?:10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd][0-9a-f]{2}:|fe80:|::1$)/u.test(
    address,
  );
}
