import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import {
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/core/index.ts';
import { stdioClient } from '../../../src/gateways/mcp/index.ts';
import { eventually, loopback } from '../state.ts';
import { call, gateways, NODE, oddServer, textOf } from './help.ts';

const t = gateways();
const INIT = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe('a server that ends', () => {
  it('[GW-M31] is started again: open calls fail, the lists are told to have changed, the log level is set again', async () => {
    const heard: string[] = [];
    const client = await t.clientOf({ servers: [oddServer()] }, (c) => {
      c.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'));
      c.setNotificationHandler(ResourceListChangedNotificationSchema, () => void heard.push('resources'));
    });
    await call(client, 'echo');
    const hanging = call(client, 'hang');
    const dying = call(client, 'die');
    await expect(hanging).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining('has ended'),
    });
    await expect(dying).rejects.toThrow(/has ended/);
    expect(textOf(await call(client, 'count'))).toBe('1');
    await eventually(() => (heard.includes('tools') && heard.includes('resources') ? true : undefined));
    const greeted = t.state.records().filter((r) => r.method === 'initialize' && r.phase === 'intent');
    expect(greeted).toHaveLength(2);
  });

  it('again and again is given up for a while, and says so', async () => {
    const client = await t.clientOf({ servers: [oddServer()], limits: { server_restarts: 1 } });
    await expect(call(client, 'die')).rejects.toThrow(/has ended/);
    await expect(call(client, 'die')).rejects.toThrow(/has ended/);
    await expect(call(client, 'echo')).rejects.toMatchObject({ code: -32000 });
    expect(t.lines.some((line) => line.event === 'mcp.server_given_up')).toBe(true);
  });

  it('before it was greeted is an error; beside others it is left out', async () => {
    const dead = { name: 'dead', command: [NODE, '-e', 'process.exit(3)'] };
    const gone = { name: 'gone', command: ['/no/such/program'] };
    await expect(t.clientOf({ servers: [dead] })).rejects.toMatchObject({ code: -32000 });
    await expect(t.clientOf({ servers: [gone] })).rejects.toThrow(/cannot be started/);
    const client = await t.clientOf({ servers: [dead, oddServer(), gone] });
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    expect(names).toContain('odd__echo');
    expect(names.every((name) => name.startsWith('odd__'))).toBe(true);
  });

  it('a silent one does not keep the client waiting for ever', async () => {
    const mute = { name: 'mute', command: [NODE, '-e', 'setInterval(() => {}, 1000)'] };
    const limits = { start_timeout_seconds: 0.3 };
    await expect(t.clientOf({ servers: [mute], limits })).rejects.toThrow(/no answer in time/);
  });
});

describe('a server that changes', () => {
  it('[GW-M34] a tool that changes in the middle of a session is reported and waits for a person', async () => {
    const client = await t.clientOf({ servers: [oddServer()], limits: { approval_wait_seconds: 0 } });
    expect(textOf(await call(client, 'post'))).toBe('{}');
    await call(client, 'echo', { mutate: true });
    await client.listTools({ cursor: 'second' });
    const held = await eventually(() => t.lines.find((line) => line.event === 'mcp.tool_changed'));
    expect(held).toMatchObject({ server: 'odd', standing: 'changed' });
    expect((await call(client, 'post')).isError).toBe(true);
    await eventually(() => t.state.records().find((r) => r.type === 'mcp.tool_changed' && r.name === 'post'));
  });
});

describe('a cancelled call', () => {
  it('is cancelled at the server with the reason, and gets no answer', async () => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    const heard: string[] = [];
    back.on('data', (data) => heard.push(String(data)));
    await t.gatewayOf({ default: 'allow', servers: [oddServer()] }).attach(stdioClient(there, back, 1e6));
    const say = (message: object) => there.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    there.write(`${JSON.stringify(INIT)}\n`);
    await eventually(() => heard.find((line) => line.includes('serverInfo')));
    say({ id: 2, method: 'tools/call', params: { name: 'hang' } });
    await eventually(() => t.state.records().find((r) => r.name === 'hang'));
    say({ method: 'notifications/cancelled', params: { requestId: 2, reason: 'never mind' } });
    say({ id: 3, method: 'tools/call', params: { name: 'cancels' } });
    const told = await eventually(() => heard.find((line) => line.includes('"id":3')));
    expect(told).toContain('never mind');
    expect(heard.join('')).not.toContain('"id":2,');
  });
});

