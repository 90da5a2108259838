import { captureStatistics } from '../src/lab/packets/index.ts';
import { parseWorld } from '../src/lab/world/load.ts';
import { type Bench, type BenchRow, median } from './bench.ts';

/** Two web servers and a database, busy enough for rather more than 10,000 packets a minute at the database. */
function busyWorld(link: object) {
  const vm = (name: string, ip: string) => ({
    name,
    group: 'rg',
    subnet: 'vnet/app',
    ip,
    listens: [{ port: 5432 }],
  });
  return parseWorld(
    JSON.stringify({
      id: 'bench',
      now: '2026-03-02T10:00:00Z',
      groups: [{ name: 'rg', location: 'westeurope' }],
      vnets: [
        {
          name: 'vnet',
          group: 'rg',
          prefixes: ['10.8.0.0/16'],
          subnets: [{ name: 'app', prefix: '10.8.1.0/24' }],
        },
      ],
      vms: [vm('web-1', '10.8.1.4'), vm('web-2', '10.8.1.5'), { ...vm('db', '10.8.1.9'), link }],
      flows: [
        { from: 'web-1', to: 'db', port: 5432, every_ms: 380, bytes: 6000, reply_bytes: 12_000 },
        { from: 'web-2', to: 'db', port: 5432, every_ms: 380, bytes: 6000, reply_bytes: 12_000 },
      ],
    }),
    'bench.yaml',
  );
}

function measure(what: string, link: object, target: string, repeats: number): BenchRow {
  const world = busyWorld(link);
  const options = { vm: 'db', startMs: Date.parse(world.now), durationMs: 60_000 };
  let packets = 0;
  const times: number[] = [];
  for (let run = 0; run < repeats; run += 1) {
    const started = performance.now();
    packets = captureStatistics(world, options).packets;
    times.push(performance.now() - started);
  }
  return {
    what: `${what} (${packets} packets)`,
    value: Math.round(median(times)),
    unit: 'ms',
    target,
    inside:
      'world in memory to finished pcap bytes, the half minute before the capture included; first run included',
    spread: `${Math.round(Math.min(...times))}–${Math.round(Math.max(...times))} ms`,
  };
}

export const bench: Bench = {
  name: 'lab-packets',
  run: async ({ quick }) => {
    const repeats = quick ? 3 : 9;
    return [
      measure('a 60 s capture, healthy', {}, '<= 1000', repeats),
      measure(
        'a 60 s capture, 3 % loss, jitter, reordering',
        { loss_pct: 3, delay_ms: 5, jitter_ms: 2, reorder_pct: 2 },
        '<= 1000',
        repeats,
      ),
    ];
  },
};
