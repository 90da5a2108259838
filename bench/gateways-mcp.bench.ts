import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createAuthority } from '../src/authority/index.ts';
import { systemClock, systemIds } from '../src/core/index.ts';
import { createMcpGateway } from '../src/gateways/mcp/index.ts';
import { openLedger, statePaths } from '../src/ledger/index.ts';
import type { Bench, BenchRow } from './bench.ts';

const odd = fileURLToPath(new URL('../test/gateways/mcp/odd-server.ts', import.meta.url));
const at = (sorted: readonly number[], q: number) => sorted[Math.floor(sorted.length * q)] ?? Number.NaN;

async function times(n: number, once: () => Promise<unknown>): Promise<number[]> {
  const spent: number[] = [];
  for (let i = 0; i < n; i++) {
    const start = performance.now();
    await once();
    spent.push(performance.now() - start);
  }
  return spent.sort((a, b) => a - b);
}

export const bench: Bench = {
  name: 'gateways-mcp',
  run: async ({ quick }) => {
    const dir = mkdtempSync(join(tmpdir(), 'writ-bench-mcp-'));
    const stateDir = join(dir, '.writ');
    const ledger = openLedger({ stateDir });
    const paths = statePaths(stateDir);
    const journal = await ledger.openJournal({
      path: join(paths.ledger, 'bench.jsonl'),
      checkpointEvery: 1000,
    });
    const authority = createAuthority({ clock: systemClock, ids: systemIds });
    const deps = { clock: systemClock, ids: systemIds, authority, journal };
    try {
      return await mcpRows(
        { ...deps, database: paths.database, env: process.env, baseDir: dir },
        quick ? 1000 : 10_000,
      );
    } finally {
      await journal.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function mcpRows(deps: Parameters<typeof createMcpGateway>[1], n: number): Promise<BenchRow[]> {
  const direct = new Client({ name: 'bench', version: '1' });
  await direct.connect(new StdioClientTransport({ command: process.execPath, args: [odd] }) as Transport);
  const gateway = createMcpGateway(
    { default: 'allow', servers: [{ name: 'odd', command: [process.execPath, odd] }] },
    deps,
  );
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await gateway.attach(theirs as Transport);
  const governed = new Client({ name: 'bench', version: '1' });
  await governed.connect(mine as Transport);
  const call = (client: Client) => () => client.callTool({ name: 'echo', arguments: { a: 1 } });
  try {
    await times(200, call(direct));
    await times(200, call(governed));
    const plain = await times(n, call(direct));
    const through = await times(n, call(governed));
    const start = performance.now();
    const lanes = 64;
    await Promise.all(Array.from({ length: lanes }, () => times(Math.ceil((n * 2) / lanes), call(governed))));
    const rate = (Math.ceil((n * 2) / lanes) * lanes) / ((performance.now() - start) / 1000);
    const inside = 'one call at a time, stdio server, intent durable before it is forwarded';
    return [
      {
        what: 'MCP call, added at p50',
        value: at(through, 0.5) - at(plain, 0.5),
        unit: 'ms',
        target: '<= 1',
        inside,
      },
      {
        what: 'MCP call, added at p99',
        value: at(through, 0.99) - at(plain, 0.99),
        unit: 'ms',
        target: '<= 3',
        inside,
      },
      {
        what: 'MCP calls through one process',
        value: rate,
        unit: 'calls/s',
        target: '>= 3000',
        inside: `${lanes} at once, client and gateway in one process`,
      },
    ];
  } finally {
    await direct.close();
    await governed.close();
    await gateway.close();
  }
}
