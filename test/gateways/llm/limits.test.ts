import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { bothProtocols, completion, gatewayTests, json, TOKEN } from './help.ts';

const { start, state } = gatewayTests();

describe('limits', () => {
  it('[GW-L26] [GW-H3] calls at once cannot spend more than the budget', async () => {
    const { chat, upstream } = await start(
      async (_, res) => {
        await new Promise((r) => setTimeout(r, 50));
        json(res, completion('ok'));
      },
      {},
      { budget: { requests: 5 } },
    );
    const all = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => chat(`${i}`)));
    expect(all.filter((r) => r.status === 'fulfilled')).toHaveLength(5);
    expect(all.find((r) => r.status === 'rejected')).toMatchObject({
      reason: { status: 429, code: 'insufficient_quota' },
    });
    expect(upstream.seen).toHaveLength(5);
  });

  it('[GW-L26] tokens are reserved at their most and settled at what was used', async () => {
    const { openai } = await start(bothProtocols, {}, { budget: { tokens: 700 } });
    const ask = () =>
      openai.chat.completions.create({
        model: 'm-1',
        max_tokens: 500,
        messages: [{ role: 'user', content: 'x' }],
      });
    // Each call reserves 500 and a little, but uses 15.
    for (let i = 0; i < 5; i++) await ask();
    const both = await Promise.allSettled([ask(), ask()]);
    expect(both.map((r) => r.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('[GW-H3] oversized bodies, too many requests a minute', async () => {
    const { post } = await start(bothProtocols, { limits: { body_bytes: 2000 } }, { requests_per_minute: 3 });
    expect(
      (await post('/v1/chat/completions', JSON.stringify({ model: 'm-1', x: 'y'.repeat(3000) }))).status,
    ).toBe(413);
    await post('/v1/models', '');
    await post('/v1/models', '');
    expect((await post('/v1/chat/completions', '{}')).status).toBe(429);
  });

  it.each([
    ['no JSON', '{"model": "m-1", '],
    ['an array', '[]'],
    ['no model', '{"messages": []}'],
    ['nothing', ''],
    ['too deep', `{"model":"m-1","x":${'['.repeat(3000)}${']'.repeat(3000)}}`],
  ])('malformed requests get an error: %s', async (_name, body) => {
    const { post, upstream, chat } = await start();
    const answer = await post('/v1/chat/completions', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) } });
    expect(upstream.seen).toHaveLength(0);
    await chat('still there');
  });

  it('[GW-H2] foreign hosts and origins are refused', async () => {
    const { gateway, post } = await start();
    expect((await post('/v1/chat/completions', '{}', { origin: 'https://evil.example' })).status).toBe(403);
    const status = await new Promise((resolve) => {
      httpRequest(
        `${gateway.url}/v1/models`,
        { headers: { host: 'rebound.example', authorization: `Bearer ${TOKEN}` } },
        (res) => resolve(res.statusCode),
      ).end();
    });
    expect(status).toBe(403);
    await expect(start(bothProtocols, { listen: { host: '0.0.0.0' } })).rejects.toThrow(/needs tls/);
  });

  it('[GW-L17] when the record cannot be written nothing is sent', async () => {
    const { chat, upstream } = await start();
    await state().deps.journal.close();
    await expect(chat('x')).rejects.toMatchObject({ status: 503 });
    expect(upstream.seen).toHaveLength(0);
  });

  it('[GW-H4] counters are served to callers', async () => {
    const { gateway, chat } = await start();
    await chat('x');
    const answer = await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await answer.text()).toContain('writ_llm_requests_total{caller="alice",outcome="done"} 1');
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(401);
  });
});
