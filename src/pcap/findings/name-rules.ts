/** Names and applications: DNS, DHCP, TLS, HTTP. */
import { from, predicate, quoted, to } from './filter.ts';
import { MOST, rule } from './rule.ts';

export const NAME_RULES = [
  rule('dns_server_silent', ({ dns }) =>
    (dns?.servers.items ?? [])
      .filter((s) => s.unanswered >= 2 && s.unanswered * 2 >= s.queries)
      .slice(0, MOST)
      .map((s) => ({
        severity: s.answered === 0 ? ('CRITICAL' as const) : ('HIGH' as const),
        title: `DNS server ${s.server} does not answer`,
        explanation: `${s.unanswered} of ${s.queries} queries to ${s.server} stayed without an answer.`,
        frames: s.sample_frames,
        predicate: predicate(
          `dns.flags.response == 0 && ${to(s.server)}`,
          `${s.unanswered} without a response`,
        ),
        remediation: [
          'Check that the server is reachable on UDP and TCP port 53.',
          'Use another resolver meanwhile.',
        ],
      })),
  ),
  rule('nxdomain', ({ dns }) => {
    if (!dns || dns.nxdomain.total === 0) return [];
    const count = dns.rcodes.find((r) => r.rcode === 'NXDOMAIN')?.count ?? 0;
    const often = count >= 3 && count * 4 >= dns.queries;
    return [
      {
        severity: often && count >= 10 ? ('HIGH' as const) : often ? ('MEDIUM' as const) : ('LOW' as const),
        title: `${dns.nxdomain.total} name(s) do not exist`,
        explanation: `${count} of ${dns.responses} answers say so (NXDOMAIN): ${dns.nxdomain.items
          .slice(0, 5)
          .map((d) => `${d.name} (${d.count})`)
          .join(', ')}.`,
        frames: dns.nxdomain.items.slice(0, 5).flatMap((d) => d.sample_frames.slice(0, 2)),
        predicate: predicate('dns.flags.rcode == 3', `${count} responses`),
        remediation: ['Check the record, its zone, and whether the zone is linked to the client’s network.'],
      },
    ];
  }),
  rule('servfail', ({ dns }) => {
    if (!dns || dns.servfail.total === 0) return [];
    return [
      {
        severity: 'HIGH' as const,
        title: `${dns.servfail.total} name(s) could not be resolved by the server`,
        explanation: `SERVFAIL for ${dns.servfail.items
          .slice(0, 5)
          .map((d) => `${d.name} (${d.count})`)
          .join(', ')}: the server could not get an answer itself.`,
        frames: dns.servfail.items.slice(0, 5).flatMap((d) => d.sample_frames.slice(0, 2)),
        predicate: predicate('dns.flags.rcode == 2', `${dns.servfail.total} names`),
        remediation: ['Look at the resolver: forwarders, DNSSEC, the zone’s own servers.'],
      },
    ];
  }),
  rule('dns_slow', ({ dns }) => {
    const latency = dns?.latency;
    if (!latency || latency.count < 5 || latency.p95 < 500) return [];
    return [
      {
        severity: 'MEDIUM' as const,
        title: `DNS answers take up to ${Math.round(latency.max)} ms`,
        explanation: `One in twenty of ${latency.count} answers took ${Math.round(latency.p95)} ms or more (median ${latency.median.toFixed(1)} ms).`,
        frames: (dns?.slowest ?? []).filter((s) => s.latency_ms >= 500).map((s) => s.frame),
        predicate: predicate('dns.time >= 0.5', `p95 ${latency.p95.toFixed(1)} ms`),
        remediation: ['Ask a resolver that is nearer, or find out what the slow names have in common.'],
      },
    ];
  }),
  rule('dns_tunnelling', ({ dns }) =>
    (dns?.parents.items ?? [])
      .filter((p) => p.distinct_names >= 30 && p.longest_label >= 30 && p.entropy >= 3.5)
      .slice(0, MOST)
      .map((p) => ({
        severity: 'HIGH' as const,
        title: `Names below ${p.parent} look like a tunnel`,
        explanation: `${p.distinct_names} different names below ${p.parent}, up to ${p.longest_label} characters a label, ${p.entropy.toFixed(1)} bits of entropy a character: data carried in queries.`,
        frames: p.sample_frames,
        predicate: predicate(`dns.qry.name contains ${quoted(p.parent)}`, `${p.distinct_names} names`),
        remediation: ['Find the process that asks for them; block the parent domain if it is not yours.'],
      })),
  ),
  rule('dhcp_trouble', ({ dhcp }) =>
    dhcp && (dhcp.naks > 0 || dhcp.discovers_unanswered > 1)
      ? [
          {
            severity: 'MEDIUM' as const,
            title: 'DHCP does not hand out addresses',
            explanation: `${dhcp.discovers_unanswered} discovers without an offer, ${dhcp.naks} refusals.`,
            frames: dhcp.sample_frames,
            predicate: predicate(
              'dhcp',
              `dhcp.option.dhcp == 6 in ${dhcp.naks} frames, ${dhcp.discovers_unanswered} discovers without offer`,
            ),
            remediation: ['Check the DHCP server and the relay on this segment.'],
          },
        ]
      : [],
  ),
  rule('tls_alerts', ({ tls }) =>
    (tls?.alerts.items ?? [])
      .filter((x) => x.level === 'fatal')
      .slice(0, MOST)
      .map((x) => ({
        severity: 'MEDIUM' as const,
        title: `TLS fails: ${x.description}`,
        explanation: `${x.count} fatal alert(s) "${x.description}" from ${x.src} to ${x.dst}.`,
        frames: x.sample_frames,
        predicate: predicate(`tls.alert_message.level == 2 && ${from(bare(x.src))}`, `${x.count} alerts`),
        remediation: ['Compare protocol versions, certificates and names at both ends.'],
      })),
  ),
  rule('http_errors', ({ http }) => {
    const failed = (http?.statuses ?? []).filter((s) => s.status >= 400);
    const count = failed.reduce((n, s) => n + s.count, 0);
    if (http === null || count === 0) return [];
    const server = failed.some((s) => s.status >= 500);
    return [
      {
        severity: server ? ('MEDIUM' as const) : ('LOW' as const),
        title: `${count} HTTP answer(s) report an error`,
        explanation: `Of ${http.responses} answers: ${failed
          .slice(0, 6)
          .map((s) => `${s.count} × ${s.status}`)
          .join(
            ', ',
          )}. The network carried them; the application${server ? '' : ' or who may use it'} is the place to look.`,
        frames: failed.flatMap((s) => s.sample_frames.slice(0, 3)),
        predicate: predicate('http.response.code >= 400', `${count} answers`),
        remediation: [
          server
            ? 'Read the log of the server at the time of these frames.'
            : 'Check the address asked for, the credentials and the access rules of the service.',
        ],
      },
    ];
  }),
];

/** An address without the port that may follow it. */
function bare(endpoint: string): string {
  if (endpoint.startsWith('[')) return endpoint.slice(1, endpoint.indexOf(']'));
  return endpoint.split(':').length === 2 ? endpoint.slice(0, endpoint.indexOf(':')) : endpoint;
}
