import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { modelEndpoint } from '../../src/cli/model-endpoint.ts';
import type { Turn } from '../../src/core/index.ts';
import { testClock } from '../../src/core/testing.ts';
import { geminiBrain, openaiBrain } from '../../src/ghost/index.ts';
import { openLedger } from '../../src/ledger/index.ts';

interface Seen {
  readonly path: string;
  readonly auth: string | undefined;
  readonly body: { readonly [key: string]: unknown };
}
type Answer = { status?: number; json?: unknown; raw?: string; headers?: Record<string, string> };

/** A provider on loopback that answers what the test lined up, the last answer again and again. */
async function provider(answers: Answer[]): Promise<{ url: string; seen: Seen[]; server: Server }> {
  const seen: Seen[] = [];
  const server = createServer(async (req: IncomingMessage, res: ServerResponse) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    const auth = req.headers['x-goog-api-key'] ?? req.headers.authorization;
    seen.push({ path: req.url ?? '', auth: auth as string | undefined, body: JSON.parse(text || '{}') });
    const next = answers[Math.min(seen.length, answers.length) - 1] ?? {};
    res.writeHead(next.status ?? 200, { 'content-type': 'application/json', ...next.headers });
    res.end(next.raw ?? JSON.stringify(next.json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server };
}

const chat = (message: unknown) => ({ json: { id: 'c1', choices: [{ index: 0, message }] } });
const gemini = (...parts: unknown[]) => ({
  json: { candidates: [{ content: { role: 'model', parts } }] },
});
const tools = [
  {
    name: 'run_shell',
    description: 'runs',
    parameters: { type: 'object', properties: { command: { type: 'string' } } },
  },
];
const hello: readonly Turn[] = [{ role: 'user', text: 'VM A cannot reach VM B' }];
const KEY = 'provider-key-of-this-test';

let dir: string;
const ends: (() => Promise<unknown> | unknown)[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'writ-brains-'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  rmSync(dir, { recursive: true, force: true });
});

async function brainOn(kind: 'gemini' | 'openai', answers: Answer[]) {
  const upstream = await provider(answers);
  ends.push(() => {
    upstream.server.closeAllConnections();
    upstream.server.close();
  });
  const clock = testClock();
  const ledger = openLedger({ stateDir: join(dir, '.writ'), clock });
  const baseUrl = kind === 'openai' ? `${upstream.url}/v1` : upstream.url;
  const gateway = await modelEndpoint(
    { ledger, clock },
    { provider: kind, baseUrl, key: KEY, model: 'test-model' },
  );
  ends.push(() => gateway.close());
  const options = {
    endpoint: gateway.endpoint,
    model: 'test-model',
    systemPrompt: 'You investigate.',
    clock,
  };
  const brain = await (kind === 'gemini' ? geminiBrain(options) : openaiBrain(options));
  const ask = (history = hello) => brain.next(history, tools, AbortSignal.timeout(20_000));
  return { ask, seen: upstream.seen, clock, gateway };
}

function journalLines(): { [key: string]: unknown }[] {
  const folder = join(dir, '.writ', 'ledger');
  const file = readdirSync(folder).find((name) => name.startsWith('llm_') && name.endsWith('.jsonl'))!;
  return readFileSync(join(folder, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe.each(['gemini', 'openai'] as const)('the %s brain through the gateway', (kind) => {
  const text = (said: string) =>
    kind === 'gemini' ? gemini({ text: said }) : chat({ role: 'assistant', content: said });
  const call = (name: string, args: unknown) =>
    kind === 'gemini'
      ? gemini({ text: 'let me look' }, { functionCall: { name, args }, thoughtSignature: 'c2lnbmF0dXJl' })
      : chat({
          role: 'assistant',
          content: 'let me look',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } },
          ],
        });

  it('reads text and tool calls, with the provider key put on by the gateway alone', async () => {
    const { ask, seen, gateway } = await brainOn(kind, [
      call('run_shell', { command: 'ping -c 1 10.0.0.4' }),
      text('done'),
    ]);
    const first = await ask();
    expect(first.text).toBe('let me look');
    expect(first.calls).toMatchObject([{ name: 'run_shell', args: { command: 'ping -c 1 10.0.0.4' } }]);
    const second = await ask([
      ...hello,
      { role: 'model', text: first.text, calls: first.calls },
      {
        role: 'tools',
        results: [{ id: first.calls[0]!.id, name: 'run_shell', result: { stdout: '1 received' } }],
      },
    ]);
    expect(second).toEqual({ text: 'done', calls: [] });
    expect(seen[0]!.auth).toContain(KEY);
    expect(JSON.stringify(seen)).not.toContain(gateway.endpoint.token);
    expect(JSON.stringify(seen[1]!.body)).toContain('1 received');
    if (kind === 'gemini') expect(JSON.stringify(seen[1]!.body)).toContain('c2lnbmF0dXJl');
    expect(seen[0]!.path).toBe(
      kind === 'gemini' ? '/v1beta/models/test-model:generateContent' : '/v1/chat/completions',
    );
  });

  it('[GW-L13] secrets in the history do not reach the provider, nor the ledger', async () => {
    const { ask, seen } = await brainOn(kind, [text('ok')]);
    await ask([{ role: 'user', text: 'the connection uses password=Tr0ub4dor&3xyz and hangs' }]);
    expect(JSON.stringify(seen)).not.toContain('Tr0ub4dor');
    expect(JSON.stringify(seen)).toContain('and hangs');
    expect(JSON.stringify(journalLines())).not.toContain('Tr0ub4dor');
  });

  it('[GW-L12] each call leaves an intent before and an outcome after, without the prompt', async () => {
    const { ask } = await brainOn(kind, [text('ok')]);
    await ask();
    const [intent, outcome] = journalLines();
    expect(intent).toMatchObject({
      type: 'llm.request',
      phase: 'intent',
      caller: 'ghost',
      model: 'test-model',
    });
    expect(outcome).toMatchObject({ type: 'llm.response', phase: 'outcome', outcome: 'done', status: 200 });
    expect(outcome!.intent_id).toBe(intent!.intent_id);
    expect(JSON.stringify(journalLines())).not.toContain('cannot reach');
  });

  it.each([429, 500, 503])('tries again after %i and then answers', async (status) => {
    const sorry = { status, json: { error: { message: 'later', code: status } } };
    const { ask, seen, clock } = await brainOn(kind, [sorry, sorry, text('at last')]);
    const before = clock.monotonic();
    expect((await ask()).text).toBe('at last');
    expect(seen).toHaveLength(3);
    expect(clock.monotonic() - before).toBeGreaterThanOrEqual(4000);
  });

  it.each([400, 401, 404])(
    'gives up at once on %i, with the words of the provider and no key in them',
    async (status) => {
      const said = `wrong key sk-proj-${'a1B2'.repeat(12)} given`;
      const { ask, seen } = await brainOn(kind, [
        { status, json: { error: { message: said, code: status } } },
      ]);
      const failed = await ask().catch((error: Error) => error);
      expect(String(failed)).toMatch(/BrainError: the model answered \d+: .*wrong key/);
      expect(String(failed)).not.toContain('a1B2a1B2');
      expect(seen).toHaveLength(1);
    },
  );

  it('a broken answer is an error after its retries, never a made-up turn', async () => {
    const { ask, seen } = await brainOn(kind, [{ raw: '{"choices": [{' }]);
    await expect(ask()).rejects.toThrow(/502/);
    expect(seen).toHaveLength(4);
  });

  it('an empty answer is said to be empty', async () => {
    const { ask } = await brainOn(kind, [{ json: {} }]);
    await expect(ask()).rejects.toThrow('gave no answer');
  });

  it('a redirect is not followed', async () => {
    const { ask } = await brainOn(kind, [
      { status: 302, json: {}, headers: { location: 'http://127.0.0.1:1/' } },
    ]);
    await expect(ask()).rejects.toThrow(/502/);
  });

  it('hostile calls come through as data: odd names, arguments that are no object, a polluted prototype', async () => {
    const { ask } = await brainOn(kind, [
      call('__proto__', { __proto__: 1, command: '\u001b[2J; rm -rf /' }),
    ]);
    const turn = await ask();
    expect(turn.calls[0]!.name).toBe('__proto__');
    expect(({} as { command?: string }).command).toBeUndefined();
    if (kind !== 'openai') return;
    const bad = await brainOn(kind, [
      chat({
        content: null,
        tool_calls: [
          { id: 'x', type: 'function', function: { name: 'run_shell', arguments: '{"command": rm' } },
        ],
      }),
    ]);
    expect((await bad.ask()).calls[0]!.args).toEqual({ malformed_arguments: '{"command": rm' });
  });

  it('stops when told to', async () => {
    const { gateway, clock } = await brainOn(kind, [text('never read')]);
    const options = { endpoint: gateway.endpoint, model: 'test-model', systemPrompt: '', clock };
    const brain = await (kind === 'gemini' ? geminiBrain(options) : openaiBrain(options));
    await expect(brain.next(hello, tools, AbortSignal.abort(new Error('enough')))).rejects.toThrow();
  });

  it('a model the endpoint was not made for is refused', async () => {
    const { gateway, clock, seen } = await brainOn(kind, [text('x')]);
    const options = { endpoint: gateway.endpoint, model: 'another-model', systemPrompt: '', clock };
    const brain = await (kind === 'gemini' ? geminiBrain(options) : openaiBrain(options));
    await expect(brain.next(hello, tools, AbortSignal.timeout(5000))).rejects.toThrow(/403/);
    expect(seen).toHaveLength(0);
  });
});

describe('no way round the gateway', () => {
  it('[GW-L1] only the gateway knows providers; brains cannot make an endpoint', async () => {
    const files = globSync('src/**/*.ts');
    expect(files.length).toBeGreaterThan(100);
    const holding = (pattern: RegExp) => files.filter((f) => pattern.test(readFileSync(f, 'utf8')));
    expect(holding(/generativelanguage\.googleapis|api\.openai\.com/)).toEqual([
      'src/gateways/llm/config.ts',
    ]);
    const sdk = holding(/import\('(openai|@google\/genai)'\)|from '(openai|@google\/genai)/);
    expect(sdk.sort()).toEqual(['src/ghost/brains/gemini.ts', 'src/ghost/brains/openai.ts']);
    // The SDKs fall back to the environment and the real provider when not told: both must be told.
    for (const file of sdk)
      expect(readFileSync(file, 'utf8')).toMatch(
        /apiKey: options\.endpoint\.token[\s\S]*base(URL|Url): .?.?.?options\.endpoint\.baseUrl/,
      );
    expect(holding(/\bmakeEndpoint\b/).sort()).toEqual([
      'src/gateways/llm/endpoint.ts',
      'src/gateways/llm/gateway.ts',
    ]);
    const { LlmEndpoint } = await import('../../src/gateways/llm/endpoint.ts');
    expect(() => new LlmEndpoint(Symbol('endpoint'), 'http://x', 't')).toThrow(/gateway alone/);
    expect(LlmEndpoint.is({ baseUrl: 'http://x', token: 't' })).toBe(false);
    expect(await import('../../src/gateways/llm/index.ts')).not.toHaveProperty('LlmEndpoint');
  });
});
