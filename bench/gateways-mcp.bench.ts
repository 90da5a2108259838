import type { Bench, BenchRow } from './bench.ts';
import { at, CALLS_A_TURN, LANES, type Measured, measureInTurn, type WayName } from './mcp/measure.ts';

/** A tool call direct, through Writ and through `mcp-proxy`, by the same client (the SDK's) of the same server. */
const STDIO: readonly WayName[] = ['stdio, direct', 'stdio, through Writ'];
const HTTP: readonly WayName[] = [
  'HTTP, direct',
  'HTTP, through Writ to stdio',
  'HTTP, through Writ to HTTP',
  'HTTP, through mcp-proxy to stdio',
];
const OWN = 'client, gateway and server in processes of their own';

export const bench: Bench = {
  name: 'gateways-mcp',
  run: async ({ quick }) => {
    const size = quick ? { turns: 60, rounds: 3 } : { turns: 400, rounds: 5 };
    const found = new Map<WayName, Measured>();
    for (const ways of [STDIO, HTTP])
      for (const [way, measured] of await measureInTurn(ways, size)) found.set(way, measured);
    const of = (way: WayName): Measured => found.get(way) ?? { alone: [], rates: [] };
    const added = (way: WayName, over: WayName, recorded: boolean, targets: readonly string[]): BenchRow[] =>
      [0.5, 0.99].map((q, i) => ({
        what: `MCP call, ${way}: added at p${q * 100}`,
        value: at(of(way).alone, q) - at(of(over).alone, q),
        unit: 'ms',
        target: targets[i] ?? '',
        inside:
          `${OWN}; ${recorded ? 'intent durable before it is forwarded' : 'nothing recorded'}; ` +
          `over ${over}, in turns of ${CALLS_A_TURN} calls, one at a time, ${of(way).alone.length} each`,
      }));
    const rate = (way: WayName, target = ''): BenchRow => {
      const { rates } = of(way);
      return {
        what: `MCP calls, ${way}`,
        value: at(rates, 0.5),
        unit: 'calls/s',
        target,
        inside: `${OWN}; ${LANES} at once, median of ${rates.length} rounds in turns`,
        spread: `${Math.round(rates[0] ?? 0)}–${Math.round(rates.at(-1) ?? 0)}`,
      };
    };
    return [
      ...added('stdio, through Writ', 'stdio, direct', true, ['<= 1', '<= 3']),
      ...added('HTTP, through Writ to stdio', 'HTTP, direct', true, ['<= 1', '<= 3']),
      ...added('HTTP, through Writ to HTTP', 'HTTP, direct', true, []),
      ...added('HTTP, through mcp-proxy to stdio', 'HTTP, direct', false, []),
      rate('stdio, through Writ', '>= 3000'),
      rate('stdio, direct'),
      ...HTTP.map((way) => rate(way)),
    ];
  },
};
