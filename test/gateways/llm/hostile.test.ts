import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { eventually } from '../state.ts';
import { bothProtocols, chunk, completion, gatewayTests, json, TOKEN } from './help.ts';

const { start, ends, state } = gatewayTests();

/** A provider that speaks in raw bytes: `say` gets the connection once a whole request has arrived. */
async function rawUpstream(say: (socket: Socket, n: number) => void | Promise<void>) {
  let n = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    let text = '';
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end === -1 || text.length < end + 4 + length) return;
      text = '';
      void say(socket, n++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, open };
}

const through = (url: string, more: object = {}) => ({
  providers: [{ name: 'oai', protocol: 'openai' as const, base_url: `${url}/v1` }],
  routes: [{ models: ['m-*'], targets: [{ provider: 'oai' }] }],
  ...more,
});
const ask = (stream: boolean) =>
  JSON.stringify({ model: 'm-1', stream, messages: [{ role: 'user', content: 'hi' }] });
const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
const whole = JSON.stringify(completion('as it was'));

describe('providers that do as they like', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('an answer that comes as %s although nobody asked for it is read', async (name, pack) => {
    const { chat, streamed } = await start(({ body }, res) => {
      const stream = JSON.parse(body).stream === true;
      const text = stream
        ? `${chunk({ content: 'packed ' })}${chunk({ content: 'stream' })}data: [DONE]\n\n`
        : whole;
      res.writeHead(200, {
        'content-type': stream ? 'text/event-stream' : 'application/json',
        'content-encoding': name,
      });
      res.end(pack(text));
    });
    expect((await chat('x')).choices[0]?.message.content).toBe('as it was');
    expect(await streamed('x')).toBe('packed stream');
  });

  it('an answer that unpacks to more than is allowed is refused', async () => {
    const { post } = await start(
      (_, res) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        res.end(gzipSync(JSON.stringify({ x: 'a'.repeat(3_000_000) })));
      },
      { limits: { response_bytes: 100_000 } },
    );
    const res = await post('/v1/chat/completions', ask(false));
    expect(res.status).toBe(502);
    expect(await res.text()).toMatch(/upstream_too_large/);
  });

  it.each([
    ['closes at once', '', 'upstream_unreachable'],
    ['sends nonsense', 'SSH-2.0-OpenSSH\r\n', 'upstream_unreachable'],
    ['breaks off in the head', 'HTTP/1.1 200 OK\r\ncontent-le', 'upstream_unreachable'],
    [
      'breaks off in the body',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"a":',
      'upstream_broken',
    ],
    [
      'breaks off in a chunk',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n50\r\n{"a":',
      'upstream_broken',
    ],
    ['sends two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 9\r\n\r\n{}', 'upstream_'],
    ['sends half a document', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{"a":', 'upstream_malformed'],
    [
      'sends a page',
      'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>',
      'upstream_malformed',
    ],
    ['sends nothing', 'HTTP/1.1 204 No Content\r\n\r\n', 'upstream_malformed'],
  ])('one that %s: an error of ours, and the next call works', async (_, bytes, code) => {
    const { url } = await rawUpstream((socket, n) => {
      const good = `HTTP/1.1 200 OK\r\ncontent-length: ${whole.length}\r\n\r\n${whole}`;
      socket.end(n === 0 ? bytes : good);
    });
    const { post } = await start(bothProtocols, through(url));
    const res = await post('/v1/chat/completions', ask(false));
    expect(res.status).toBe(502);
    expect(await res.json()).toMatchObject({ error: { code: expect.stringContaining(code) } });
    expect((await post('/v1/chat/completions', ask(false))).status).toBe(200);
  });

  it.each([
    300, 301, 304, 400, 401, 402, 403, 404, 409, 413, 418, 422, 429, 451, 500, 501, 502, 503, 504, 529,
  ])('status %i with a body that is no JSON is told in the words of the protocol', async (status) => {
    const { post } = await start((_, res) => {
      res.writeHead(status, { 'content-type': 'text/plain', 'retry-after': '7' });
      res.end(status === 304 ? undefined : 'sk-proj-not-for-callers <html>');
    });
    const res = await post('/v1/chat/completions', ask(false));
    const text = await res.text();
    expect(res.status).toBe(status < 400 ? 502 : status);
    expect(typeof JSON.parse(text).error.message).toBe('string');
    expect(text).not.toContain('sk-proj');
    expect(res.headers.get('retry-after')).toBe('7');
  });

  it('a provider that hangs before or within its answer is given up and its connection closed', async () => {
    const { url, open } = await rawUpstream((socket, n) => {
      if (n === 1) socket.write(`${STREAM_HEAD}transfer-encoding: chunked\r\n\r\n5\r\n: hi\n\r\n`);
    });
    const { post } = await start(bothProtocols, through(url, { limits: { upstream_timeout_seconds: 0.3 } }));
    const late = await post('/v1/chat/completions', ask(false));
    expect(late.status).toBe(504);
    expect(await late.json()).toMatchObject({ error: { code: 'upstream_timeout' } });
    const stream = await post('/v1/chat/completions', ask(true));
    expect(await stream.text()).toMatch(/upstream_(broken|timeout)/);
    await eventually(() => (open.size === 0 ? true : undefined));
  });
});

describe('streams cut anywhere', () => {
  const events = [
    ': a comment\n\n',
    chunk({ role: 'assistant', content: 'grüße 👩‍🚀 日本' }),
    chunk({
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '' } },
      ],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Zür' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: 'ich \\u26c4"}' } }] }),
    `event: note\r\ndata: ${JSON.stringify({ choices: [{ index: 0, delta: {} }] })}\r\n\r\n`,
    chunk({}, { finish_reason: 'tool_calls' }),
    'data: [DONE]\n\n',
  ].join('');
  const bytes = Buffer.from(events);

  it('at every byte: the caller gets the same bytes, whatever the pieces', async () => {
    let cut = 0;
    const { post } = await start(
      async (_, res) => {
        const at = cut++;
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(bytes.subarray(0, at));
        await new Promise((resolve) => setImmediate(resolve));
        res.end(bytes.subarray(at));
      },
      { rules: [{ name: 'no', on: 'response', verdict: 'deny', contains: ['never said'] }] },
    );
    for (let i = 0; i <= bytes.length; i += i < 40 ? 1 : 7) {
      cut = i;
      const res = await post('/v1/chat/completions', ask(true));
      expect(`${i} ${await res.text()}`).toBe(`${i} ${events}`);
    }
  });

  it('byte by byte: rules and the SDK read it as one', async () => {
    const { openai } = await start(
      async (_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const byte of bytes) {
          res.write(Buffer.from([byte]));
          if (byte === 0xf0) await new Promise((resolve) => setImmediate(resolve));
        }
        res.end();
      },
      { rules: [{ name: 'tool', on: 'response', verdict: 'warn', tools: ['get_*'], contains: ['zürich'] }] },
    );
    const run = openai.chat.completions.stream({ model: 'm-1', messages: [{ role: 'user', content: 'x' }] });
    const said = await run.finalMessage();
    expect(said.content).toBe('grüße 👩‍🚀 日本');
    expect(said.tool_calls?.[0]).toMatchObject({
      function: { name: 'get_weather', arguments: '{"city":"Zürich \\u26c4"}' },
    });
    const record = await eventually(() =>
      state()
        .records()
        .find((r) => r.type === 'llm.response'),
    );
    expect(record).toMatchObject({ response_verdict: 'warn' });
  });

  it('a secret cut anywhere in a stream is not shown when answers are redacted', async () => {
    const secret = `ghp_${'aB3dE5fG7h'.repeat(4).slice(0, 36)}`;
    const said = `the token is ${secret} and that was it`;
    let cut = 0;
    const { streamed } = await start(
      (_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.end(
          `${chunk({ content: said.slice(0, cut) })}${chunk({ content: said.slice(cut) })}data: [DONE]\n\n`,
        );
      },
      { redact_responses: true },
    );
    for (cut = 1; cut < said.length; cut += 5) {
      const seen = await streamed('x');
      expect(seen).not.toContain(secret.slice(4, 24));
      expect(seen).toContain('and that was it');
    }
  });
});

