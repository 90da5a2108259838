import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, type BenchRow, median } from './bench.ts';
import { burst, crowd, type Destination, type StreamTimes } from './llm/load.ts';
import { type Running, startGateway, startPortkey, startUpstream } from './llm/processes.ts';

const LANES = 200;
const CHUNKS = 20;
const EVERY_MS = 50;
const INSIDE = `client, gateway and upstream in processes of their own; ${CHUNKS} chunks, one each ${EVERY_MS} ms; decision and both records durable`;

/** Added by the LLM gateway over the direct way, and by a peer that records nothing, under the same load. */
export const bench: Bench = {
  name: 'gateways-llm',
  run: async ({ quick }) => {
    const dir = mkdtempSync(join(tmpdir(), 'writ-bench-llm-'));
    const running: Running[] = [];
    try {
      const upstream = await startUpstream(CHUNKS, EVERY_MS);
      running.push(upstream);
      const writ = await startGateway(dir, upstream.url);
      running.push(writ);
      const portkey = await startPortkey(upstream.url);
      if (portkey) running.push(portkey);
      const direct = { name: 'direct', url: `${upstream.url}/chat/completions`, headers: {} };
      return await measure([direct, writ.plain, writ.budgeted, ...(portkey ? [portkey] : [])], quick);
    } finally {
      for (const { end } of running.reverse()) await end();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function measure(destinations: readonly Destination[], quick: boolean): Promise<BenchRow[]> {
  const streamMs = CHUNKS * EVERY_MS;
  const crowds = new Map<string, StreamTimes[]>(destinations.map(({ name }) => [name, []]));
  const bursts = new Map<string, StreamTimes[]>(destinations.map(({ name }) => [name, []]));
  for (const to of destinations) await crowd(to, LANES, 1000, streamMs);
  // In turns, so that a busy moment of the machine touches all of them.
  for (let round = 0; round < (quick ? 1 : 4); round++)
    for (const to of destinations) {
      crowds.get(to.name)!.push(...(await crowd(to, LANES, 3000, streamMs)));
      bursts.get(to.name)!.push(...(await burst(to, LANES, 1)));
    }
  const added = (times: Map<string, StreamTimes[]>, name: string, what: keyof StreamTimes) =>
    median(times.get(name)!.map((t) => t[what])) - median(times.get('direct')!.map((t) => t[what]));
  return destinations.slice(1).flatMap(({ name }) => {
    const row = (what: string, value: number, target = ''): BenchRow => ({
      what: `${name}: ${what}`,
      value,
      unit: 'ms',
      target: name === 'writ' ? target : '',
      inside: insideOf(name),
    });
    return [
      row(`added to the first byte at p50, ${LANES} streams open`, added(crowds, name, 'firstByte'), '<= 2'),
      row(`added to the whole stream at p50, ${LANES} streams open`, added(crowds, name, 'total')),
      row(`added to the first byte at p50, ${LANES} asked at one moment`, added(bursts, name, 'firstByte')),
    ];
  });
}

function insideOf(name: string): string {
  if (name === 'writ') return INSIDE;
  return name.startsWith('writ')
    ? `${INSIDE}; reservation durable in SQLite as well`
    : `the same load through ${name}, which records nothing`;
}
