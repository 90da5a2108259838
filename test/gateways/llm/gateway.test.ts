import { request as httpRequest, type ServerResponse } from 'node:http';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/core/index.ts';
import { type LlmConfigInput, startLlmGateway } from '../../../src/gateways/llm/index.ts';
import { type Arrived, eventually, gatewayState, loopback } from '../state.ts';

type State = Awaited<ReturnType<typeof gatewayState>>;
let state: State;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  state = await gatewayState();
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await state.close();
});

const json = (res: ServerResponse, body: unknown, status = 200) => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const completion = (content: string) => ({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta }] })}\n\n`;

async function sse(res: ServerResponse, events: readonly string[], pauseMs = 0) {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    res.write(event);
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  res.end();
}

/** Speaks just enough of both protocols. */
async function bothProtocols({ path, body, method }: Arrived, res: ServerResponse) {
  const asked = body === '' ? {} : JSON.parse(body);
  if (method === 'GET' && path === '/v1/models')
    return json(res, { object: 'list', data: [{ id: 'm-1' }, { id: 'secret-model' }] });
  if (path === '/v1/embeddings')
    return json(res, {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  if (path === '/v1/responses')
    return json(res, {
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'from responses' }] },
      ],
    });
  if (path === '/v1/chat/completions' && asked.stream)
    return sse(
      res,
      [chunk({ role: 'assistant', content: 'Hel' }), chunk({ content: 'lo' }), 'data: [DONE]\n\n'],
      5,
    );
  if (path === '/v1/chat/completions') return json(res, completion(`echo ${asked.messages.at(-1).content}`));
  if (path.endsWith(':generateContent'))
    return json(res, { candidates: [{ content: { role: 'model', parts: [{ text: 'gemini says hi' }] } }] });
  if (path.includes(':streamGenerateContent')) {
    const piece = (text: string) =>
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] })}\r\n\r\n`;
    return sse(res, [piece('one '), piece('two')], 5);
  }
  if (path.endsWith(':batchEmbedContents') || path.endsWith(':embedContent'))
    return json(res, { embeddings: [{ values: [1, 2] }], embedding: { values: [1, 2] } });
  return json(res, { error: { message: 'no such path' } }, 404);
}

const TOKEN = 'token-of-alice';
type Overrides = Partial<LlmConfigInput>;

async function start(
  answer: Parameters<typeof loopback>[0] = bothProtocols,
  overrides: Overrides = {},
  caller: object = {},
) {
  const upstream = await loopback(answer);
  ends.push(upstream.close);
  const gateway = await startLlmGateway(
    {
      default: 'allow',
      callers: [
        { name: 'alice', token_sha256: sha256(TOKEN), models: ['m-*'], ...caller },
        { name: 'bob', token_sha256: sha256('token-of-bob'), models: ['other'] },
      ],
      providers: [
        { name: 'oai', protocol: 'openai', base_url: `${upstream.url}/v1` },
        { name: 'goo', protocol: 'gemini', base_url: upstream.url },
      ],
      routes: [{ models: ['m-*', 'other'], targets: [{ provider: 'oai' }, { provider: 'goo' }] }],
      ...overrides,
    },
    {
      ...state.deps,
      database: state.database,
      keys: new Map([
        ['oai', 'key-oai'],
        ['goo', 'key-goo'],
      ]),
    },
  );
  ends.push(gateway.close);
  const openai = new OpenAI({ apiKey: TOKEN, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const google = new GoogleGenAI({ apiKey: TOKEN, httpOptions: { baseUrl: gateway.url } });
  const chat = (content: string) =>
    openai.chat.completions.create({ model: 'm-1', messages: [{ role: 'user', content }] });
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
    });
  return { gateway, upstream, openai, google, chat, post };
}

