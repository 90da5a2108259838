import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '../src/authority/index.ts';
import { systemClock, systemIds } from '../src/core/index.ts';
import { startLlmGateway } from '../src/gateways/llm/index.ts';
import { openLedger, statePaths } from '../src/ledger/index.ts';
import type { Bench, BenchRow } from './bench.ts';

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
  name: 'gateways-llm',
  run: async ({ quick }) => {
    const dir = mkdtempSync(join(tmpdir(), 'writ-bench-llm-'));
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
      return await llmRows(deps, quick ? 3 : 15);
    } finally {
      await journal.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function llmRows(
  deps: Omit<Parameters<typeof startLlmGateway>[1], 'keys'>,
  rounds: number,
): Promise<BenchRow[]> {
  const server = createServer((req, res) => {
    req.resume().on('end', () => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end('data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}\n\ndata: [DONE]\n\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gateway = await startLlmGateway(
    {
      default: 'allow',
      providers: [{ name: 'p', protocol: 'openai', base_url: url }],
      routes: [{ models: ['*'], targets: [{ provider: 'p' }] }],
    },
    { ...deps, keys: new Map() },
  );
  const { baseUrl, token } = gateway.endpoint({ name: 'bench', models: ['*'] });
  const body = JSON.stringify({
    model: 'm',
    stream: true,
    messages: [{ role: 'user', content: 'hello there' }],
  });
  const ask = (to: string) => async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(to, { method: 'POST', body, headers });
    await answer.text();
  };
  const direct = ask(`${url}/chat/completions`);
  const governed = ask(`${baseUrl}/v1/chat/completions`);
  const together = async (once: () => Promise<unknown>) => {
    const spent: number[] = [];
    for (let i = 0; i < rounds; i++)
      spent.push(...(await Promise.all(Array.from({ length: 200 }, () => times(1, once)))).flat());
    return spent.sort((a, b) => a - b);
  };
  try {
    await together(direct);
    await together(governed);
    const single = at(await times(rounds * 50, governed), 0.5) - at(await times(rounds * 50, direct), 0.5);
    const crowd = at(await together(governed), 0.5) - at(await together(direct), 0.5);
    const inside = 'client, gateway and upstream in one process; decision and both records durable';
    return [
      { what: 'LLM stream, added at p50, one at a time', value: single, unit: 'ms', target: '', inside },
      { what: 'LLM stream, added at p50, 200 at once', value: crowd, unit: 'ms', target: '<= 2', inside },
    ];
  } finally {
    await gateway.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
