import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMcpGateway, stdioClient } from '../../../src/gateways/mcp/index.ts';
import { eventually, gatewayState } from '../state.ts';

type Message = { [key: string]: unknown };
const NODE = process.execPath;
const rich = fileURLToPath(new URL('./rich-server.ts', import.meta.url));
let dir: string;
let state: Awaited<ReturnType<typeof gatewayState>>;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'writ-differential-'));
  state = await gatewayState();
});
afterAll(async () => {
  await state.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A client on bare JSON-RPC: says its lines, keeps everything it hears, answers what it is asked. */
function rawClient(input: Writable, output: Readable) {
  const heard: Message[] = [];
  const answers: { [method: string]: Message } = {
    'sampling/createMessage': {
      result: {
        role: 'assistant',
        model: 'm',
        stopReason: 'toolUse',
        content: [{ type: 'tool_use', id: 'u', name: 'inner', input: {} }],
      },
    },
    'elicitation/create': { result: { action: 'accept', content: { e: 'a' }, _meta: { k: 1 } } },
    'roots/list': { result: { roots: [{ uri: 'file:///w', name: 'w', _meta: {} }] } },
    ping: { result: {} },
  };
  createInterface({ input: output }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    heard.push(message);
    const answer = message.id === undefined ? undefined : answers[String(message.method)];
    if (answer) say({ id: message.id, ...answer });
  });
  const say = (message: Message) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const answerTo = (id: number) => eventually(() => heard.find((m) => m.id === id && m.method === undefined));
  const heardOf = (method: string) => eventually(() => heard.find((m) => m.method === method));
  return { heard, say, answerTo, heardOf };
}

/** The whole conversation. Each request is awaited, so that the order of what is heard is fixed. */
async function converse({ say, answerTo, heardOf }: ReturnType<typeof rawClient>): Promise<void> {
  let id = 0;
  const request = async (method: string, params?: Message) => {
    say({ id: ++id, method, ...(params === undefined ? {} : { params }) });
    return answerTo(id);
  };
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {
      roots: { listChanged: true },
      sampling: { tools: {}, context: {} },
      elicitation: { form: {}, url: {} },
      tasks: { list: {} },
      experimental: { z: {} },
      future: 1,
    },
    clientInfo: { name: 'raw', version: '0', title: 'Raw', extra: true },
    _meta: { hello: [1] },
  });
  say({ method: 'notifications/initialized' });
  say({ method: 'notifications/roots/list_changed', params: { _meta: { why: 'x' } } });
  await heardOf('notifications/x.example/custom');
  await request('ping');
  await request('ping', {});
  for (const cursor of [undefined, '50', '100'])
    await request('tools/list', cursor === undefined ? {} : { cursor });
  await request('tools/call', {
    name: 'tool-0',
    arguments: { a: 1, deep: { list: [null, true, 1.5, 'ü'], '': 0 } },
    _meta: { progressToken: 'tok', other: { kept: 1 } },
    unknownField: [1],
  });
  await request('tools/call', { name: 'tool-0' });
  await request('tools/call', { name: 'tool-1', arguments: {}, _meta: { progressToken: 7 } });
  for (const name of ['tool-2', 'tool-3', 'tool-4', 'tool-6'])
    await request('tools/call', { name, arguments: {} });
  say({ id: ++id, method: 'tools/call', params: { name: 'tool-5', arguments: {} } });
  const hanging = id;
  await request('ping');
  say({ method: 'notifications/cancelled', params: { requestId: hanging, reason: 'enough of this' } });
  await request('resources/list');
  await request('resources/templates/list', {});
  await request('resources/read', { uri: 'rich://one', _meta: { r: 1 } });
  await request('resources/read', { uri: 'rich://t/7' });
  await request('resources/subscribe', { uri: 'rich://one' });
  await heardOf('notifications/resources/updated');
  await request('resources/unsubscribe', { uri: 'rich://one' });
  await request('prompts/list');
  await request('prompts/get', { name: 'p', arguments: { x: '1' } });
  await request('completion/complete', {
    ref: { type: 'ref/prompt', name: 'p' },
    argument: { name: 'x', value: '' },
    context: { arguments: { y: 'z' } },
  });
  await request('completion/complete', {
    ref: { type: 'ref/resource', uri: 'rich://t/{id}' },
    argument: { name: 'id', value: '1' },
  });
  await request('logging/setLevel', { level: 'warning' });
  await request('tools/call', { name: 'tool-7', arguments: {}, task: { ttl: 60_000 } });
  await heardOf('notifications/tasks/status');
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) await request(method, { taskId: 't1' });
  await request('tasks/list', {});
  await request('no/such/method', { a: 1 });
}

