import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDocument } from '../../src/core/document.ts';
import { sha256 } from '../../src/core/index.ts';
import { llmConfigSchema } from '../../src/gateways/llm/index.ts';
import { mcpConfigMistake, mcpConfigSchema } from '../../src/gateways/mcp/index.ts';
import { loopback } from './state.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const writ = join(root, 'bin/writ.js');
const filesystem = join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'writ-gateway-command-'));
  mkdirSync(join(dir, 'project'));
  writeFileSync(join(dir, 'project', 'hello.txt'), 'hello from the project');
  writeFileSync(join(dir, 'secret.txt'), 'outside');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const mcpConfig = () => {
  const file = join(dir, 'mcp.json');
  writeFileSync(
    file,
    JSON.stringify({
      servers: [{ name: 'files', command: [process.execPath, filesystem, join(dir, 'project')] }],
      default: 'deny',
      workspaces: [{ servers: ['files'], roots: [join(dir, 'project')], arguments: ['path'] }],
      rules: [{ name: 'reading', verdict: 'allow', names: ['read_*', 'list_*'] }],
    }),
  );
  return file;
};

describe('writ gateway', () => {
  it('[GW-M3] mcp --stdio in front of a real file server, as a host launches it; the journal verifies', async () => {
    const client = new Client({ name: 'host', version: '1' });
    const args = [writ, 'gateway', 'mcp', '--config', mcpConfig(), '--stdio'];
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: dir, stderr: 'pipe' }) as Transport,
    );
    const read = (path: string) => client.callTool({ name: 'read_text_file', arguments: { path } });
    expect(JSON.stringify(await read(join(dir, 'project/hello.txt')))).toContain('hello from the project');
    await expect(read(join(dir, 'secret.txt'))).rejects.toThrow(/workspace/);
    await expect(
      client.callTool({ name: 'write_file', arguments: { path: join(dir, 'project/x'), content: 'x' } }),
    ).rejects.toThrow(/denied/);
    await client.close();
    const ledger = join(dir, '.writ/ledger');
    const name = readdirSync(ledger).find((f) => f.startsWith('gateway_mcp') && f.endsWith('.jsonl'))!;
    expect(readFileSync(join(ledger, name), 'utf8')).toContain('"mcp.refused"');
    const { stdout } = await run(process.execPath, [writ, 'audit', 'verify', join(ledger, name), '--json'], {
      cwd: dir,
    });
    expect(JSON.parse(stdout).status).toBe('intact');
  });

  it('the inspector lists and calls through it', async () => {
    const inspector = join(root, 'node_modules/.bin/mcp-inspector');
    const sessions = join(dir, 'inspector.json');
    const args = [writ, 'gateway', 'mcp', '--config', mcpConfig(), '--stdio'];
    writeFileSync(
      sessions,
      JSON.stringify({ mcpServers: { writ: { type: 'stdio', command: process.execPath, args } } }),
    );
    const inspect = async (...what: string[]) =>
      (
        await run(inspector, ['--cli', '--config', sessions, '--server', 'writ', ...what], {
          cwd: dir,
          timeout: 25_000,
          env: { ...process.env, HOME: dir },
        })
      ).stdout;
    expect(await inspect('--method', 'tools/list')).toContain('read_text_file');
    const path = `path=${join(dir, 'project/hello.txt')}`;
    const called = await inspect(
      '--method',
      'tools/call',
      '--tool-name',
      'read_text_file',
      '--tool-arg',
      path,
    );
    expect(called).toContain('hello from the project');
  });

  it('llm listens where it says, with --json one document, and ends on SIGTERM', async () => {
    const upstream = await loopback((_, res) => {
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"}}]}');
    });
    const file = join(dir, 'llm.json');
    const callers = [{ name: 'me', token_sha256: sha256('t'), models: ['*'] }];
    const providers = [{ name: 'p', protocol: 'openai', base_url: upstream.url, key_env: 'TEST_LLM_KEY' }];
    writeFileSync(
      file,
      JSON.stringify({
        callers,
        providers,
        default: 'allow',
        routes: [{ models: ['*'], targets: [{ provider: 'p' }] }],
      }),
    );
    const missing = await run(process.execPath, [writ, 'gateway', 'llm', '--config', file], {
      cwd: dir,
    }).catch((e) => e);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('TEST_LLM_KEY') });
    const child = spawn(process.execPath, [writ, 'gateway', 'llm', '--config', file, '--json'], {
      cwd: dir,
      env: { ...process.env, TEST_LLM_KEY: 'k' },
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      const said = JSON.parse(
        await new Promise<string>((resolve) => child.stdout.once('data', (d) => resolve(String(d)))),
      );
      const openai = new OpenAI({ apiKey: 't', baseURL: `${said.listening}/v1`, maxRetries: 0 });
      const answer = await openai.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'x' }],
      });
      expect(answer.choices[0]!.message.content).toBe('hi');
      expect(upstream.seen[0]!.headers.authorization).toBe('Bearer k');
    } finally {
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      await upstream.close();
    }
  });

  it('mistakes in a configuration are told with their place', async () => {
    const file = join(dir, 'bad.yaml');
    writeFileSync(file, 'servers:\n  - name: x\n    comand: [a]\n');
    const failed = await run(process.execPath, [writ, 'gateway', 'mcp', '--config', 'bad.yaml'], {
      cwd: dir,
    }).catch((e) => e);
    expect(failed.code).toBe(2);
    expect(failed.stderr).toMatch(/bad\.yaml:3:5/);
  });

  it('the examples are valid', () => {
    const read = (name: string) => readFileSync(join(root, 'examples/gateways', name), 'utf8');
    expect(readDocument(read('llm.yaml'), llmConfigSchema, { file: 'llm.yaml' }).value.routes).toHaveLength(
      2,
    );
    for (const file of ['mcp.yaml', 'mcp-http.yaml']) {
      const { value } = readDocument(read(file), mcpConfigSchema, { file });
      expect(mcpConfigMistake(value)).toBeUndefined();
    }
    const page = readFileSync(join(root, 'docs/mcp-hosts.md'), 'utf8');
    const blocks = [...page.matchAll(/```(yaml|json)\n(.*?)```/gs)];
    const [servers, callers] = blocks.filter(([, kind]) => kind === 'yaml').map(([, , text]) => text!);
    const config = `${servers}${callers}`;
    expect(readDocument(config, mcpConfigSchema, { file: 'mcp-hosts.md' }).value.servers).toHaveLength(2);
    for (const [, kind, text] of blocks) if (kind === 'json') expect(text).toContain('"--stdio"');
    for (const [, kind, text] of blocks) if (kind === 'json') JSON.parse(text!);
  });
});
