import { rule } from './rule.ts';

export const DNS_RULES = [
  rule('dns_server_silent', ({ dns }) =>
    (dns?.servers.items ?? [])
      .filter((s) => s.unanswered >= 2 && s.unanswered * 2 >= s.queries)
      .slice(0, 3)
      .map((s) => ({
        severity: s.answered === 0 ? ('CRITICAL' as const) : ('HIGH' as const),
        title: `DNS server ${s.server} does not answer`,
        explanation: `${s.unanswered} of ${s.queries} queries to ${s.server} stayed without an answer.`,
        frames: s.sample_frames,
        predicate: `dns.flags.response == 0 && ip.dst == ${s.server}: ${s.unanswered} without response`,
        remediation: [
          'Check that the server is reachable on UDP and TCP port 53.',
          'Use another resolver meanwhile.',
        ],
      })),
  ),
  rule('nxdomain', ({ dns }) => {
    if (!dns || dns.nxdomain.total === 0) return [];
    const count = dns.nxdomain.items.reduce((n, d) => n + d.count, 0);
    const burst = count >= 10 && count * 4 >= dns.queries;
    return [
      {
        severity: burst ? ('HIGH' as const) : ('MEDIUM' as const),
        title: `${dns.nxdomain.total} name(s) do not exist`,
        explanation: `NXDOMAIN for ${dns.nxdomain.items
          .slice(0, 5)
          .map((d) => `${d.name} (${d.count})`)
          .join(', ')}.`,
        frames: dns.nxdomain.items.flatMap((d) => d.sample_frames).slice(0, 10),
        predicate: `dns.flags.rcode == 3: ${count} responses`,
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
          .map((d) => d.name)
          .join(', ')}: the server could not get an answer itself.`,
        frames: dns.servfail.items.flatMap((d) => d.sample_frames).slice(0, 10),
        predicate: 'dns.flags.rcode == 2',
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
        explanation: `The slowest twentieth of ${latency.count} answers took longer than ${Math.round(latency.p95)} ms (median ${latency.median.toFixed(1)} ms).`,
        frames: (dns?.slow.items ?? []).map((s) => s.frame).slice(0, 10),
        predicate: 'dns.time > 0.5',
        remediation: ['Ask a resolver that is nearer, or find out what the slow names have in common.'],
      },
    ];
  }),
  rule('dns_tunnelling', ({ dns }) =>
    (dns?.parents.items ?? [])
      .filter((p) => p.distinct_names >= 30 && p.longest_label >= 30 && p.entropy >= 3.5)
      .slice(0, 2)
      .map((p) => ({
        severity: 'HIGH' as const,
        title: `Names below ${p.parent} look like a tunnel`,
        explanation: `${p.distinct_names} different names below ${p.parent}, up to ${p.longest_label} characters a label, ${p.entropy.toFixed(1)} bits of entropy a character: data carried in queries.`,
        frames: p.sample_frames,
        predicate: `dns.qry.name contains "${p.parent}": ${p.distinct_names} distinct names`,
        remediation: ['Find the process that asks for them; block the parent domain if it is not yours.'],
      })),
  ),
  rule('dhcp_trouble', ({ dhcp }) =>
    dhcp && (dhcp.naks > 0 || dhcp.discovers_unanswered > 0)
      ? [
          {
            severity: 'MEDIUM' as const,
            title: 'DHCP does not hand out addresses',
            explanation: `${dhcp.discovers_unanswered} discovers without an offer, ${dhcp.naks} refusals.`,
            frames: dhcp.sample_frames,
            predicate: 'dhcp.option.dhcp == 6 || dhcp.option.dhcp == 1 without offer',
            remediation: ['Check the DHCP server and the relay on this segment.'],
          },
        ]
      : [],
  ),
  rule('tls_alerts', ({ tls }) => {
    const fatal = (tls?.alerts.items ?? []).filter((x) => x.level === 'fatal');
    return fatal.slice(0, 3).map((x) => ({
      severity: 'MEDIUM' as const,
      title: `TLS fails: ${x.description}`,
      explanation: `${x.count} fatal alert(s) "${x.description}" from ${x.src} to ${x.dst}.`,
      frames: x.sample_frames,
      predicate: `tls.alert_message.level == 2 && ip.src == ${x.src}`,
      remediation: ['Compare protocol versions, certificates and names at both ends.'],
    }));
  }),
];
