/** The forensic engine beside tshark: the same file, the same run, whole processes from start to result. */
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyze, findingsOf, semanticReport } from '../src/pcap/index.ts';
import { type Bench, type BenchRow, median } from './bench.ts';
import { writeTraffic } from './pcap/traffic.ts';

const WRIT = fileURLToPath(new URL('../bin/writ.js', import.meta.url));
const SMALL = 30_000;
/** Mean size of a packet of the traffic, a little less: the large file must not come out too small. */
const PACKET_BYTES = 700;

/** One pass as a pipeline makes it: the fields the counters are about. */
const ONE_PASS = ['-e', 'frame.number', '-e', 'frame.time_epoch', '-e', 'frame.len', '-e', 'frame.protocols'];
/** Besides it, what a pipeline of five has: one for each protocol of the semantic JSON. */
const FOUR_MORE: readonly (readonly string[])[] = [
  ['-Y', 'arp', '-T', 'fields', '-e', 'frame.number', '-e', 'arp.opcode', '-e', 'arp.src.proto_ipv4'],
  ['-Y', 'icmp || icmpv6', '-T', 'fields', '-e', 'frame.number', '-e', 'icmp.type', '-e', 'icmp.resptime'],
  [
    ...['-Y', 'tcp.analysis.flags || tcp.flags.syn == 1 || tcp.flags.reset == 1 || tcp.flags.fin == 1'],
    ...['-T', 'fields', '-e', 'frame.number', '-e', 'tcp.stream', '-e', 'tcp.analysis.ack_rtt'],
  ],
  ['-Y', 'dns', '-T', 'fields', '-e', 'frame.number', '-e', 'dns.qry.name', '-e', 'dns.flags.rcode'],
];

export const bench: Bench = {
  name: 'pcap',
  run: async ({ quick }) => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-bench-pcap-'));
    try {
      return [...(await speed(folder, quick)), ...(await memory(folder, quick))];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function speed(folder: string, quick: boolean): Promise<BenchRow[]> {
  const { path, packets, bytes } = writeTraffic(join(folder, 'mixed.pcap'), quick ? 100_000 : 1_000_000);
  const small = writeTraffic(join(folder, 'small.pcap'), SMALL);
  const pinned = spawnSync('taskset', ['-c', '0', 'true']).status === 0 ? ['taskset', '-c', '0'] : [];
  const repeats = 5;
  const file = `${packets.toLocaleString('en-US')} packets, ${Math.round(bytes / 1e6)} MB`;
  const writ = (what: string, on: readonly string[], from: string) =>
    repeated(repeats, [...on, process.execPath, WRIT, 'pcap', what, from, '--json']);
  const rate = (what: string, times: readonly number[], target: string, inside: string): BenchRow => ({
    what,
    value: packets / median(times),
    unit: 'packets/s',
    target,
    inside: `${inside}; ${file}`,
    spread: `${Math.round(packets / Math.max(...times) / 1000)}k to ${Math.round(packets / Math.min(...times) / 1000)}k`,
  });
  // The promise is about a million packets: a short file is mostly the start of the process.
  const promised = quick ? '' : '>= 1000000';
  const counters = writ('counters', pinned, path);
  const analysis = writ('analyze', [], path);
  const pinnedAnalysis = writ('analyze', pinned, path);
  const warm = await warmed(path, repeats);
  const rows: BenchRow[] = [
    rate('counters, one core', counters, promised, 'the whole process, pinned to one core, cold'),
    rate(
      'full analysis',
      analysis,
      promised,
      'the whole process, cold; the file is hashed on a second thread',
    ),
    rate(
      'full analysis, warm',
      warm,
      promised,
      'capture to semantic JSON, in a process that has analysed before; the file is hashed on a second thread',
    ),
    rate(
      'full analysis and hash, one core',
      pinnedAnalysis,
      '',
      'the same, hash and all, pinned to one core',
    ),
  ];
  if (spawnSync('tshark', ['--version']).status !== 0) return rows;
  // Once each: a pass over a million packets takes long enough to average out what disturbs it.
  const pass = seconds(['tshark', '-n', '-r', path, '-T', 'fields', ...ONE_PASS]);
  const five = FOUR_MORE.reduce(
    (sum, fields) => sum + seconds(['tshark', '-n', '-r', path, ...fields]),
    pass,
  );
  const smallPass = median(repeated(3, ['tshark', '-n', '-r', small.path, '-T', 'fields', ...ONE_PASS]));
  const times = (what: string, reference: number, own: number, target: string, inside: string): BenchRow => ({
    what,
    value: reference / own,
    unit: '×',
    target,
    inside,
  });
  const both = `wall time of both, ${file}`;
  return [
    ...rows,
    times('full analysis against five tshark passes', five, median(analysis), '>= 20', both),
    times('full analysis against one tshark pass', pass, median(analysis), '>= 5', both),
    times('counters against one tshark pass', pass, median(counters), '>= 5', both),
    times(
      'counters of a small file against one tshark pass',
      smallPass,
      median(writ('counters', [], small.path)),
      '',
      `wall time of both, ${SMALL.toLocaleString('en-US')} packets: mostly start-up`,
    ),
  ];
}

async function memory(folder: string, quick: boolean): Promise<BenchRow[]> {
  const size = quick ? 200e6 : 2.05e9;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < size * 1.5) return [];
  const { path, bytes } = writeTraffic(join(folder, 'large.pcap'), Math.ceil(size / PACKET_BYTES), 2);
  const rows: BenchRow[] = [];
  for (const what of ['counters', 'analyze'])
    rows.push({
      what: `peak memory of ${what}`,
      value: await peakMegabytes([process.execPath, WRIT, 'pcap', what, path, '--json']),
      unit: 'MB',
      target: '<= 200',
      inside: `resident set of the whole process at its highest, file of ${Math.round(bytes / 1e6)} MB`,
    });
  rmSync(path);
  return rows;
}

const SILENT: SpawnOptions = { stdio: 'ignore' };

function seconds([program = '', ...argv]: readonly string[]): number {
  const began = performance.now();
  const { status } = spawnSync(program, argv, SILENT);
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
  return (performance.now() - began) / 1000;
}

/** Once to bring the file into the page cache, then as often as asked. */
function repeated(times: number, argv: readonly string[]): number[] {
  seconds(argv);
  return Array.from({ length: times }, () => seconds(argv));
}

/** Seconds from a capture to its semantic JSON, not counting the first time. */
async function warmed(path: string, times: number): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i <= times; i++) {
    const began = performance.now();
    const analysis = await analyze(path);
    JSON.stringify(semanticReport(analysis, findingsOf(analysis)));
    all.push((performance.now() - began) / 1000);
  }
  return all.slice(1);
}

/** The kernel keeps the high-water mark; it is read until the process is gone. */
function peakMegabytes([program = '', ...argv]: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, SILENT);
    let peak = Number.NaN;
    const timer = setInterval(() => {
      try {
        const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
        const mark = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
        if (mark !== undefined) peak = Number(mark) / 1024;
      } catch {
        // Gone, or a system without /proc: the last mark stands.
      }
    }, 20);
    child.once('error', reject);
    child.once('exit', () => {
      clearInterval(timer);
      resolve(peak);
    });
  });
}
