import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isJsonObject, type Json } from '../../src/core/index.ts';
import { startLlmGateway } from '../../src/gateways/llm/index.ts';
import { createMcpGateway } from '../../src/gateways/mcp/index.ts';
import { gatewayState, loopback } from './state.ts';

const odd = fileURLToPath(new URL('./mcp/odd-server.ts', import.meta.url));
let state: Awaited<ReturnType<typeof gatewayState>>;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  state = await gatewayState();
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await state.close();
});

/** Speaks the decision API: denies whatever mentions the forbidden word, breaks when told to. */
async function decisionServer() {
  const judge = await loopback(({ body }, res) => {
    const { input } = JSON.parse(body) as { input: Json };
    const text = JSON.stringify(input);
    if (text.includes('break-the-policy')) {
      res.writeHead(500).end('oops');
      return;
    }
    const denied = text.includes('forbidden-word');
    const result = denied ? { decision: 'deny', violations: ['it says the word'] } : { decision: 'allow' };
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ result }));
  });
  ends.push(judge.close);
  return judge;
}

describe('policies outside the configuration', () => {
  it('[GW-M5] every MCP request is put to OPA with its action; a denial or a failure of it denies', async () => {
    const judge = await decisionServer();
    const gateway = createMcpGateway(
      {
        default: 'allow',
        servers: [{ name: 'odd', command: [process.execPath, odd] }],
        policies: [{ opa_url: `${judge.url}/v1/data/writ/mcp` }],
      },
      { ...state.deps, database: state.database, env: process.env, baseDir: state.dir },
    );
    ends.push(gateway.close);
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    await gateway.attach(theirs as Transport);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(mine as Transport);
    const call = (said: string) => client.callTool({ name: 'echo', arguments: { said } });
    expect(JSON.stringify(await call('hello'))).toContain('hello');
    await expect(call('forbidden-word')).rejects.toThrow(/it says the word/);
    await expect(call('break-the-policy')).rejects.toThrow(/denied/);
    const inputs = judge.seen.map((s) => (JSON.parse(s.body) as { input: Json }).input);
    expect(
      inputs.every(
        (input) => isJsonObject(input) && isJsonObject(input.action) && input.action.kind === 'mcp.call',
      ),
    ).toBe(true);
    expect(inputs.length).toBeGreaterThanOrEqual(4);
    await client.close();
  });

  it('OPA judges prompts and answers of models', async () => {
    const judge = await decisionServer();
    const upstream = await loopback(({ body }, res) => {
      const content = body.includes('tempt') ? 'a forbidden-word slips out' : 'fine';
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] }));
    });
    ends.push(upstream.close);
    const policy = [{ opa_url: `${judge.url}/v1/data/writ/llm` }];
    const gateway = await startLlmGateway(
      {
        default: 'allow',
        providers: [{ name: 'p', protocol: 'openai', base_url: upstream.url }],
        routes: [{ models: ['*'], targets: [{ provider: 'p' }] }],
        policies: policy,
        response_policies: policy,
      },
      { ...state.deps, keys: new Map() },
    );
    ends.push(gateway.close);
    const { baseUrl, token } = gateway.endpoint({ name: 'me', models: ['*'] });
    const ask = async (content: string) => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
      const answer = await fetch(`${baseUrl}/v1/chat/completions`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${token}` },
      });
      return { status: answer.status, text: await answer.text() };
    };
    expect((await ask('hello')).status).toBe(200);
    expect(await ask('the forbidden-word')).toMatchObject({
      status: 403,
      text: expect.stringContaining('it says the word'),
    });
    expect(await ask('break-the-policy')).toMatchObject({ status: 403 });
    expect(upstream.seen).toHaveLength(1);
    const tempted = await ask('tempt it');
    expect(tempted.status).toBe(403);
    expect(tempted.text).not.toContain('slips out');
  });
});
