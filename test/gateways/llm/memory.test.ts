import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Agent, request } from 'undici';
import { describe, expect, it } from 'vitest';
import { startLlmGateway } from '../../../src/gateways/llm/index.ts';
import { gatewayTests } from './help.ts';

const { ends, state } = gatewayTests();
/** `WRIT_LONG_CALLS=1000000` for the long form. */
const CALLS = Number(process.env.WRIT_LONG_CALLS ?? 2000);
const LANES = 32;
const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

describe('memory', () => {
  it(`[GW-H7] stays flat over ${CALLS} calls, half of them streams`, {
    timeout: CALLS * 20 + 20_000,
  }, async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const upstream = createServer((req, res) => {
      let stream = false;
      req.on('data', (part: Buffer) => {
        stream ||= part.includes('"stream":true');
      });
      req.on('end', () => {
        res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
        const piece =
          '{"id":"c","choices":[{"index":0,"delta":{"content":"hello"}}],"usage":{"total_tokens":3}}';
        res.end(stream ? `data: ${piece}\n\ndata: [DONE]\n\n` : piece);
      });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const agent = new Agent({ connections: LANES });
    ends.push(
      () => agent.destroy(),
      async () => void upstream.close(),
    );
    const gateway = await startLlmGateway(
      {
        default: 'allow',
        rules: [{ name: 'no', on: 'response', verdict: 'deny', contains: ['forbidden'] }],
        callers: [
          {
            name: 'a',
            token_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
            models: ['*'],
            budget: { per: 'day', tokens: 1e15 },
          },
        ],
        providers: [
          {
            name: 'p',
            protocol: 'openai',
            base_url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
          },
        ],
        routes: [{ models: ['*'], targets: [{ provider: 'p' }] }],
      },
      { ...state().deps, database: state().database, keys: new Map() },
    );
    ends.push(gateway.close);
    let made = 0;
    const ask = async () => {
      const n = made++;
      const { statusCode, body } = await request(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        dispatcher: agent,
        headers: { authorization: 'Bearer test', 'content-type': 'application/json' },
        body: JSON.stringify({
          model: `m-${n}`,
          stream: n % 2 === 0,
          messages: [{ role: 'user', content: `${n}` }],
        }),
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
    };
    const run = async (until: number) => {
      await Promise.all(
        Array.from({ length: LANES }, async () => {
          while (made < until) await ask();
        }),
      );
      collect();
      const { heapUsed, rss, external } = process.memoryUsage();
      if (process.env.WRIT_LONG_CALLS !== undefined)
        process.stderr.write(
          `${made} calls: heap ${mib(heapUsed)}, external ${mib(external)}, rss ${mib(rss)}\n`,
        );
      return heapUsed;
    };
    let before = 0;
    for (let tenth = 1; tenth <= 5; tenth++) before = await run((CALLS * tenth) / 10);
    let after = 0;
    for (let tenth = 6; tenth <= 10; tenth++) after = await run((CALLS * tenth) / 10);
    // A leak of a few hundred bytes a call would show already in the short form.
    expect(after - before).toBeLessThan(Math.min(4 * 1024 * 1024, 1024 * CALLS));
  });
});
