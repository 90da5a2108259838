import type { Analysis, DnsFacts } from '../analysis.ts';
import type { DualEnd } from './dual-end.ts';

/** Two captures side by side, by rates: sizes differ, rates compare. */
export interface Comparison {
  readonly schema: 'writ.pcap.comparison/1';
  readonly a: { readonly file: string; readonly sha256: string; readonly packets: number };
  readonly b: { readonly file: string; readonly sha256: string; readonly packets: number };
  readonly metrics: readonly Metric[];
  readonly verdict: 'stable' | 'changed' | 'significant' | 'critical';
  /** Present when both captures saw the same packets: what happened between the two points. */
  readonly dual_end: DualEnd | null;
}

export interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly a: number;
  readonly b: number;
  /** Percent from a to b; null when a is zero and b is not. */
  readonly change_pct: number | null;
  readonly judgement: 'stable' | 'changed' | 'significant' | 'critical';
  readonly worse: boolean;
}

export function compareRates(a: Analysis, b: Analysis, dualEnd: DualEnd | null): Comparison {
  const metrics = METRICS.flatMap((m): Metric[] => {
    const [x, y] = [m.of(a), m.of(b)];
    if (x === null || y === null || (x === 0 && y === 0)) return [];
    const change = x === 0 ? null : ((y - x) / x) * 100;
    return [
      {
        name: m.name,
        unit: m.unit,
        a: round(x),
        b: round(y),
        change_pct: change === null ? null : round(change),
        judgement: judge(change, m.unit.startsWith('%') ? y : Number.POSITIVE_INFINITY),
        worse: m.lowerIsBetter ? y > x : y < x,
      },
    ];
  });
  const worst = metrics.filter((m) => m.worse).map((m) => m.judgement);
  const verdict =
    (['critical', 'significant', 'changed'] as const).find((v) => worst.includes(v)) ?? 'stable';
  const side = (x: Analysis) => ({
    file: x.capture.file,
    sha256: x.capture.sha256,
    packets: x.capture.packets,
  });
  return { schema: 'writ.pcap.comparison/1', a: side(a), b: side(b), metrics, verdict, dual_end: dualEnd };
}

/** Under 10 % is stable, over 50 % significant, over 200 % critical. What was not there before has no percentage. */
function judge(change: number | null, now: number): Metric['judgement'] {
  if (change === null) return now >= 1 ? 'critical' : 'significant';
  const size = Math.abs(change);
  return size < 10 ? 'stable' : size <= 50 ? 'changed' : size <= 200 ? 'significant' : 'critical';
}

const round = (n: number) => Math.round(n * 1000) / 1000;
const rate = (part: (a: Analysis) => number, whole: (a: Analysis) => number) => (a: Analysis) =>
  whole(a) === 0 ? null : (100 * part(a)) / whole(a);
const failedAnswers = (dns: DnsFacts) =>
  dns.rcodes.filter((r) => r.rcode !== 'NOERROR').reduce((n, r) => n + r.count, 0);
const tcpPackets = (a: Analysis) => a.tcp?.totals.packets ?? 0;

const METRICS: readonly {
  readonly name: string;
  readonly unit: string;
  readonly lowerIsBetter: boolean;
  readonly of: (a: Analysis) => number | null;
}[] = [
  {
    name: 'retransmission rate',
    unit: '% of TCP packets',
    lowerIsBetter: true,
    of: rate((a) => a.tcp?.totals.retransmissions ?? 0, tcpPackets),
  },
  {
    name: 'duplicate ACK rate',
    unit: '% of TCP packets',
    lowerIsBetter: true,
    of: rate((a) => a.tcp?.totals.duplicate_acks ?? 0, tcpPackets),
  },
  {
    name: 'out-of-order rate',
    unit: '% of TCP packets',
    lowerIsBetter: true,
    of: rate((a) => a.tcp?.totals.out_of_order ?? 0, tcpPackets),
  },
  {
    name: 'reset rate',
    unit: '% of TCP packets',
    lowerIsBetter: true,
    of: rate((a) => a.tcp?.totals.rst ?? 0, tcpPackets),
  },
  {
    name: 'zero-window rate',
    unit: '% of TCP packets',
    lowerIsBetter: true,
    of: rate((a) => a.tcp?.totals.zero_windows ?? 0, tcpPackets),
  },
  {
    // Failures, not successes: from 100 % to none a success rate falls by 100 % only.
    name: 'handshake failure rate',
    unit: '% of attempts',
    lowerIsBetter: true,
    of: rate(
      (a) => Math.max(0, (a.tcp?.connections.syn_sent ?? 0) - (a.tcp?.connections.handshakes_completed ?? 0)),
      (a) => a.tcp?.connections.syn_sent ?? 0,
    ),
  },
  {
    name: 'ACK round-trip time',
    unit: 'ms (median)',
    lowerIsBetter: true,
    of: (a) => a.tcp?.ack_rtt?.median ?? null,
  },
  {
    name: 'handshake time',
    unit: 'ms (median)',
    lowerIsBetter: true,
    of: (a) => a.tcp?.handshake_rtt?.median ?? null,
  },
  {
    name: 'DNS failure rate',
    unit: '% of queries',
    lowerIsBetter: true,
    of: rate(
      (a) => (a.dns ? a.dns.unanswered + failedAnswers(a.dns) : 0),
      (a) => a.dns?.queries ?? 0,
    ),
  },
  {
    name: 'DNS latency',
    unit: 'ms (median)',
    lowerIsBetter: true,
    of: (a) => a.dns?.latency?.median ?? null,
  },
  {
    name: 'ICMP round-trip time',
    unit: 'ms (median)',
    lowerIsBetter: true,
    of: (a) => a.icmp?.rtt?.median ?? null,
  },
  {
    name: 'throughput',
    unit: 'bytes/s',
    lowerIsBetter: false,
    of: (a) => (a.capture.duration_seconds === 0 ? null : a.capture.bytes / a.capture.duration_seconds),
  },
];
