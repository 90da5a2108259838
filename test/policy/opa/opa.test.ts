import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/core/index.ts';
import { opaServer, opaWasmPolicy } from '../../../src/policy/index.ts';

const policies = fileURLToPath(new URL('../../../policies/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'writ-opa-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const opa = '/usr/local/bin/opa';
const hasOpa = existsSync(opa);

function input(text: string) {
  return {
    workflow_id: 'w',
    step_id: 's',
    mode: 'flight-plan',
    engine_output: { artifacts: [{ name: 'a' }] },
    context: { artifacts: [{ name: 'a', text }] },
  };
}

describe('OPA as WebAssembly', () => {
  const policy = opaWasmPolicy(join(policies, 'network.wasm'));

  it('[FLT-P5] allows, asks for a role, denies', async () => {
    expect(await policy.evaluate(input('echo hello'))).toMatchObject({ decision: 'allow' });
    expect(await policy.evaluate(input('az network route-table route update'))).toMatchObject({
      decision: 'require_approval',
      requires: { role: 'network-lead' },
    });
    const open = await policy.evaluate(input('az network nsg rule create --source-address-prefixes *'));
    expect(open.decision).toBe('deny');
    expect(open.violations).toHaveLength(1);
  });

  it('[FLT-P12] a missing file, garbage, and a wrong entrypoint deny', async () => {
    expect((await opaWasmPolicy(join(folder, 'none.wasm')).evaluate({})).decision).toBe('deny');
    writeFileSync(join(folder, 'bad.wasm'), 'not wasm');
    expect((await opaWasmPolicy(join(folder, 'bad.wasm')).evaluate({})).decision).toBe('deny');
    const other = opaWasmPolicy(join(policies, 'network.wasm'), { entrypoint: 'other/rule' });
    expect(await other.evaluate(input('x'))).toMatchObject({ decision: 'deny' });
  });

  it('the committed module belongs to its source', () => {
    const note = JSON.parse(readFileSync(join(policies, 'network.wasm.json'), 'utf8'));
    expect(sha256(readFileSync(join(policies, 'network.rego')))).toBe(note.source_sha256);
    expect(sha256(readFileSync(join(policies, 'network.wasm')))).toBe(note.wasm_sha256);
  });

  it.skipIf(!hasOpa)('rebuilding the source gives the committed module', () => {
    const out = join(folder, 'b.tar.gz');
    execFileSync(opa, ['build', '-t', 'wasm', '-e', 'writ/preflight', 'network.rego', '-o', out], {
      cwd: policies,
    });
    execFileSync('tar', ['xzf', out, '-C', folder, '/policy.wasm']);
    const note = JSON.parse(readFileSync(join(policies, 'network.wasm.json'), 'utf8'));
    expect(sha256(readFileSync(join(folder, 'policy.wasm')))).toBe(note.wasm_sha256);
  });
});

describe('OPA as a server', () => {
  it.skipIf(!hasOpa)(
    '[FLT-P5] a running server decides; changing its modules changes the fingerprint',
    async () => {
      const port = await freePort();
      const server = spawn(
        opa,
        ['run', '--server', '--addr', `127.0.0.1:${port}`, join(policies, 'network.rego')],
        {
          stdio: 'ignore',
        },
      );
      try {
        const url = `http://127.0.0.1:${port}/v1/data/writ/preflight`;
        await up(`http://127.0.0.1:${port}/health`);
        const judge = opaServer(url);
        expect(await judge.evaluate(input('echo hello'))).toMatchObject({ decision: 'allow' });
        expect(await judge.evaluate(input('route'))).toMatchObject({ requires: { role: 'network-lead' } });
        const undefinedOne = opaServer(`http://127.0.0.1:${port}/v1/data/nothing/here`);
        expect((await undefinedOne.evaluate({})).decision).toBe('deny');
        const before = await judge.fingerprint();
        await fetch(`http://127.0.0.1:${port}/v1/policies/more`, {
          method: 'PUT',
          body: 'package more\nx := 1',
        });
        expect(await judge.fingerprint()).not.toBe(before);
      } finally {
        server.kill('SIGKILL');
      }
    },
  );

  it('[FLT-P12] no server, errors, redirects, junk and slowness deny', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/500') response.writeHead(500).end('{"result":{"decision":"allow"}}');
      else if (request.url === '/junk') response.end('allow');
      else if (request.url === '/type') response.end('{"result":{"decision":"yes"}}');
      else if (request.url === '/move') response.writeHead(307, { location: '/ok' }).end();
      else if (request.url === '/ok') response.end('{"result":{"decision":"allow"}}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const say = async (path: string) =>
      (await opaServer(`${base}${path}`, { timeoutMs: 200 }).evaluate({})).decision;
    expect(await say('/ok')).toBe('allow');
    for (const path of ['/500', '/junk', '/type', '/move', '/silent']) expect(await say(path)).toBe('deny');
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    expect(await say('/ok')).toBe('deny');
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}

async function up(url: string): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const ok = await fetch(url).then(
      (r) => r.ok,
      () => false,
    );
    if (ok) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${url} did not come up`);
}
