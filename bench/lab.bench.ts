import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadWorld, prepareLab, trace } from '../src/lab/index.ts';
import { synthesizeCapture } from '../src/lab/packets/index.ts';
import { parseWorld } from '../src/lab/world/load.ts';
import { type Bench, type BenchRow, median } from './bench.ts';

const WORLD = fileURLToPath(new URL('../test/lab/fixtures/shop.yaml', import.meta.url));

const CALLS: readonly (readonly [what: string, argv: readonly string[]])[] = [
  ['az account show', ['account', 'show']],
  ['az vm list', ['vm', 'list']],
  [
    'az effective routes',
    ['network', 'nic', 'show-effective-route-table', '-g', 'shop-rg', '-n', 'web-01-nic'],
  ],
  ['az vm list --query', ['vm', 'list', '--query', '[].name', '-o', 'tsv']],
  [
    'az vm run-command',
    [
      'vm',
      'run-command',
      'invoke',
      '-g',
      'shop-rg',
      '-n',
      'web-01',
      '--command-id',
      'RunShellScript',
      '--scripts',
      'ss -ltnp',
    ],
  ],
];

function wallMs(file: string, argv: readonly string[]): number {
  const began = performance.now();
  spawnSync(file, argv, { stdio: 'ignore' });
  return performance.now() - began;
}

/** Two flows that make about ten thousand packets in a minute. */
function busyWorld() {
  return parseWorld(
    `id: busy
now: 2026-01-15T14:30:00Z
groups: [{ name: rg, location: westeurope }]
vnets: [{ name: v, group: rg, prefixes: [10.0.0.0/16], subnets: [{ name: s, prefix: 10.0.1.0/24 }] }]
vms:
  - { name: a, group: rg, subnet: v/s, ip: 10.0.1.4 }
  - { name: b, group: rg, subnet: v/s, ip: 10.0.1.5, listens: [{ port: 80 }] }
flows: [{ from: a, to: b, port: 80, every_ms: 80, bytes: 2000 }]`,
    'busy.yaml',
  );
}

async function calls(runs: number): Promise<BenchRow[]> {
  const { bin } = await prepareLab(WORLD, join(mkdtempSync(join(tmpdir(), 'writ-lab-bench-')), 'lab'));
  const az = join(bin, 'az');
  for (const [, argv] of CALLS) wallMs(az, argv);
  const node: number[] = [];
  const times = CALLS.map((): number[] => []);
  // Interleaved, so that whatever else the machine does falls on all alike.
  for (let i = 0; i < runs; i++) {
    node.push(wallMs(process.execPath, ['-e', '0']));
    CALLS.forEach(([, argv], j) => void times[j]!.push(wallMs(az, argv)));
  }
  const base = median(node);
  return CALLS.map(([what], j) => ({
    what: `lab: ${what}`,
    value: Number((median(times[j]!) / base).toFixed(2)),
    unit: '× node -e 0',
    target: '<= 1.6',
    inside: `a whole process, against node -e 0 (${base.toFixed(0)} ms) in the same minute`,
    spread: `${Math.min(...times[j]!).toFixed(0)}–${Math.max(...times[j]!).toFixed(0)} ms`,
  }));
}

function captures(runs: number): BenchRow {
  const world = busyWorld();
  const start = Date.parse(world.now);
  const times: number[] = [];
  let packets = 0;
  for (let i = 0; i < runs; i++) {
    const began = performance.now();
    const bytes = synthesizeCapture(world, { vm: 'a', startMs: start, durationMs: 60_000 });
    times.push(performance.now() - began);
    packets = countRecords(bytes);
  }
  return {
    what: `lab: 60 s capture, ${packets} packets`,
    value: Math.round(median(times)),
    unit: 'ms',
    target: '< 1000',
    inside: 'synthesis of the whole pcap file in memory',
  };
}

function countRecords(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let n = 0;
  for (let at = 24; at + 16 <= bytes.length; at += 16 + view.getUint32(at + 8, true)) n++;
  return n;
}

function traces(runs: number): BenchRow {
  const world = loadWorld(WORLD);
  const began = performance.now();
  for (let i = 0; i < runs; i++)
    trace(world, { from: { kind: 'vm', name: 'web-01' }, to: 'db-01', protocol: 'tcp', port: 5432 });
  return {
    what: 'lab: trace through an appliance and back',
    value: Number((((performance.now() - began) * 1000) / runs).toFixed(1)),
    unit: 'µs',
    target: '',
    inside: 'request and reply, pure',
  };
}

export const bench: Bench = {
  name: 'lab',
  run: async ({ quick }) => [
    ...(await calls(quick ? 9 : 31)),
    captures(quick ? 3 : 9),
    traces(quick ? 2000 : 20_000),
  ],
};
