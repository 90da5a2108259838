import { request as httpRequest, type ServerResponse } from 'node:http';
import { ApiError } from '@google/genai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { eventually } from '../state.ts';
import { bothProtocols, chunk, gatewayTests, json, TOKEN } from './help.ts';

const { start, state } = gatewayTests();

const CLASSES = [
  [400, OpenAI.BadRequestError],
  [401, OpenAI.AuthenticationError],
  [403, OpenAI.PermissionDeniedError],
  [404, OpenAI.NotFoundError],
  [408, OpenAI.APIError],
  [409, OpenAI.ConflictError],
  [413, OpenAI.APIError],
  [422, OpenAI.UnprocessableEntityError],
  [429, OpenAI.RateLimitError],
  [500, OpenAI.InternalServerError],
  [502, OpenAI.InternalServerError],
  [503, OpenAI.InternalServerError],
  [504, OpenAI.InternalServerError],
  [529, OpenAI.InternalServerError],
] as const;

describe('errors of providers', () => {
  it.each(CLASSES)(
    '%i reaches both SDKs as their own error, in the words of the provider',
    async (status, kind) => {
      const { chat, google } = await start(({ path }, res) => {
        const error = path.includes('generateContent')
          ? { code: status, message: 'too hot', status: 'ABORTED', details: [{ a: 1 }] }
          : { message: 'too hot', type: 'weather', param: 'x', code: 'hot' };
        json(res, { error }, status);
      });
      const failed = await chat('x').catch((e) => e);
      expect(failed).toBeInstanceOf(kind);
      expect(failed).toMatchObject({ status, code: 'hot', type: 'weather', param: 'x' });
      expect(failed.message).toContain('too hot');
      const other = await google.models.generateContent({ model: 'm-2', contents: 'x' }).catch((e) => e);
      expect(other).toBeInstanceOf(ApiError);
      expect(other).toMatchObject({ status });
      expect(other.message).toContain('too hot');
      const kept = state()
        .records()
        .filter((r) => r.type === 'llm.response');
      expect(kept).toMatchObject([
        { outcome: 'failed', status },
        { outcome: 'failed', status },
      ]);
    },
  );

  it.each([
    ['a page', 'text/html', '<html>bad gateway</html>', 502],
    ['nothing', 'application/json', '', 500],
    ['a list', 'application/json', '[{"error":{"code":503,"message":"later","status":"UNAVAILABLE"}}]', 503],
    ['a string', 'application/json', '{"error":"model not loaded"}', 500],
  ])('what is not in the shape of an error becomes one: %s', async (_name, type, body, status) => {
    const { chat } = await start((_, res) => void res.writeHead(status, { 'content-type': type }).end(body));
    const failed = await chat('x').catch((e) => e);
    expect(failed).toBeInstanceOf(OpenAI.InternalServerError);
    expect(failed.status).toBe(status);
    expect(failed.message).not.toContain('<html>');
  });

  it('a key that a provider repeats is not told to callers; retry-after is', async () => {
    const { chat } = await start((_, res) => {
      res.setHeader('retry-after', '7');
      json(res, { error: { message: 'bad key sk-proj-Abcdefghij1234567890Abcdefghij1234567890' } }, 429);
    });
    const failed = await chat('x').catch((e) => e);
    expect(failed.message).not.toContain('sk-proj-A');
    expect(failed.headers.get('retry-after')).toBe('7');
  });

  it('redirects are not followed, oversized and cut answers and answers that are no JSON are errors', async () => {
    const answers: Record<string, Parameters<typeof start>[0]> = {
      redirect: (_, res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      large: (_, res) => json(res, { x: 'y'.repeat(5000) }),
      html: (_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      empty: (_, res) => void res.writeHead(204).end(),
      cut: (_, res) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
        res.write('{"id":');
        setTimeout(() => res.destroy(), 10);
      },
    };
    const codes: Record<string, unknown> = {};
    for (const [name, answer] of Object.entries(answers)) {
      const { chat } = await start(answer, { limits: { response_bytes: 2000 } });
      const failed = await chat('x').catch((e) => e);
      expect(failed.status).toBe(502);
      codes[name] = failed.code;
    }
    expect(codes).toEqual({
      redirect: 'upstream_redirect',
      large: 'upstream_too_large',
      html: 'upstream_malformed',
      empty: 'upstream_malformed',
      cut: 'upstream_broken',
    });
  });

  it('a provider that hangs, before or in the middle of its answer, or is not there, does not hang callers', async () => {
    const limits = { upstream_timeout_seconds: 1 };
    const silent = await start(() => undefined, { limits });
    await expect(silent.chat('x')).rejects.toMatchObject({ status: 504, code: 'upstream_timeout' });
    const stuck = await start(
      (_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(chunk({ content: 'a' }));
      },
      { limits },
    );
    const seen: string[] = [];
    await expect(stuck.streamed('x', seen)).rejects.toThrow(/broke off/);
    expect(seen).toEqual(['a']);
    const gone = await start(bothProtocols);
    await gone.upstream.close();
    await expect(gone.chat('x')).rejects.toMatchObject({ status: 502, code: 'upstream_unreachable' });
  });

  it('an error event in a stream passes on and is on record', async () => {
    const { streamed } = await start((_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(`${chunk({ content: 'a' })}data: {"error":{"message":"overloaded","code":"busy"}}\n\n`);
    });
    await expect(streamed('x')).rejects.toThrow(/overloaded/);
    await eventually(() =>
      state()
        .records()
        .find((r) => r.type === 'llm.response' && r.code === 'upstream_error'),
    );
  });
});

describe('callers that do not behave', () => {
  it('who does not read is not read for: what waits is bounded, and others are served', async () => {
    let sent = 0;
    const piece = chunk({ content: 'x'.repeat(60_000) });
    const flood = (res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = () => {
        while (!res.destroyed && res.write(piece)) sent += piece.length;
        sent += piece.length;
        res.once('drain', more);
      };
      more();
    };
    const { gateway, chat } = await start(
      async (arrived, res) => {
        if (arrived.body.includes('"stream"')) flood(res);
        else await bothProtocols(arrived, res);
      },
      { limits: { response_bytes: 1024 ** 3 } },
    );
    const lazy = httpRequest(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    });
    lazy.on('response', (res) => res.pause()).on('error', () => undefined);
    lazy.end(JSON.stringify({ model: 'm-1', stream: true, messages: [] }));
    // The provider stops being read once the sockets on the way are full.
    let before = -1;
    await eventually(() => {
      const still = sent > 0 && sent === before;
      before = sent;
      return still || undefined;
    });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    expect((await chat('hello')).choices[0]!.message.content).toBe('echo hello');
    lazy.destroy();
  });

  it('a request that breaks off in its body is nobody’s problem', async () => {
    const { gateway, chat, upstream } = await start();
    const half = httpRequest(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-length': 1000 },
    });
    half.on('error', () => undefined);
    half.write('{"model":');
    await new Promise((resolve) => setTimeout(resolve, 50));
    half.destroy();
    expect((await chat('still there')).choices[0]!.message.content).toBe('echo still there');
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([
    ['half a character', '{"model":"m-1","messages":[{"role":"user","content":"\\ud800"}]}'],
    ['bytes that are no text', Uint8Array.from(Buffer.from('{"model":"m-1","x":"\xff"}', 'latin1'))],
    ['a model that is no text', '{"model":{"a":1}}'],
    ['a name too long', JSON.stringify({ model: `m-${'x'.repeat(300)}` })],
  ])('%s is a bad request', async (_name, body) => {
    const { post, upstream } = await start();
    expect((await post('/v1/chat/completions', body)).status).toBe(400);
    expect(upstream.seen).toHaveLength(0);
  });
});