describe('malformed messages on stdio', () => {
  it('[GW-H3] get a proper error each, and the conversation goes on', async () => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    const heard: { id?: unknown; error?: { code: number }; result?: unknown }[] = [];
    back.on('data', (data) => {
      for (const line of String(data).trim().split('\n')) heard.push(JSON.parse(line));
    });
    await t.gatewayOf({ default: 'allow', servers: [oddServer()] }).attach(stdioClient(there, back, 1e6));
    const answer = async (line: string) => {
      const before = heard.length;
      there.write(`${line}\n`);
      return eventually(() => heard[before]);
    };
    expect(await answer('{"jsonrpc":"2.0",')).toMatchObject({ id: null, error: { code: -32700 } });
    expect(await answer('{"id":5,"method":"ping"}')).toMatchObject({ id: 5, error: { code: -32600 } });
    for (const id of ['null', '{}', '[1]', 'true'])
      expect(await answer(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toMatchObject({
        id: null,
        error: { code: -32600 },
      });
    expect(await answer('[]')).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await answer('"text"')).toMatchObject({ error: { code: -32600 } });
    expect(await answer('{"jsonrpc":"2.0","id":6,"method":"ping","params":[1]}')).toMatchObject({ id: 6 });
    expect(await answer('{"jsonrpc":"2.0","id":7,"method":"ping"}')).toMatchObject({
      error: { code: -32600 },
    });
    expect(await answer('{"jsonrpc":"2.0","id":8,"method":"server/discover"}')).toMatchObject({
      id: 8,
      error: { code: -32601 },
    });
    expect(await answer(JSON.stringify(INIT))).toMatchObject({ id: 1, result: expect.anything() });
    expect(await answer(JSON.stringify({ ...INIT, id: 9 }))).toMatchObject({ error: { code: -32600 } });
    // A batch of the older revisions, and an id that is in use.
    const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });
    expect(await answer(JSON.stringify([ping('a')]))).toMatchObject({ id: 'a', result: {} });
    const slow = { jsonrpc: '2.0', id: 10, method: 'tools/call', params: { name: 'hang' } };
    there.write(`${JSON.stringify(slow)}\n`);
    expect(await answer(JSON.stringify(ping(10)))).toMatchObject({ id: 10, error: { code: -32600 } });
    expect(await answer(JSON.stringify(ping(11)))).toMatchObject({ id: 11, result: {} });
  });
});