describe('events as they come', () => {
  it.each([
    ['LF', '\n\n'],
    ['CR LF', '\r\n\r\n'],
    ['CR', '\r\r'],
  ])('each is shown before the next is sent: %s', async (_, blank) => {
    let next: (() => void) | undefined;
    const { post } = await start(async (__, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 6; i++) {
        res.write(`data: {"candidates":[{"content":{"parts":[{"text":"piece ${i}"}]}}]}${blank}`);
        await new Promise<void>((resolve) => {
          next = resolve;
        });
      }
      res.end();
    });
    const body = JSON.stringify({ contents: [{ parts: [{ text: 'x' }] }] });
    const res = await post('/v1beta/models/m-1:streamGenerateContent?alt=sse', body);
    let seen = '';
    let told = 0;
    const decoder = new TextDecoder();
    for await (const bytes of res.body!) {
      seen += decoder.decode(bytes, { stream: true });
      if (!seen.includes(`piece ${told}`)) continue;
      told++;
      await eventually(() => next);
      const go = next;
      next = undefined;
      go?.();
    }
    expect(told).toBe(6);
  });
});

describe('callers that do as they like', () => {
  it('one that goes away in a stream: the provider is cancelled at once, the call is on record', async () => {
    const { url, open } = await rawUpstream((socket) => {
      socket.write(`${STREAM_HEAD}\r\n`);
      const timer = setInterval(() => socket.write(chunk({ content: 'more ' })), 10);
      socket.on('close', () => clearInterval(timer));
    });
    const { gateway } = await start(bothProtocols, through(url), {
      budget: { per: 'day', tokens: 1_000_000 },
    });
    const stop = new AbortController();
    const res = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: ask(true),
      headers: { authorization: `Bearer ${TOKEN}` },
      signal: stop.signal,
    });
    await res.body?.getReader().read();
    stop.abort();
    await eventually(() => (open.size === 0 ? true : undefined));
    const record = await eventually(() =>
      state()
        .records()
        .find((r) => r.type === 'llm.response'),
    );
    expect(record).toMatchObject({ outcome: 'failed', code: 'cancelled' });
  });

  it('HTTP/1.0, and several requests sent in one go: each gets its whole answer, in order', async () => {
    const { gateway } = await start();
    const talk = async (text: string, enough: (seen: string) => boolean) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      await once(socket, 'connect');
      let seen = '';
      socket.on('data', (data) => {
        seen += data.toString();
      });
      socket.write(text);
      await eventually(() => (enough(seen) ? true : undefined));
      socket.destroy();
      return seen;
    };
    const request = (version: string, stream: boolean) =>
      `POST /v1/chat/completions HTTP/${version}\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: ${ask(stream).length}\r\n\r\n${ask(stream)}`;
    const old = await talk(request('1.0', true), (seen) => seen.includes('[DONE]'));
    expect(old).not.toMatch(/transfer-encoding/i);
    expect(old).toContain('"Hel"');
    const both = await talk(
      request('1.1', true) + request('1.1', false) + request('1.1', true),
      (seen) => (seen.match(/\r\n0\r\n\r\n/g) ?? []).length === 2,
    );
    expect(both.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    expect(both.indexOf('echo hi')).toBeGreaterThan(both.indexOf('[DONE]'));
    expect(both.lastIndexOf('[DONE]')).toBeGreaterThan(both.indexOf('echo hi'));
  });
});

