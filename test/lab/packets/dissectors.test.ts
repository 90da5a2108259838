/** Payloads suit the dissector of their port: whatever the port of a flow, tshark has nothing to remark. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { synthesizeCapture } from '../../../src/lab/packets/index.ts';
import { NOW_MS, pair } from './pair.ts';
import { hasTshark, rows } from './tshark.ts';

const USUAL_TCP = [
  21, 22, 23, 25, 53, 80, 88, 110, 111, 135, 139, 143, 179, 389, 443, 445, 465, 514, 587, 636, 873, 993, 995,
  1414, 1433, 1521, 1883, 2049, 2181, 2375, 2379, 2380, 3000, 3128, 3268, 3306, 3389, 4222, 5000, 5044, 5060,
  5432, 5601, 5671, 5672, 5900, 5984, 5985, 5986, 6379, 6380, 6443, 7000, 7001, 7687, 8000, 8080, 8081, 8086,
  8088, 8200, 8300, 8443, 8500, 8883, 8888, 9000, 9042, 9090, 9092, 9093, 9100, 9200, 9443, 10250, 11211,
  15672, 26257, 27017, 50051, 61616,
];
const USUAL_UDP = [
  53, 67, 69, 88, 123, 137, 138, 161, 162, 389, 443, 500, 514, 1194, 1434, 1812, 1813, 2049, 3478, 4500, 4789,
  5060, 5353, 5683, 6081, 8125, 8472, 9995, 11211, 27015, 51820,
];

/** Dissectors that accept nothing but their own protocol, spoken correctly. Nobody's flows in a cloud. */
const STRICT_TCP = new Set([639, 1723, 2321, 2322, 3863, 9300, 13400]);
const STRICT_UDP = new Set([
  427, 464, 513, 520, 521, 525, 854, 1052, 1153, 1745, 2246, 2313, 2945, 3130, 3544, 3784, 3804, 3863, 4341,
  4729, 4784, 4991, 5353, 5355, 6635, 6784, 7784, 8805, 9214, 9875, 9899, 13400, 23272, 25826, 44818, 54328,
]);

function remarks(protocol: 'tcp' | 'udp', ports: readonly number[], bytes: number): string[] {
  const flows = ports.map((port) => ({
    from: 'client',
    to: 'server',
    port,
    protocol,
    every_ms: 20_000,
    bytes,
  }));
  const listens = ports.map((port) => ({ port, protocol }));
  const world = pair({ id: `ports-${protocol}-${bytes}`, flows, server: { listens } });
  const pcap = synthesizeCapture(world, { vm: 'client', startMs: NOW_MS, durationMs: 20_000 });
  const met = new Set(
    rows(pcap, `${protocol} && ip.src == 10.7.1.4`, `${protocol}.dstport`).map(([port]) => port),
  );
  expect(met.size).toBe(ports.length);
  const found = rows(
    pcap,
    '_ws.malformed || _ws.expert.severity >= 6291456',
    `${protocol}.port`,
    '_ws.expert.message',
  );
  return found.map((row) => row.join(' '));
}

describe.skipIf(!hasTshark)('payloads', () => {
  it('[LABP-06] on the usual TCP ports are read without a remark', () => {
    for (const bytes of [300, 6000]) expect(remarks('tcp', USUAL_TCP, bytes)).toEqual([]);
  });

  it('[LABP-06] on the usual UDP ports are read without a remark', () => {
    const ports = USUAL_UDP.filter((port) => !STRICT_UDP.has(port));
    for (const bytes of [60, 1200]) expect(remarks('udp', ports, bytes)).toEqual([]);
  });

  it.skipIf(process.env.WRIT_LONG !== '1')(
    '[LABP-06] on every port tshark has a dissector for (long)',
    () => {
      const table = spawnSync('tshark', ['-G', 'decodes'], { encoding: 'utf8', maxBuffer: 1 << 26 }).stdout;
      const portsOf = (name: string, strict: ReadonlySet<number>) =>
        [
          ...new Set(
            table
              .split('\n')
              .map((line) => line.split('\t'))
              .filter(([kind]) => kind === name)
              .map(([, port]) => Number(port)),
          ),
        ].filter((port) => port >= 1 && port < 32_768 && !strict.has(port));
      const failing = new Set<string>();
      for (const [protocol, ports] of [
        ['tcp', portsOf('tcp.port', STRICT_TCP)],
        ['udp', portsOf('udp.port', STRICT_UDP)],
      ] as const) {
        for (let at = 0; at < ports.length; at += 60) {
          for (const remark of remarks(protocol, ports.slice(at, at + 60), 700))
            failing.add(`${protocol} ${remark}`);
        }
      }
      expect([...failing]).toEqual([]);
    },
    300_000,
  );
});
