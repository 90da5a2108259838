import { execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it } from 'vitest';
import { eventually } from '../state.ts';
import { call, gateways, NODE, odd, oddServer, textOf } from './help.ts';

const run = promisify(execFile);
const writ = fileURLToPath(new URL('../../../bin/writ.js', import.meta.url));
const t = gateways();
const rules = [{ name: 'ask', verdict: 'require_approval' as const, names: ['post'] }];

describe('a parked call', () => {
  it('[GW-M26] is approved from another process and goes on; killed meanwhile, nothing goes out by itself', async () => {
    const dir = t.state.dir;
    const config = join(dir, 'gateway.json');
    writeFileSync(
      config,
      JSON.stringify({ default: 'allow', servers: [{ name: 'odd', command: [NODE, odd] }], rules }),
    );
    const launch = async () => {
      const client = new Client({ name: 'host', version: '1' });
      const args = [writ, 'gateway', 'mcp', '--config', config, '--stdio'];
      const transport = new StdioClientTransport({ command: NODE, args, cwd: dir, stderr: 'ignore' });
      await client.connect(transport as Transport);
      return { client, pid: transport.pid! };
    };
    const approvals = async () => {
      const { stdout } = await run(NODE, [writ, 'approvals', 'list', '--json'], { cwd: dir });
      return (JSON.parse(stdout) as { approvals: { approval_id: string; status: string }[] }).approvals;
    };
    const first = await launch();
    const lost = call(first.client, 'post', { n: 1 }).catch((error: unknown) => String(error));
    let id = '';
    for (let i = 0; i < 100 && id === ''; i++) id = (await approvals())[0]?.approval_id ?? '';
    process.kill(first.pid, 'SIGKILL');
    await lost;
    const second = await launch();
    expect(textOf(await call(second.client, 'count'))).toBe('1');
    const pending = call(second.client, 'post', { n: 1 });
    await run(NODE, [writ, 'approvals', 'approve', id, '--as', 'lena'], { cwd: dir });
    expect(textOf(await pending)).toBe('{"n":1}');
    expect(await approvals()).toHaveLength(1);
    expect(textOf(await call(second.client, 'count'))).toBe('3');
    await second.client.close();
  }, 60_000);

  it('whose client hangs up stays parked: the yes is not used up, the call again goes through once', async () => {
    const gateway = t.gatewayOf({ default: 'allow', anonymous: 'me', servers: [oddServer()], rules });
    const url = await gateway.listen();
    const { client, transport } = await t.httpClient(url);
    const stop = new AbortController();
    const body = {
      jsonrpc: '2.0',
      id: 'x',
      method: 'tools/call',
      params: { name: 'post', arguments: { n: 1 } },
    };
    const left = fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: stop.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': transport.sessionId!,
      },
    }).catch(() => 'gone');
    const request = await eventually(() => t.state.queue.list({ status: 'pending' })[0]);
    stop.abort();
    expect(await left).toBe('gone');
    await eventually(() => t.state.records().find((r) => r.waiting_for === request.approval_id));
    await t.state.queue.respond(request.approval_id, { approved: true, approver: 'lena' });
    expect(textOf(await call(client, 'count'))).toBe('1');
    expect(textOf(await call(client, 'post', { n: 1 }))).toBe('{"n":1}');
    expect(t.state.queue.get(request.approval_id)?.status).toBe('used');
  });

  it('expires: a yes too late is none', async () => {
    const limits = { approval_wait_seconds: 0, approval_life_seconds: 0.3 };
    const client = await t.clientOf({ servers: [oddServer()], rules, limits });
    const held = await call(client, 'post', { n: 1 });
    const id = String(held._meta?.['writ/approval_id']);
    await eventually(() => (t.state.queue.get(id)?.status === 'expired' ? true : undefined));
    expect((await t.state.queue.respond(id, { approved: true, approver: 'lena' })).ok).toBe(false);
    expect((await call(client, 'post', { n: 1 })).isError).toBe(true);
    expect(textOf(await call(client, 'count'))).toBe('1');
  });
});

describe('[GW-M27] a gateway killed in the middle', () => {
  it('leaves every call either recorded before it went out or not sent', async () => {
    const dir = t.state.dir;
    const config = join(dir, 'gateway.json');
    const heard = join(dir, 'heard.log');
    const server = join(dir, 'noting.mjs');
    writeFileSync(server, NOTING(heard));
    writeFileSync(
      config,
      JSON.stringify({ default: 'allow', servers: [{ name: 'n', command: [NODE, server], pinning: false }] }),
    );
    const child = spawn(NODE, [writ, 'gateway', 'mcp', '--config', config, '--stdio'], {
      cwd: dir,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    child.stdin.on('error', () => undefined);
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
    });
    say({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} },
    });
    await eventually(() => (said.includes('"id":0') ? true : undefined), 20_000);
    for (let id = 1; id <= 90; id++)
      say({ id, method: 'tools/call', params: { name: 't', arguments: { mark: `m${id}` } } });
    await eventually(() => (said.includes('"id":1,') || said.includes('"id":1}') ? true : undefined), 20_000);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    const ledger = (await run('ls', [join(dir, '.writ/ledger')])).stdout.split('\n');
    const name = ledger.find((file) => file.startsWith('gateway_mcp') && file.endsWith('.jsonl'))!;
    const recorded = readFileSync(join(dir, '.writ/ledger', name), 'utf8');
    const reached = readFileSync(heard, 'utf8').match(/"m\d+"/g) ?? [];
    expect(reached.length).toBeGreaterThan(0);
    for (const mark of reached) expect(recorded).toContain(mark);
  }, 60_000);
});

/** A server that notes what reaches it before it answers. */
const NOTING = (file: string) => `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(${JSON.stringify(file)}, line + '\\n');
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === 'initialize'
    ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } }
    : { content: [] };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`;