describe('the official SDKs, unchanged', () => {
  it('[GW-L24] [GW-L2] openai: chat, stream, responses, embeddings, models', async () => {
    const { openai, upstream, chat } = await start();
    expect((await chat('hello')).choices[0]!.message.content).toBe('echo hello');
    let text = '';
    for await (const piece of await openai.chat.completions.create({
      model: 'm-1',
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    }))
      text += piece.choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello');
    expect((await openai.responses.create({ model: 'm-1', input: 'x' })).output_text).toBe('from responses');
    expect(
      (await openai.embeddings.create({ model: 'm-1', input: 'x', encoding_format: 'float' })).data[0]!
        .embedding,
    ).toEqual([0.5, 0.25]);
    expect((await openai.models.list()).data.map((m) => m.id)).toEqual(['m-1']);
    expect(new Set(upstream.seen.map((s) => s.headers.authorization))).toEqual(new Set(['Bearer key-oai']));
  });

  it('[GW-L24] @google/genai: generate, stream, embed', async () => {
    const { google, upstream } = await start();
    expect((await google.models.generateContent({ model: 'm-2', contents: 'x' })).text).toBe(
      'gemini says hi',
    );
    let text = '';
    for await (const piece of await google.models.generateContentStream({ model: 'm-2', contents: 'x' }))
      text += piece.text;
    expect(text).toBe('one two');
    expect(
      (await google.models.embedContent({ model: 'm-2', contents: 'x' })).embeddings?.[0]?.values,
    ).toEqual([1, 2]);
    expect(new Set(upstream.seen.map((s) => s.headers['x-goog-api-key']))).toEqual(new Set(['key-goo']));
  });
});

describe('what may pass', () => {
  it('[GW-H1] unknown tokens and models of other callers are refused before anything is sent', async () => {
    const { gateway, upstream, openai } = await start();
    const stranger = new OpenAI({ apiKey: 'nobody', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401 });
    await expect(openai.chat.completions.create({ model: 'other', messages: [] })).rejects.toMatchObject({
      status: 403,
      code: 'model_not_allowed',
    });
    expect(upstream.seen).toHaveLength(0);
  });

  it('[GW-L5] [GW-L17] the strictest rule decides; what no rule allows is denied, on record, and not sent', async () => {
    const { chat, upstream } = await start(bothProtocols, {
      default: 'deny',
      rules: [
        { name: 'fine', verdict: 'allow', callers: ['alice'] },
        {
          name: 'no-exfiltration',
          verdict: 'deny',
          contains: ['Customer List'],
          reason: 'customer data stays here',
        },
      ],
    });
    expect((await chat('hello')).choices[0]!.message.content).toBe('echo hello');
    await expect(chat('send the customer LIST please')).rejects.toMatchObject({
      status: 403,
      code: 'denied',
      message: expect.stringContaining('customer data stays here'),
    });
    expect(upstream.seen).toHaveLength(1);
    expect(state.records().filter((r) => r.type === 'llm.refused')).toMatchObject([
      { caller: 'alice', code: 'denied' },
    ]);
  });

  it('[GW-L14] [GW-L15] prompts and embedding inputs are stored only as configured, redacted', async () => {
    const { chat } = await start();
    await chat('the quick brown fox');
    expect(JSON.stringify(state.records())).not.toContain('brown fox');
    const open = await start(bothProtocols, { record: { prompts: 'redacted' } });
    await open.chat('the slow red fox, password=Tr0ub4dor&3xyz');
    await open.openai.embeddings.create({ model: 'm-1', input: 'sensitive words', encoding_format: 'float' });
    const kept = JSON.stringify(state.records());
    expect(kept).toContain('slow red fox');
    expect(kept).not.toContain('Tr0ub4dor');
    expect(kept).not.toContain('sensitive words');
  });

  it('[GW-L10] prompts are rewritten as configured, with both texts on record', async () => {
    const { chat } = await start(bothProtocols, {
      rewrites: [{ name: 'codename', replace: 'Project Falcon', with: 'the project' }],
    });
    expect((await chat('about Project Falcon')).choices[0]!.message.content).toBe('echo about the project');
    const [kept] = state.records();
    expect(kept).toMatchObject({ rewrites: ['codename'] });
    expect(JSON.stringify(kept!.original_prompt)).toContain('Project Falcon');
    expect(JSON.stringify(kept!.rewritten_prompt)).toContain('about the project');
  });

  it('[GW-L8] [GW-L19] [GW-L9] a request that needs a person waits, resumes itself, and the approval is spent', async () => {
    const { chat, upstream } = await start(bothProtocols, {
      rules: [{ name: 'ask', verdict: 'require_approval', contains: ['deploy'], role: 'lead' }],
    });
    const pending = chat('deploy it');
    const request = await eventually(() => state.queue.list({ status: 'pending' })[0]);
    expect(upstream.seen).toHaveLength(0);
    expect(request.action_json).toContain('deploy it');
    expect(
      (await state.queue.respond(request.approval_id, { approved: true, approver: 'lena', role: 'lead' })).ok,
    ).toBe(true);
    expect((await pending).choices[0]!.message.content).toBe('echo deploy it');
    expect(state.queue.get(request.approval_id)?.status).toBe('used');
    expect(state.records()[0]).toMatchObject({ approval_id: request.approval_id, approver: 'lena' });
    const again = chat('deploy it');
    const second = await eventually(() => state.queue.list({ status: 'pending' })[0]);
    await state.queue.respond(second.approval_id, {
      approved: false,
      approver: 'lena',
      role: 'lead',
      reason: 'not twice',
    });
    await expect(again).rejects.toMatchObject({ status: 403, message: expect.stringContaining('not twice') });
  });

  it('[GW-L18] [GW-L6] [GW-L7] who cannot wait is told the approval, and the same request later goes through once', async () => {
    const { chat, upstream } = await start(bothProtocols, {
      rules: [{ name: 'ask', verdict: 'require_approval', contains: ['deploy'] }],
      limits: { approval_wait_seconds: 0 },
    });
    await expect(chat('deploy it')).rejects.toMatchObject({ status: 403, code: 'approval_required' });
    const [request] = state.queue.list({ status: 'pending' });
    await state.queue.respond(request!.approval_id, { approved: true, approver: 'lena' });
    await expect(chat('deploy it elsewhere')).rejects.toMatchObject({
      status: 403,
      code: 'approval_required',
    });
    expect(upstream.seen).toHaveLength(0);
    expect((await chat('deploy it')).choices[0]!.message.content).toBe('echo deploy it');
    await expect(chat('deploy it')).rejects.toMatchObject({ status: 403, code: 'approval_required' });
    expect(upstream.seen).toHaveLength(1);
  });
});

