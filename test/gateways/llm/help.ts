import type { ServerResponse } from 'node:http';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterEach, beforeEach } from 'vitest';
import { sha256 } from '../../../src/core/index.ts';
import {
  type LlmConfigInput,
  type LlmGatewayDeps,
  startLlmGateway,
} from '../../../src/gateways/llm/index.ts';
import { type Arrived, gatewayState, loopback } from '../state.ts';

export const json = (res: ServerResponse, body: unknown, status = 200) => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
export const completion = (content: string) => ({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
export const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...more }] })}\n\n`;

export async function sse(res: ServerResponse, events: readonly string[], pauseMs = 0) {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    res.write(event);
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  res.end();
}

/** Speaks just enough of both protocols. */
export async function bothProtocols({ path, body, method }: Arrived, res: ServerResponse) {
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

export const TOKEN = 'token-of-alice';
type Overrides = Partial<LlmConfigInput>;

/** A state folder, an upstream and a gateway for each test of a file, all ended after it. */
export function gatewayTests() {
  let state: Awaited<ReturnType<typeof gatewayState>>;
  const ends: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    state = await gatewayState();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await state.close();
  });

  const start = async (
    answer: Parameters<typeof loopback>[0] = bothProtocols,
    overrides: Overrides = {},
    caller: object = {},
    deps: Partial<LlmGatewayDeps> = {},
  ) => {
    const upstream = await loopback(answer);
    ends.push(upstream.close);
    const gateway = await startLlmGateway(
      {
        default: 'allow',
        callers: [
          { name: 'alice', token_sha256: sha256(TOKEN), models: ['m-*'], ...caller },
          { name: 'bob', token_sha256: sha256('token-of-bob'), models: ['m-*', 'other'] },
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
        ...deps,
      },
    );
    ends.push(gateway.close);
    const clients = (token: string) => {
      const openai = new OpenAI({ apiKey: token, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
      const google = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: gateway.url } });
      const chat = (content: string) =>
        openai.chat.completions.create({ model: 'm-1', messages: [{ role: 'user', content }] });
      /** The texts of a streamed chat, as far as they came before an error. */
      const streamed = async (content: string, seen: string[] = []): Promise<string> => {
        for await (const piece of await openai.chat.completions.create({
          model: 'm-1',
          stream: true,
          messages: [{ role: 'user', content }],
        }))
          seen.push(piece.choices[0]?.delta.content ?? '');
        return seen.join('');
      };
      return { openai, google, chat, streamed };
    };
    const post = (
      path: string,
      body: string | Uint8Array<ArrayBuffer>,
      headers: Record<string, string> = {},
    ) =>
      fetch(`${gateway.url}${path}`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
      });
    return { gateway, upstream, post, clients, ...clients(TOKEN) };
  };
  return { start, ends, state: () => state };
}
