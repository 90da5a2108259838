import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, type BenchRow, median } from './bench.ts';
import { burst, crowd, type Destination, type StreamTimes } from './llm/load.ts';
import { type Running, startGateway, startPortkey, startUpstream } from './llm/processes.ts';

const LANES = 200;
const CHUNKS = 20;
const EVERY_MS = 50;
const CROWD_MS = 1500;
const INSIDE = `client, gateway and upstream in processes of their own; ${CHUNKS} chunks, one each ${EVERY_MS} ms; decision and intent durable before it is forwarded, outcome before it ends; counted are streams asked for while all others are open`;

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

/** What one way added to the direct one, a figure a round. */
interface Added {
  readonly firstByte: number[];
  readonly total: number[];
  readonly atOnce: number[];
}

async function measure(destinations: readonly Destination[], quick: boolean): Promise<BenchRow[]> {
  const streamMs = CHUNKS * EVERY_MS;
  const [direct, ...ways] = destinations;
  const added = new Map<string, Added>(
    ways.map(({ name }) => [name, { firstByte: [], total: [], atOnce: [] }]),
  );
  const crowded = (to: Destination, ms: number) => crowd(to, LANES, ms, streamMs);
  // As they run for hours: compiled, connected, with their files open.
  for (const to of ways) await crowded(to, quick ? 500 : 2000);
  // Each round has all of them in turn, so that a busy moment of the machine touches one round and not one way.
  for (let round = 0; round < (quick ? 2 : 4); round++) {
    const alone = medians(await crowded(direct!, CROWD_MS));
    for (const to of ways) {
      const through = medians(await crowded(to, CROWD_MS));
      added.get(to.name)!.firstByte.push(through.firstByte - alone.firstByte);
      added.get(to.name)!.total.push(through.total - alone.total);
    }
  }
  for (let round = 0; round < (quick ? 1 : 2); round++) {
    const alone = medians(await burst(direct!, LANES, 1));
    for (const to of ways)
      added.get(to.name)!.atOnce.push(medians(await burst(to, LANES, 1)).firstByte - alone.firstByte);
  }
  return ways.flatMap(({ name }) => {
    const { firstByte, total, atOnce } = added.get(name)!;
    const row = (what: string, values: readonly number[], target = ''): BenchRow => ({
      what: `${name}: ${what}`,
      value: median(values),
      unit: 'ms',
      target: name === 'writ' ? target : '',
      inside: insideOf(name),
      spread: `${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)} over ${values.length} rounds`,
    });
    return [
      row(`added to the first byte at p50, ${LANES} streams open`, firstByte, '<= 2'),
      row(`added to the whole stream at p50, ${LANES} streams open`, total),
      row(`added to the first byte at p50, ${LANES} asked at one moment`, atOnce),
    ];
  });
}

function medians(times: readonly StreamTimes[]): StreamTimes {
  return { firstByte: median(times.map((t) => t.firstByte)), total: median(times.map((t) => t.total)) };
}

function insideOf(name: string): string {
  if (name === 'writ') return INSIDE;
  return name.startsWith('writ')
    ? `${INSIDE}; reservation durable in SQLite as well`
    : `the same load through ${name}, which records nothing`;
}
