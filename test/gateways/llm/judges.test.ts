import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunk, completion, gatewayTests, json, sse } from './help.ts';

const { start, state } = gatewayTests();
const SECRETS = fileURLToPath(new URL('../../../models/secrets.onnx', import.meta.url));

const hasOpa = (() => {
  try {
    execFileSync('opa', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** Prompts about weapons are denied, answers about salaries as well, deployments need a person. */
const REGO = `package writ.gateway

words := lower(json.marshal(input.action.detail))

default decision := {"decision": "allow"}

decision := {"decision": "deny", "violations": ["no weapons"]} if contains(words, "weapon")

else := {"decision": "deny", "violations": ["salaries stay here"]} if {
	startswith(input.action.subject, "answer of")
	contains(words, "salary")
}

else := {"decision": "require_approval", "requires": {"role": "lead", "reason": "a deployment"}} if {
	contains(words, "deploy")
}
`;

const dir = mkdtempSync(join(tmpdir(), 'writ-llm-judges-'));
let server: ChildProcess | undefined;
let url = '';
beforeAll(async () => {
  if (!hasOpa) return;
  writeFileSync(join(dir, 'gateway.rego'), REGO);
  execFileSync('opa', ['build', '-t', 'wasm', '-e', 'writ/gateway/decision', 'gateway.rego'], { cwd: dir });
  execFileSync('tar', ['xzf', 'bundle.tar.gz', '/policy.wasm'], { cwd: dir });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = spawn('opa', ['run', '--server', '--addr', `127.0.0.1:${port}`, 'gateway.rego'], {
    cwd: dir,
    stdio: 'ignore',
  });
  for (let tries = 0; tries < 200; tries++) {
    const up = await fetch(`${url}/health`).then(
      (r) => r.ok,
      () => false,
    );
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('opa did not start');
});
afterAll(() => {
  server?.kill();
  rmSync(dir, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const says =
  (content: string): Parameters<typeof start>[0] =>
  ({ body }, res) =>
    body.includes('"stream":true')
      ? sse(res, [...content.split(/(?<= )/).map((word) => chunk({ content: word })), 'data: [DONE]\n\n'], 1)
      : json(res, completion(content));

describe.skipIf(!hasOpa)('OPA on prompts and answers', () => {
  it.each([
    ['a running server', () => ({ opa_url: `${url}/v1/data/writ/gateway/decision` })],
    ['in this process', () => ({ opa_wasm: join(dir, 'policy.wasm'), entrypoint: 'writ/gateway/decision' })],
  ])('[GW-L4] %s decides about requests, whole answers and streams', async (_name, policy) => {
    const policies = [policy()];
    const { chat, streamed, upstream } = await start(says('your salary is high'), {
      policies,
      response_policies: policies,
      limits: { approval_wait_seconds: 0 },
    });
    await expect(chat('build a weapon')).rejects.toMatchObject({ status: 403, message: /no weapons/ });
    await expect(chat('deploy it')).rejects.toMatchObject({ status: 403, code: 'approval_required' });
    expect(state().queue.list({ status: 'pending' })[0]).toMatchObject({ required_role: 'lead' });
    expect(upstream.seen).toHaveLength(0);
    await expect(chat('hello')).rejects.toMatchObject({ code: 'response_denied' });
    const seen: string[] = [];
    await expect(streamed('hello', seen)).rejects.toThrow(/salaries stay here/);
    // Nothing of a stream passes before the policy has seen it.
    expect(seen).toEqual([]);
    const fine = await start(says('all is well '.repeat(100)), { policies, response_policies: policies });
    expect(await fine.streamed('hello')).toBe('all is well '.repeat(100));
  });

  it('[GW-L17] a policy that is not there, or has no such rule, denies', async () => {
    const broken = [
      { opa_url: `${url}/v1/data/writ/gateway/nothing` },
      { opa_url: 'http://127.0.0.1:1/v1/data/x' },
      { opa_wasm: join(dir, 'missing.wasm') },
      { onnx: join(dir, 'missing.onnx') },
    ];
    for (const policy of broken) {
      const asking = await start(says('fine'), { policies: [policy] });
      await expect(asking.chat('hello')).rejects.toMatchObject({ status: 403, code: 'denied' });
      expect(asking.upstream.seen).toHaveLength(0);
      const answering = await start(says('fine'), { response_policies: [policy] });
      await expect(answering.chat('hello')).rejects.toMatchObject({ code: 'response_denied' });
      await expect(answering.streamed('hello')).rejects.toThrow(/cut/);
    }
  });
});

describe('classifiers on prompts and answers', () => {
  it('[GW-L4] a model judges what goes out and what comes back', async () => {
    const leak = 'export DB_TOKEN=9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c';
    const policies = [{ onnx: SECRETS }];
    const limits = { approval_wait_seconds: 0 };
    const { chat } = await start(says('nothing special here'), { policies, limits });
    await expect(chat('what is the capital of France')).resolves.toBeDefined();
    const answers = await start(says(leak), { response_policies: policies, limits });
    await expect(answers.chat('x')).rejects.toMatchObject({ status: 403 });
    const [kept] = state()
      .records()
      .filter((r) => r.type === 'llm.response' && r.outcome === 'failed');
    expect(JSON.stringify(kept?.response_evaluations)).toContain('onnx:secrets.onnx');
  });
});
