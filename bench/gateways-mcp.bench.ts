import type { Bench, BenchRow } from './bench.ts';
import { at, type Measured, measure, type WayName } from './mcp/measure.ts';

/**
 * A tool call direct, through Writ and through `mcp-proxy`, by the same client (the SDK's) of the same server.
 * The ways take turns and each way's calls are put together, so that a noisy moment hits them all.
 */
const ROUNDS = 3;
const OWN = 'client, gateway and server in processes of their own';
const DURABLE = `${OWN}; intent durable before it is forwarded`;

export const bench: Bench = {
  name: 'gateways-mcp',
  run: async ({ quick }) => {
    const calls = quick ? 300 : 3000;
    const found = new Map<WayName, Measured[]>();
    const ways: readonly WayName[] = [
      'stdio, direct',
      'stdio, through Writ',
      'HTTP, direct',
      'HTTP, through Writ to stdio',
      'HTTP, through mcp-proxy to stdio',
      'HTTP, through Writ to HTTP',
    ];
    for (let round = 0; round < ROUNDS; round++)
      for (const way of ways) found.set(way, [...(found.get(way) ?? []), await measure(way, calls)]);
    const all = (way: WayName) => (found.get(way) ?? []).flatMap((m) => m.alone).sort((a, b) => a - b);
    const rates = (way: WayName) => (found.get(way) ?? []).map((m) => m.callsPerSecond).sort((a, b) => a - b);
    const added = (way: WayName, over: WayName, target: readonly [string, string]): BenchRow[] =>
      [0.5, 0.99].map((q, i) => ({
        what: `MCP call, ${way}: added at p${q * 100}`,
        value: at(all(way), q) - at(all(over), q),
        unit: 'ms',
        target: target[i] ?? '',
        inside: `${DURABLE}; over ${over}, one call at a time`,
      }));
    const rate = (way: WayName, target: string): BenchRow => ({
      what: `MCP calls, ${way}`,
      value: at(rates(way), 0.5),
      unit: 'calls/s',
      target,
      inside: `${OWN}; 64 at once, median of ${ROUNDS}`,
      spread: `${Math.round(rates(way)[0] ?? 0)}–${Math.round(rates(way).at(-1) ?? 0)}`,
    });
    return [
      ...added('stdio, through Writ', 'stdio, direct', ['<= 1', '<= 3']),
      rate('stdio, through Writ', '>= 3000'),
      rate('stdio, direct', ''),
      ...added('HTTP, through Writ to stdio', 'HTTP, direct', ['<= 1', '<= 3']),
      ...added('HTTP, through mcp-proxy to stdio', 'HTTP, direct', ['', '']),
      ...added('HTTP, through Writ to HTTP', 'HTTP, direct', ['', '']),
      rate('HTTP, direct', ''),
      rate('HTTP, through Writ to stdio', ''),
      rate('HTTP, through mcp-proxy to stdio', ''),
    ];
  },
};