describe('HTTP in trouble', () => {
  const config = {
    default: 'allow' as const,
    servers: [oddServer()],
    callers: [
      { name: 'ann', token_sha256: sha256('ann'), servers: ['*'], names: ['*'] },
      { name: 'bob', token_sha256: sha256('bob'), servers: ['*'], names: ['*'] },
    ],
  };
  const headers = (session?: string, who = 'ann') => ({
    authorization: `Bearer ${who}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  });
  const post = (url: string, body: unknown, session?: string, more = {}) =>
    fetch(url, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { ...headers(session), ...more },
    });
  const begin = async (url: string) => {
    const answer = await post(url, INIT);
    expect(await answer.text()).toContain('serverInfo');
    return answer.headers.get('mcp-session-id')!;
  };

  it('[GW-H3] wrong types, versions, sessions, batches and ids are refused with an error each', async () => {
    const url = await t.gatewayOf(config).listen();
    const session = await begin(url);
    const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });
    const status = async (answer: Promise<Response>) => {
      const { status } = await answer;
      return [status, await (await answer).text()] as const;
    };
    expect((await status(post(url, ping(1), session, { accept: 'text/html' })))[0]).toBe(406);
    expect((await status(post(url, ping(1), session, { 'content-type': 'text/plain' })))[0]).toBe(415);
    expect((await status(post(url, ping(1), session, { 'mcp-protocol-version': '1999-01-01' })))[0]).toBe(
      400,
    );
    expect((await status(post(url, ping(1), 'no-such-session')))[0]).toBe(404);
    expect((await status(post(url, ping({}), session)))[1]).toContain('-32600');
    expect((await status(post(url, [], session)))[1]).toContain('-32600');
    expect((await status(post(url, [ping(1), ping(1)], session)))[1]).toContain('in use');
    expect((await status(fetch(url, { method: 'PUT', headers: headers(session) })))[0]).toBe(405);
    expect((await status(post(url, { jsonrpc: '2.0', id: 1, method: 'server/discover' })))[1]).toContain(
      '-32601',
    );
    const both = await status(post(url, [ping('a'), ping('b')], session));
    expect(both[1]).toContain('"id":"a"');
    expect(both[1]).toContain('"id":"b"');
    const plain = await post(url, ping(5), session, { accept: 'application/json' });
    expect(await plain.json()).toEqual({ jsonrpc: '2.0', id: 5, result: {} });
    expect((await status(fetch(url, { method: 'DELETE', headers: headers(session) })))[0]).toBe(200);
    expect((await status(post(url, ping(1), session)))[0]).toBe(404);
  });

  it('a greeting that fails leaves no session behind, and a left one makes room', async () => {
    const dead = { name: 'dead', command: [NODE, '-e', 'process.exit(3)'] };
    const broken = await t.gatewayOf({ ...config, servers: [dead], limits: { sessions: 1 } }).listen();
    for (let i = 0; i < 3; i++) expect(await (await post(broken, INIT)).text()).toContain('-32000');
    const url = await t.gatewayOf({ ...config, limits: { sessions: 1 } }).listen();
    const first = await begin(url);
    expect((await post(url, INIT, undefined, { authorization: 'Bearer bob' })).status).toBe(503);
    await begin(url);
    expect((await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, first)).status).toBe(404);
  });

  it('a second listening stream takes over from one nobody holds any more', async () => {
    const url = await t.gatewayOf(config).listen();
    const session = await begin(url);
    const listen = () => fetch(url, { headers: { ...headers(session), accept: 'text/event-stream' } });
    const first = await listen();
    const second = await listen();
    expect(second.status).toBe(200);
    expect(await first.text()).toBe('');
    await second.body?.cancel();
  });

  it('a client that does not read holds up its own server, nobody else', async () => {
    const url = await t.gatewayOf(config).listen();
    const session = await begin(url);
    const flood = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'flood' } });
    const { hostname, port } = new URL(url);
    const deaf = connect(Number(port), hostname);
    deaf.pause();
    const lines = Object.entries(headers(session)).map(([name, value]) => `${name}: ${value}\r\n`);
    deaf.write(
      `POST /mcp HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-length: ${flood.length}\r\n${lines.join('')}\r\n${flood}`,
    );
    const { client } = await t.httpClient(url, 'bob');
    for (let i = 0; i < 20; i++) expect(textOf(await call(client, 'echo', { i }))).toBe(`{"i":${i}}`);
    deaf.destroy();
    expect((await post(url, { jsonrpc: '2.0', id: 3, method: 'ping' }, session)).status).toBe(200);
  });

  it('a downstream stream that ends without its answer is an error, another status too', async () => {
    const answers = ['stream', 'status', 'junk'];
    const server = await loopback(({ body, method }, res) => {
      if (method !== 'POST') return void res.writeHead(405).end();
      const message = JSON.parse(body);
      if (message.id === undefined) return void res.writeHead(202).end();
      const json = { 'content-type': 'application/json' };
      if (message.method === 'initialize')
        return void res.writeHead(200, { ...json, 'mcp-session-id': 's' }).end(
          JSON.stringify({
            jsonrpc: '2.0',
            id: message.id,
            result: {
              protocolVersion: '2025-11-25',
              capabilities: { tools: {} },
              serverInfo: { name: 'x', version: '1' },
            },
          }),
        );
      switch (answers.shift()) {
        case 'stream':
          return void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
        case 'status':
          return void res.writeHead(503).end('busy');
        default:
          return void res.writeHead(200, json).end('{"half');
      }
    });
    t.later(server.close);
    const client = await t.clientOf({ servers: [{ name: 'web', url: server.url, pinning: false }] });
    await expect(call(client, 'a')).rejects.toThrow(/without an answer/);
    await expect(call(client, 'a')).rejects.toThrow(/503/);
    await expect(call(client, 'a')).rejects.toThrow(/not JSON/);
  });

  it('a downstream server that forgot the session is greeted anew', async () => {
    let sessions = 0;
    let forget = false;
    const server = await loopback(({ body, method, headers }, res) => {
      if (method !== 'POST') return void res.writeHead(405).end();
      const message = JSON.parse(body);
      if (forget && headers['mcp-session-id'] === 's1') return void res.writeHead(404).end();
      if (message.id === undefined) return void res.writeHead(202).end();
      const greets = message.method === 'initialize';
      const result = greets
        ? {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'x', version: '1' },
          }
        : { content: [{ type: 'text', text: String(headers['mcp-session-id']) }] };
      res
        .writeHead(200, {
          'content-type': 'application/json',
          ...(greets ? { 'mcp-session-id': `s${++sessions}` } : {}),
        })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    });
    t.later(server.close);
    const client = await t.clientOf({ servers: [{ name: 'web', url: server.url, pinning: false }] });
    expect(textOf(await call(client, 'a'))).toBe('s1');
    forget = true;
    await expect(call(client, 'a')).rejects.toMatchObject({ code: -32000 });
    expect(textOf(await call(client, 'a'))).toBe('s2');
  });
});