describe('what is not text', () => {
  it('embeddings as numbers packed in base64 come through unchanged, also where answers are redacted', async () => {
    const numbers = Float32Array.from({ length: 1536 }, (_, i) => Math.sin(i * 7919) / 3);
    const packed = Buffer.from(numbers.buffer).toString('base64');
    const { openai } = await start(
      (_, res) =>
        json(res, {
          object: 'list',
          data: [{ object: 'embedding', index: 0, embedding: packed }],
          model: 'm-1',
          usage: { prompt_tokens: 1, total_tokens: 1 },
        }),
      { redact_responses: true },
    );
    const { data } = await openai.embeddings.create({ model: 'm-1', input: 'x' });
    expect(Array.from(data[0]!.embedding)).toEqual(Array.from(numbers));
  });
});

describe('numbers and names made to break things', () => {
  const chat = (more: object) =>
    JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'x' }], ...more });

  it('a provider that reports absurd usage is counted at most, and later calls are judged as ever', async () => {
    const usages = [
      { total_tokens: 1e300 },
      { prompt_tokens: -4, completion_tokens: 'x' },
      { prompt_tokens: 3 },
    ];
    let n = 0;
    const { post } = await start(
      (_, res) => json(res, { ...completion('ok'), usage: usages[n++ % 3] }),
      {},
      { budget: { per: 'day', requests: 5, usd: 1 } },
    );
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await post('/v1/chat/completions', chat({}))).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('a caller that asks for absurdly much is told that it is too much', async () => {
    const { post } = await start(bothProtocols, {}, { budget: { per: 'day', tokens: 100_000 } });
    for (const more of [{ max_tokens: 1e300 }, { n: 1e300 }, { max_tokens: 1e12, n: 1e12 }])
      expect((await post('/v1/chat/completions', chat(more))).status).toBe(429);
    expect((await post('/v1/chat/completions', chat({ max_tokens: 10 }))).status).toBe(200);
  });

  it('[GW-L13] secrets that pose as identifiers or names of members are not sent', async () => {
    const secret = `ghp_${'aB3dE5fG7h'.repeat(4).slice(0, 36)}`;
    const { post, upstream } = await start((_, res) => json(res, completion('ok')));
    for (const more of [
      { [secret]: 1 },
      { metadata: { [secret]: { [secret]: 'x' } } },
      { messages: [{ role: 'user', content: 'x', id: secret, type: secret }] },
      { messages: [{ role: 'tool', tool_call_id: secret, content: 'x' }] },
    ]) {
      expect((await post('/v1/chat/completions', chat(more))).status).toBe(200);
      expect(upstream.seen.at(-1)?.body).not.toContain(secret.slice(4));
    }
    const id = 'call_DdmO9pD3xa9XTPNJ32zg2hcA';
    await post(
      '/v1/chat/completions',
      chat({ messages: [{ role: 'tool', tool_call_id: id, content: 'x' }] }),
    );
    expect(upstream.seen.at(-1)?.body).toContain(id);
  });
});
