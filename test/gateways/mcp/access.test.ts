import { execFileSync } from 'node:child_process';
import { request } from 'node:https';
import { join } from 'node:path';
import {
  CreateMessageRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/core/index.ts';
import { collector } from '../collector.ts';
import { eventually } from '../state.ts';
import { call, gateways, NODE, oddServer, serverFrom, textOf } from './help.ts';

const t = gateways();
const rich = join(import.meta.dirname, 'rich-server.ts');
const caller = (name: string, names: readonly string[], servers: readonly string[] = ['*']) => ({
  name,
  token_sha256: sha256(name),
  servers: [...servers],
  names: [...names],
});
const every = { name: 'every', command: [NODE, serverFrom('server-everything'), 'stdio'] };

describe('least privilege by caller', () => {
  it('[GW-H1] what a caller may not use is not listed, not callable, not completed and not heard of', async () => {
    const gateway = t.gatewayOf({
      default: 'allow',
      servers: [{ name: 'rich', command: [NODE, rich] }],
      callers: [caller('ann', ['tool-1*', 'rich://t/*']), caller('bob', ['*'])],
    });
    const url = await gateway.listen();
    const updates: string[] = [];
    const { client: ann } = await t.httpClient(url, 'ann', (c) => {
      c.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void updates.push(params.uri),
      );
    });
    const { client: bob } = await t.httpClient(url, 'bob');
    const first = (await ann.listTools()).tools.map((tool) => tool.name);
    expect(first).toEqual(['tool-1', ...Array.from({ length: 10 }, (_, i) => `tool-1${i}`)]);
    expect((await bob.listTools()).tools).toHaveLength(50);
    expect((await ann.listPrompts()).prompts).toEqual([]);
    expect((await ann.listResources()).resources).toEqual([]);
    expect((await ann.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    await expect(call(ann, 'tool-2')).rejects.toMatchObject({ code: -32003 });
    await expect(ann.getPrompt({ name: 'p', arguments: { x: '1' } })).rejects.toMatchObject({ code: -32003 });
    await expect(ann.readResource({ uri: 'rich://one' })).rejects.toMatchObject({ code: -32003 });
    expect((await ann.readResource({ uri: 'rich://t/1' })).contents).toHaveLength(2);
    const ref = { type: 'ref/prompt' as const, name: 'p' };
    await expect(ann.complete({ ref, argument: { name: 'x', value: '' } })).rejects.toMatchObject({
      code: -32003,
    });
    await expect(ann.subscribeResource({ uri: 'rich://one' })).rejects.toMatchObject({ code: -32003 });
    await bob.subscribeResource({ uri: 'rich://one' });
    await ann.subscribeResource({ uri: 'rich://t/1' });
    await eventually(() => updates[0]);
    expect(updates).toEqual(['rich://t/1']);
  });

  it('a caller sees only its servers', async () => {
    const gateway = t.gatewayOf({
      default: 'allow',
      servers: [oddServer(), oddServer('plain', 'twin')],
      callers: [caller('ann', ['*'], ['twin'])],
    });
    const { client } = await t.httpClient(await gateway.listen(), 'ann');
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    expect(new Set(names.map((name) => name.split('__')[0]))).toEqual(new Set(['twin']));
    await expect(call(client, 'odd__echo')).rejects.toThrow(/no tool/);
  });

  it('[GW-M32] questions and notifications of a server reach the client they are for, nobody else', async () => {
    const gateway = t.gatewayOf({
      default: 'allow',
      servers: [every],
      callers: [caller('ann', ['*']), caller('bob', ['*'])],
    });
    const url = await gateway.listen();
    const asked: string[] = [];
    const client = (name: string) =>
      t.httpClient(url, name, (c) => {
        c.setRequestHandler(CreateMessageRequestSchema, async () => {
          asked.push(name);
          return { model: 'm', role: 'assistant', content: { type: 'text', text: `sampled by ${name}` } };
        });
        c.setNotificationHandler(LoggingMessageNotificationSchema, () => void asked.push(`log ${name}`));
      });
    const { client: ann } = await client('ann');
    await client('bob');
    const sampler = (await ann.listTools()).tools.find((tool) => /sampling/i.test(tool.name))!.name;
    const answers = await Promise.all([1, 2, 3].map(() => call(ann, sampler, { prompt: 'x', maxTokens: 5 })));
    for (const answer of answers) expect(JSON.stringify(answer)).toContain('sampled by ann');
    expect(asked.filter((who) => who.includes('bob'))).toEqual([]);
  });
});

describe('TLS', () => {
  it('[GW-H2] other addresses need it; with it the same endpoint is served', async () => {
    expect(() =>
      t.gatewayOf({ servers: [oddServer()], listen: { host: '0.0.0.0' }, callers: [caller('ann', ['*'])] }),
    ).toThrow(/needs tls/);
    const { dir } = t.state;
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')];
    const kind = [
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    execFileSync('openssl', ['req', ...kind, ...subject, ...files], { stdio: 'ignore' });
    const gateway = t.gatewayOf({
      default: 'allow',
      servers: [oddServer()],
      callers: [caller('ann', ['*'])],
      listen: { tls: { cert: 'cert.pem', key: 'key.pem' } },
    });
    const url = await gateway.listen();
    expect(url).toMatch(/^https:/);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    });
    const said = await new Promise<string>((resolve, reject) => {
      const headers = {
        authorization: 'Bearer ann',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const ca = execFileSync('cat', [join(dir, 'cert.pem')]);
      const req = request(url, { method: 'POST', headers, ca }, (res) => {
        let text = '';
        res.on('data', (data) => {
          text += data;
        });
        res.on('end', () => resolve(text));
      });
      req.on('error', reject);
      req.end(body);
    });
    expect(said).toContain('serverInfo');
  });
});

describe('looking on', () => {
  it('[GW-H5] a span a request, in the trace of the caller, passed on to the server', async () => {
    const seen = await collector();
    t.later(seen.close);
    const client = await t.clientOf({
      servers: [{ name: 'rich', command: [NODE, rich], env: { RICH_LOG: join(t.state.dir, 'rich.log') } }],
      rules: [{ name: 'no', verdict: 'deny', names: ['tool-9'] }],
      telemetry: { otlp_endpoint: seen.endpoint },
    });
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await client.callTool({ name: 'tool-1', _meta: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
    await expect(call(client, 'tool-9', { password: 'hunter2-hunter2' })).rejects.toThrow();
    const span = await eventually(() => seen.spans.find((s) => s.traceId === trace));
    expect(span).toMatchObject({ name: 'tools/call tool-1', parentSpanId: 'b7ad6b7169203331' });
    expect(span.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'tool-1',
      'mcp.method.name': 'tools/call',
      'writ.outcome': 'done',
    });
    const denied = await eventually(() => seen.spans.find((s) => s.name === 'tools/call tool-9'));
    expect(denied.attributes).toMatchObject({ 'error.type': 'denied' });
    expect(JSON.stringify(seen.seen)).not.toContain('hunter2');
    const arrived = execFileSync('cat', [join(t.state.dir, 'rich.log')], { encoding: 'utf8' });
    expect(arrived).toContain(`00-${trace}-${span.spanId}`);
  });

  it('[GW-H4] a line a request and counters, without arguments or tokens', async () => {
    const gateway = t.gatewayOf({
      default: 'allow',
      servers: [oddServer()],
      callers: [caller('ann', ['*'])],
      rules: [{ name: 'no', verdict: 'deny', names: ['post'] }],
    });
    const url = await gateway.listen();
    const { client } = await t.httpClient(url, 'ann');
    expect(textOf(await call(client, 'echo', { secret: 'a-very-private-thing' }))).toContain('private');
    await expect(call(client, 'post')).rejects.toThrow();
    const lines = t.lines.filter((line) => line.event === 'mcp.request' && line.method === 'tools/call');
    expect(lines).toMatchObject([
      { caller: 'ann', name: 'echo', outcome: 'done', ms: expect.any(Number) },
      { caller: 'ann', name: 'post', outcome: 'denied', code: -32003 },
    ]);
    expect(JSON.stringify(t.lines)).not.toContain('private');
    const headers = { authorization: 'Bearer ann' };
    const metrics = await (await fetch(url.replace('/mcp', '/metrics'), { headers })).text();
    expect(metrics).toContain('writ_mcp_calls_total{server="odd",outcome="denied"} 1');
    expect(metrics).toContain('writ_mcp_sessions 1');
    expect(metrics).toMatch(/writ_mcp_request_seconds_count\{method="tools\/call",outcome="done"\} 1/);
  });
});