/** Ids are each side's own affair; everything else must be the same. */
function unnumbered(messages: readonly Message[]): readonly Message[] {
  const names = new Map<unknown, string>();
  const nameOf = (id: unknown) => {
    if (!names.has(id)) names.set(id, `id-${names.size}`);
    return names.get(id);
  };
  return messages.map((message) => {
    const params = message.params as Message | undefined;
    return {
      ...message,
      ...(message.id === undefined ? {} : { id: nameOf(message.id) }),
      ...(params?.requestId === undefined
        ? {}
        : { params: { ...params, requestId: nameOf(params.requestId) } }),
    };
  });
}

const received = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Message);

/** Questions and their answers carry ids of another direction, which are not compared with requests. */
const split = (messages: readonly Message[]) => ({
  requests: unnumbered(messages.filter((m) => m.method !== undefined)),
  answers: unnumbered(messages.filter((m) => m.method === undefined)),
});

async function direct() {
  const log = join(dir, `direct-${performance.now()}.log`);
  const child = spawn(NODE, [rich], {
    env: { ...process.env, RICH_LOG: log },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const client = rawClient(child.stdin, child.stdout);
  await converse(client);
  child.stdin.end();
  await new Promise((resolve) => child.once('exit', resolve));
  return { heard: client.heard, arrived: received(log) };
}

async function through(pinning: boolean) {
  const log = join(dir, `through-${performance.now()}.log`);
  const gateway = createMcpGateway(
    { default: 'allow', servers: [{ name: 'rich', command: [NODE, rich], env: { RICH_LOG: log }, pinning }] },
    { ...state.deps, database: state.database, env: process.env, baseDir: dir },
  );
  const [there, back] = [new PassThrough(), new PassThrough()];
  await gateway.attach(stdioClient(there, back, 4_000_000));
  const client = rawClient(there, back);
  await converse(client);
  await gateway.close();
  return { heard: client.heard, arrived: received(log) };
}

describe('the same conversation, direct and through the gateway', () => {
  it('[GW-M37] [GW-M1] every message arrives on both sides as it was sent, unknown fields included', async () => {
    const plain = await direct();
    const governed = await through(false);
    expect(plain.heard.length).toBeGreaterThan(40);
    expect(split(governed.heard)).toEqual(split(plain.heard));
    expect(split(governed.arrived)).toEqual(split(plain.arrived));
  });

  it('[GW-M2] nothing reaches the server that is not on record as an intent', async () => {
    const before = state.records().length;
    const { arrived } = await through(false);
    const intents = state
      .records()
      .slice(before)
      .filter((r) => r.type === 'mcp.request' && r.phase === 'intent');
    const methods = (messages: readonly Message[]) => messages.map((m) => String(m.method)).sort();
    expect(methods(intents)).toEqual(
      methods(arrived.filter((m) => m.id !== undefined && m.method !== undefined)),
    );
  });

  it('with pinning the only more is that the tools are listed first', async () => {
    const plain = await direct();
    const governed = await through(true);
    expect(split(governed.heard)).toEqual(split(plain.heard));
    const more = governed.arrived.length - plain.arrived.length;
    expect(more).toBe(3);
    expect(governed.arrived.filter((m) => m.method === 'tools/list')).toHaveLength(6);
  });
});
