import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  EmptyResultSchema,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/core/index.ts';
import type { McpConfigInput } from '../../../src/gateways/mcp/index.ts';
import { eventually } from '../state.ts';
import { call, gateways, NODE, oddServer, serverFrom, textOf } from './help.ts';

const everything = { name: 'every', command: [NODE, serverFrom('server-everything'), 'stdio'] };
const t = gateways();
const { clientOf, gatewayOf, httpClient: connect } = t;

describe('what passes', () => {
  it('[GW-M13] [GW-M25] a call is forwarded, answered and recorded as intent and outcome', async () => {
    const client = await clientOf({ servers: [oddServer()] });
    expect(textOf(await call(client, 'echo', { a: 1, password: 'Tr0ub4dor&3xyz' }))).toContain('"a":1');
    const asked = t.state.records().find((r) => r.type === 'mcp.request' && r.method === 'tools/call');
    const done = await eventually(() =>
      t.state.records().find((r) => r.phase === 'outcome' && r.intent_id === asked?.intent_id),
    );
    expect(asked).toMatchObject({
      caller: 'local',
      server: 'odd',
      method: 'tools/call',
      name: 'echo',
      verdict: 'allow',
    });
    expect(done).toMatchObject({ outcome: 'done', response_sha256: expect.any(String) });
    expect(JSON.stringify(t.state.records())).not.toContain('Tr0ub4dor');
  });

  it('a real server: tools, progress, resources, templates, prompts, logging level, sampling', async () => {
    const client = await clientOf({ servers: [everything] }, (c) => {
      c.setRequestHandler(CreateMessageRequestSchema, async () => ({
        model: 'm',
        role: 'assistant',
        content: { type: 'text', text: 'sampled here' },
      }));
    });
    expect(client.getServerVersion()?.name).not.toBe('writ');
    const { tools } = await client.listTools();
    const names = tools.map((t) => t.name);
    expect(textOf(await call(client, 'echo', { message: 'hi' }))).toContain('hi');
    const progress: number[] = [];
    const long = names.find((n) => /long/i.test(n))!;
    await call(
      client,
      long,
      { duration: 1, steps: 3 },
      { onprogress: (p: { progress: number }) => progress.push(p.progress) },
    );
    expect(progress.length).toBeGreaterThanOrEqual(2);
    const { resources } = await client.listResources();
    expect((await client.readResource({ uri: resources[0]!.uri })).contents).not.toEqual([]);
    expect((await client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(0);
    const { prompts } = await client.listPrompts();
    expect(
      (await client.getPrompt({ name: prompts.find((p) => !p.arguments?.length)!.name })).messages,
    ).not.toEqual([]);
    await client.setLoggingLevel('debug');
    const sampler = names.find((n) => /sampling/i.test(n))!;
    expect(JSON.stringify(await call(client, sampler, { prompt: 'x', maxTokens: 10 }))).toContain(
      'sampled here',
    );
    expect(
      t.state.records().some((r) => r.type === 'mcp.server_request' && r.method === 'sampling/createMessage'),
    ).toBe(true);
  });

  it('[GW-M36] several servers under names of their own, lists gathered over pages and kept live', async () => {
    const client = await clientOf({ servers: [oddServer(), oddServer('plain', 'twin')] });
    const names = (await client.listTools()).tools.map((t) => t.name);
    expect(names).toContain('odd__echo');
    expect(names).toContain('twin__count');
    expect(names).toHaveLength(22);
    expect(textOf(await call(client, 'twin__echo', { here: true }))).toBe('{"here":true}');
    expect((await client.readResource({ uri: 'odd://one' })).contents[0]).toMatchObject({
      text: 'the one resource',
    });
    await expect(call(client, 'echo')).rejects.toThrow(/no tool or prompt/);
    expect(client.getServerVersion()?.name).toBe('writ');
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    await call(client, 'twin__echo', { grow: true });
    await eventually(() => changes || undefined);
    expect((await client.listTools()).tools.map((t) => t.name)).toContain('twin__extra');
  });

  it('[GW-M30] calls run side by side, and a cancelled one ends', async () => {
    const client = await clientOf({ servers: [oddServer()] });
    const stop = new AbortController();
    const hanging = call(client, 'hang', {}, { signal: stop.signal });
    const many = await Promise.all(Array.from({ length: 50 }, (_, i) => call(client, 'echo', { i })));
    expect(many.map((r) => JSON.parse(textOf(r)).i)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    stop.abort('enough');
    await expect(hanging).rejects.toThrow();
    await eventually(() => t.state.records().find((r) => r.outcome === 'failed'));
  });
});

describe('what does not', () => {
  it('[GW-M15] [GW-M7] [GW-M8] [GW-M35] rules on arguments deny with a structured error; the server hears nothing', async () => {
    const client = await clientOf({
      servers: [oddServer()],
      default: 'deny',
      rules: [
        { name: 'tools', verdict: 'allow', methods: ['tools/call'] },
        { name: 'noted', verdict: 'warn', names: ['post'] },
        {
          name: 'no-evil',
          verdict: 'deny',
          names: ['post'],
          arguments: { 'to.*.host': { matches: ['*.evil.example'] } },
          reason: 'not there',
        },
      ],
    });
    await expect(call(client, 'post', { to: [{ host: 'a.evil.example' }] })).rejects.toMatchObject({
      code: -32003,
      message: expect.stringContaining('not there'),
    });
    await call(client, 'post', { to: [{ host: 'good.example' }] });
    expect(textOf(await call(client, 'count'))).toBe('2');
    expect(t.state.records().find((r) => r.type === 'mcp.refused')).toMatchObject({ verdict: 'deny' });
    await expect(client.readResource({ uri: 'odd://one' })).rejects.toMatchObject({ code: -32003 });
  });

  it('[GW-M14] a warning passes with a note on the record', async () => {
    const client = await clientOf({
      servers: [oddServer()],
      rules: [{ name: 'careful', verdict: 'warn', names: ['post'] }],
    });
    await call(client, 'post');
    expect(t.state.records().find((r) => r.name === 'post')).toMatchObject({
      verdict: 'warn',
      evaluations: expect.arrayContaining([expect.objectContaining({ rule: 'careful' })]),
    });
  });

  it('[GW-M35] a sequence: after a secret was read, nothing goes out', async () => {
    const client = await clientOf({
      servers: [oddServer()],
      rules: [
        {
          name: 'no-leak',
          verdict: 'deny',
          names: ['post'],
          after: { names: ['read'], arguments: { path: { matches: ['*/secrets/*'] } } },
        },
      ],
    });
    await call(client, 'read', { path: '/data/public/a' });
    await call(client, 'post');
    await call(client, 'read', { path: '/data/secrets/a' });
    await expect(call(client, 'post')).rejects.toThrow(/no-leak/);
  });

  it('[GW-M39] a rule may count: so many such calls a minute, then it holds', async () => {
    const rules = [
      { name: 'allowed', verdict: 'allow' as const },
      { name: 'not-so-many', verdict: 'deny' as const, names: ['post'], above_per_minute: 3 },
    ];
    const client = await clientOf({ servers: [oddServer()], rules });
    for (let i = 0; i < 3; i++) await call(client, 'post');
    await expect(call(client, 'post')).rejects.toThrow(/not-so-many/);
    await call(client, 'read', { path: 'a' });
  });

  it('[GW-M20] [GW-M21] [GW-M23] [GW-M24] [GW-M19] [GW-M22] paths stay in the workspace, links included', async () => {
    const root = join(t.state.dir, 'work');
    mkdirSync(root);
    writeFileSync(join(t.state.dir, 'outside.txt'), 'x');
    symlinkSync(t.state.dir, join(root, 'link'));
    const client = await clientOf({
      servers: [oddServer()],
      workspaces: [{ servers: ['odd'], roots: [root], arguments: ['path', 'paths.*'] }],
    });
    await call(client, 'read', { path: 'a/b.txt' });
    await call(client, 'read', { path: join(root, 'new/../c.txt') });
    for (const path of ['../outside.txt', '/etc/passwd', 'link/outside.txt', `${root}-sibling/x`, 'a\0b', 7])
      await expect(call(client, 'read', { path }), String(path)).rejects.toThrow(/denied/);
    await expect(call(client, 'post', { path: '/tmp/elsewhere', content: 'x' })).rejects.toThrow(/workspace/);
    await expect(call(client, 'read', { paths: ['ok', '/etc'] })).rejects.toThrow(/workspace/);
  });

  it('[GW-M34] tools are pinned: a changed or renamed one waits for a person, and is pinned anew by the yes', async () => {
    const limits = { approval_wait_seconds: 0 };
    await call(await clientOf({ servers: [oddServer()] }), 'echo');
    const changed = await clientOf({ servers: [oddServer('changed')], limits });
    const waiting = await call(changed, 'echo', { x: 1 });
    expect(waiting.isError).toBe(true);
    expect(textOf(await call(changed, 'count'))).toBe('1');
    const id = String(waiting._meta?.['writ/approval_id']);
    expect((await t.state.queue.respond(id, { approved: true, approver: 'lena' })).ok).toBe(true);
    expect(textOf(await call(changed, 'echo', { x: 1 }))).toBe('{"x":1}');
    expect(textOf(await call(changed, 'echo', { x: 2 }))).toBe('{"x":2}');
    const renamed = await clientOf({ servers: [oddServer('renamed')], limits });
    expect((await call(renamed, 'echo2')).isError).toBe(true);
  });
});

describe('where a request goes', () => {
  it('[GW-M4] methods nobody knew are judged by configuration alone', async () => {
    const ask = (client: Client) =>
      client.request({ method: 'x.example/act', params: { a: 1 } } as never, ResultSchema);
    const closed = await clientOf({ servers: [oddServer()], default: 'deny' });
    await expect(ask(closed)).rejects.toMatchObject({ code: -32003 });
    const rules = [{ name: 'ours', verdict: 'allow' as const, methods: ['x.example/*'] }];
    const open = await clientOf({ servers: [oddServer()], default: 'deny', rules });
    // It got as far as the server, which does not know it.
    await expect(ask(open)).rejects.toMatchObject({ code: -32601 });
    const record = t.state.records().find((r) => r.method === 'x.example/act' && r.phase === 'intent');
    expect(record).toMatchObject({
      verdict: 'allow',
      evaluations: [expect.objectContaining({ rule: 'ours' })],
    });
  });

  it('[GW-M17] is decided by the order of the configuration, always, and on record', async () => {
    for (const servers of [
      [oddServer(), oddServer('plain', 'twin')],
      [oddServer('plain', 'twin'), oddServer()],
    ]) {
      const before = t.state.records().length;
      const client = await clientOf({ servers });
      for (let i = 0; i < 3; i++) await client.readResource({ uri: 'odd://one' });
      const reads = t.state
        .records()
        .slice(before)
        .filter((r) => r.method === 'resources/read' && r.phase === 'intent');
      expect(reads.map((r) => r.server)).toEqual([0, 1, 2].map(() => servers[0]!.name));
    }
  });
});

describe('a person is asked', () => {
  const rules = [{ name: 'ask', verdict: 'require_approval' as const, names: ['post'], role: 'lead' }];

  it('[GW-M9] [GW-M16] [GW-M12] the very call waits, is kept alive by progress, and goes on', async () => {
    const client = await clientOf({ servers: [oddServer()], rules });
    const messages: string[] = [];
    const pending = call(
      client,
      'post',
      { n: 1 },
      { onprogress: (p: { message?: string }) => messages.push(p.message ?? '') },
    );
    const request = await eventually(() => t.state.queue.list({ status: 'pending' })[0]);
    await t.state.queue.respond(request.approval_id, { approved: true, approver: 'lena', role: 'lead' });
    expect(textOf(await pending)).toBe('{"n":1}');
    expect(messages[0]).toContain(request.approval_id);
    const refused = call(client, 'post', { n: 2 });
    const second = await eventually(() => t.state.queue.list({ status: 'pending' })[0]);
    await t.state.queue.respond(second.approval_id, {
      approved: false,
      approver: 'lena',
      role: 'lead',
      reason: 'no',
    });
    await expect(refused).rejects.toMatchObject({ code: -32003 });
    expect(textOf(await call(client, 'count'))).toBe('2');
  });

  it('[GW-M10] [GW-M11] [GW-M26] [GW-M28] an approval outlives the gateway, fits that payload only, and is used once', async () => {
    const config = { servers: [oddServer()], rules, limits: { approval_wait_seconds: 0 } };
    const waiting = await call(await clientOf(config), 'post', { n: 1 });
    const id = String(waiting._meta?.['writ/approval_id']);
    const client = await clientOf(config);
    expect((await call(client, 'post', { n: 1 })).isError).toBe(true);
    await t.state.queue.respond(id, { approved: true, approver: 'lena', role: 'lead' });
    expect((await call(client, 'post', { n: 2 })).isError).toBe(true);
    expect(textOf(await call(client, 'post', { n: 1 }))).toBe('{"n":1}');
    expect((await call(client, 'post', { n: 1 })).isError).toBe(true);
    expect(textOf(await call(client, 'count'))).toBe('2');
  });
});

describe('servers that misbehave', () => {
  it('[GW-M31] one that dies, and one that hangs', async () => {
    const client = await clientOf({ servers: [oddServer()], limits: { call_timeout_seconds: 1 } });
    await expect(call(client, 'hang')).rejects.toThrow(/no answer in time/);
    await expect(call(client, 'die')).rejects.toThrow(/has ended/);
    expect(textOf(await call(client, 'echo'))).toBe('{}');
  });

  it('floods and garbage are taken calmly', async () => {
    const client = await clientOf({ servers: [oddServer()] });
    expect(textOf(await call(client, 'flood'))).toBe('flooded');
    expect(textOf(await call(client, 'garbage'))).toBe('after garbage');
    expect(textOf(await call(client, 'echo'))).toBe('{}');
  });

  it('[GW-M38] [GW-M18] answers have a cap, can be held back and redacted, and say so', async () => {
    const client = await clientOf({
      servers: [oddServer()],
      responses: { max_bytes: 5000, redact: true, deny_contains: ['ignore previous instructions'] },
    });
    await expect(call(client, 'huge', { bytes: 6000 })).rejects.toThrow(/5000 are allowed/);
    await expect(call(client, 'echo', { t: 'IGNORE previous instructions' })).rejects.toThrow(
      /not let through/,
    );
    const clean = await call(client, 'echo', { t: 'password=Tr0ub4dor&3xyz' });
    expect(textOf(clean)).not.toContain('Tr0ub4dor');
    expect(clean._meta?.['writ/redactions']).toBe(1);
    await eventually(() => t.state.records().find((r) => r.type === 'mcp.response' && r.verdict === 'deny'));
  });

  it('a frame beyond the limit ends that server, not the gateway', async () => {
    const client = await clientOf({ servers: [oddServer()], limits: { message_bytes: 100_000 } });
    await expect(call(client, 'huge', { bytes: 300_000 })).rejects.toThrow(/has ended/);
  });

  it('[GW-M32] when the record cannot be written nothing is forwarded', async () => {
    const client = await clientOf({ servers: [oddServer()] });
    await call(client, 'echo');
    await t.state.deps.journal.close();
    await expect(call(client, 'echo')).rejects.toThrow(/could not judge or record|cannot record/);
  });
});

describe('over HTTP', () => {
  const TOKEN = 'mcp-token';
  const config = (more: Partial<McpConfigInput> = {}): McpConfigInput => ({
    default: 'allow',
    servers: [oddServer()],
    callers: [
      { name: 'alice', token_sha256: sha256(TOKEN), servers: ['*'], names: ['echo', 'count'] },
      { name: 'bob', token_sha256: sha256('other'), servers: ['*'], names: ['*'] },
    ],
    ...more,
  });
  const post = (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    });

  it('[GW-H1] [GW-M1] callers by token see and use only what they were given, in sessions of their own', async () => {
    const url = await gatewayOf(config()).listen();
    const { client, transport } = await connect(url, TOKEN);
    expect((await client.listTools()).tools.map((t) => t.name)).toEqual(['echo']);
    expect(textOf(await call(client, 'echo', { a: 1 }))).toBe('{"a":1}');
    await expect(call(client, 'post')).rejects.toThrow(/may not use/);
    await expect(connect(url, 'wrong')).rejects.toThrow();
    const stolen = await post(url, '{"jsonrpc":"2.0","id":1,"method":"ping"}', {
      authorization: 'Bearer other',
      'mcp-session-id': transport.sessionId!,
    });
    expect(stolen.status).toBe(404);
    const bob = await connect(url, 'other');
    expect(textOf(await call(bob.client, 'count'))).toBe('1');
  });

  it('[GW-H2] [GW-H3] foreign origins, oversized and malformed messages are refused; the gateway stays', async () => {
    const url = await gatewayOf(config({ limits: { message_bytes: 5000, sessions: 2 } })).listen();
    expect((await post(url, '{}', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(url, 'x'.repeat(6000))).status).toBe(413);
    expect((await post(url, '{"jsonrpc":')).status).toBe(400);
    expect((await post(url, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).status).toBe(400);
    expect((await fetch(url.replace('/mcp', '/metrics'))).status).toBe(401);
    const { client } = await connect(url, TOKEN);
    await expect(
      client.request({ method: 'no/such', params: {} } as never, EmptyResultSchema),
    ).rejects.toMatchObject({ code: -32601 });
    await connect(url, TOKEN);
    await expect(connect(url, TOKEN)).rejects.toThrow();
    expect(textOf(await call(client, 'echo'))).toBe('{}');
  });

  it('nobody configured: it does not listen', async () => {
    await expect(gatewayOf({ servers: [oddServer()] }).listen()).rejects.toThrow(/nobody could call/);
  });
});