describe('answers', () => {
  const rules = [
    { name: 'no-bomb', on: 'response' as const, verdict: 'deny' as const, contains: ['how to build a bomb'] },
  ];

  it('[GW-L25] [GW-L11] a stream is judged across its pieces and cut with an error the SDK throws', async () => {
    const words = ['Sure: how to ', 'bui', 'ld a b', 'omb: take', ' the rest'];
    const { openai, google } = await start(
      async ({ path }, res) =>
        path.includes('stream')
          ? sse(
              res,
              words.map(
                (text) => `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] })}\n\n`,
              ),
              10,
            )
          : sse(
              res,
              words.map((content) => chunk({ content })),
              10,
            ),
      { rules },
    );
    let text = '';
    const read = async () => {
      for await (const piece of await openai.chat.completions.create({
        model: 'm-1',
        stream: true,
        messages: [{ role: 'user', content: 'x' }],
      }))
        text += piece.choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toThrow(/the answer was cut/);
    expect(text).toBe('Sure: how to build a b');
    const readGemini = async () => {
      for await (const piece of await google.models.generateContentStream({ model: 'm-1', contents: 'x' }))
        text = piece.text ?? '';
    };
    await expect(readGemini()).rejects.toThrow(/the answer was cut/);
    expect(state.records().filter((r) => r.type === 'llm.response')).toMatchObject([
      { outcome: 'failed', code: 'response_denied', response_verdict: 'deny' },
      { outcome: 'failed', code: 'response_denied', response_verdict: 'deny' },
    ]);
  });

  it('whole answers are held back the same way, tool calls included', async () => {
    const call = { id: 'x', type: 'function', function: { name: 'delete_all', arguments: '{}' } };
    const { chat } = await start(
      (_, res) =>
        json(res, {
          choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] } }],
        }),
      {
        rules: [{ name: 'no-delete', on: 'response', verdict: 'deny', tools: ['delete_*'] }],
      },
    );
    await expect(chat('x')).rejects.toMatchObject({ status: 403, code: 'response_denied' });
  });

  it.each([
    [
      'breaks off',
      (res: ServerResponse) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(chunk({ content: 'a' }));
        setTimeout(() => res.destroy(), 20);
      },
    ],
    ['sends no JSON', (res: ServerResponse) => void sse(res, [chunk({ content: 'a' }), 'data: {{{\n\n'])],
  ])('a stream that %s ends as an error, never as a natural end', async (_name, answer) => {
    const { openai } = await start((_, res) => answer(res));
    const read = async () => {
      for await (const _ of await openai.chat.completions.create({
        model: 'm-1',
        stream: true,
        messages: [{ role: 'user', content: 'x' }],
      }));
    };
    await expect(read()).rejects.toThrow();
    expect(state.records().at(-1)).toMatchObject({ outcome: 'failed' });
  });

  it.each([400, 401, 403, 404, 408, 409, 418, 429, 500, 502, 503, 529])(
    'an upstream %i is told as such',
    async (status) => {
      const { chat } = await start((_, res) => json(res, { error: { message: 'upstream words' } }, status));
      await expect(chat('x')).rejects.toMatchObject({
        status,
        message: expect.stringContaining('upstream words'),
      });
    },
  );

  it('a caller that leaves ends the upstream call, and it is on record', async () => {
    let gone = false;
    const { openai } = await start((_, res) => {
      res.on('close', () => {
        gone = true;
      });
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(chunk({ content: 'a' }));
    });
    const stream = await openai.chat.completions.create({
      model: 'm-1',
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    });
    for await (const _ of stream) break;
    await eventually(() => gone || undefined);
    await eventually(() => state.records().find((r) => r.outcome === 'failed'));
  });
});

describe('routing', () => {
  const targets = (a: string, b: string) => ({
    providers: [
      { name: 'a', protocol: 'openai' as const, base_url: a },
      { name: 'b', protocol: 'openai' as const, base_url: b },
    ],
  });

  it('[GW-L27] [GW-L20] [GW-L3] falls back before the first byte as configured, rests what fails, and records it', async () => {
    const bad = await loopback((_, res) => json(res, { error: { message: 'down' } }, 503));
    const good = await loopback((_, res) => json(res, completion('from b')));
    ends.push(bad.close, good.close);
    const { chat } = await start(bothProtocols, {
      ...targets(bad.url, good.url),
      routes: [
        { models: ['m-1'], retries: 1, targets: [{ provider: 'a' }, { provider: 'b', model: 'm-b' }] },
      ],
    });
    for (let i = 0; i < 6; i++) expect((await chat(`x${i}`)).choices[0]!.message.content).toBe('from b');
    expect(bad.seen).toHaveLength(3);
    expect(JSON.parse(good.seen[0]!.body).model).toBe('m-b');
    const outcomes = state.records().filter((r) => r.phase === 'outcome');
    expect(outcomes[0]).toMatchObject({ target: 'b/m-b', attempts: 2, strategy: 'fallback' });
    expect(outcomes[5]).toMatchObject({ attempts: 1 });
    const single = await start((_, res) => json(res, {}, 500));
    await expect(single.chat('x')).rejects.toMatchObject({ status: 500 });
    expect(single.upstream.seen).toHaveLength(1);
  });

  it.each(['round_robin', 'weighted', 'cost', 'safety_tier'] as const)(
    '[GW-L23] %s is the same sequence again',
    async (strategy) => {
      const sequences: string[] = [];
      for (let run = 0; run < 2; run++) {
        const a = await loopback((_, res) => json(res, completion('a')));
        const b = await loopback((_, res) => json(res, completion('b')));
        ends.push(a.close, b.close);
        const { chat } = await start(bothProtocols, {
          ...targets(a.url, b.url),
          seed: 7,
          routes: [
            {
              models: ['m-1'],
              strategy,
              targets: [
                { provider: 'a', weight: 1, tier: 0, usd_per_million: { input: 2, output: 2 } },
                { provider: 'b', weight: 3, tier: 1, usd_per_million: { input: 1, output: 1 } },
              ],
            },
          ],
        });
        let sequence = '';
        for (let i = 0; i < 12; i++) sequence += (await chat('x')).choices[0]!.message.content;
        sequences.push(sequence);
      }
      expect(sequences[0]).toBe(sequences[1]);
      const only = {
        round_robin: 'abababababab',
        weighted: undefined,
        cost: 'b'.repeat(12),
        safety_tier: 'b'.repeat(12),
      }[strategy];
      if (only) expect(sequences[0]).toBe(only);
      else expect(sequences[0]).toMatch(/^(?=.*a)(?=.*b)/);
    },
  );
});

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
    await state.deps.journal.close();
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
