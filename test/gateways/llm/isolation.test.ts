import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/core/index.ts';
import { eventually, loopback } from '../state.ts';
import { bothProtocols, chunk, gatewayTests, json, sse, TOKEN } from './help.ts';

const { start, ends, state } = gatewayTests();
const writ = fileURLToPath(new URL('../../../bin/writ.js', import.meta.url));

describe('callers apart', () => {
  it('[GW-L16] streams of many callers at once: each gets its own and nothing else', async () => {
    const { clients } = await start(async ({ body }, res) => {
      const { content } = JSON.parse(body).messages[0];
      await sse(res, [...Array.from({ length: 10 }, () => chunk({ content })), 'data: [DONE]\n\n'], 2);
    });
    const both = [clients(TOKEN), clients('token-of-bob')];
    const texts = await Promise.all(Array.from({ length: 40 }, (_, i) => both[i % 2]!.streamed(`<${i}>`)));
    expect(texts).toEqual(texts.map((_, i) => `<${i}>`.repeat(10)));
  });

  it('[GW-L16] what a provider keeps for one caller is not continued by another', async () => {
    let n = 0;
    const response = { object: 'response', status: 'completed', output: [] };
    const { clients, upstream } = await start(({ body }, res) =>
      JSON.parse(body).stream
        ? sse(res, [
            `event: response.created\ndata: ${JSON.stringify({ type: 'response.created', response: { ...response, id: 'resp_s' } })}\n\n`,
          ])
        : json(res, { ...response, id: `resp_${++n}` }),
    );
    const [alice, bob] = [clients(TOKEN).openai, clients('token-of-bob').openai];
    const first = await alice.responses.create({ model: 'm-1', input: 'x' });
    for await (const _ of await alice.responses.create({ model: 'm-1', input: 'x', stream: true }));
    for (const id of [first.id, 'resp_s', 'resp_guessed'])
      await expect(
        bob.responses.create({ model: 'm-1', input: 'and?', previous_response_id: id }),
      ).rejects.toMatchObject({ status: 404, code: 'previous_response_not_found' });
    await expect(
      bob.responses.create({ model: 'm-1', input: 'and?', conversation: 'conv_1' }),
    ).rejects.toMatchObject({ status: 404 });
    expect(upstream.seen).toHaveLength(2);
    for (const id of [first.id, 'resp_s'])
      await alice.responses.create({ model: 'm-1', input: 'and?', previous_response_id: id });
    expect(upstream.seen).toHaveLength(4);
  });
});

describe('again', () => {
  it('[GW-L21] the same request is judged the same, also after a restart', async () => {
    const config = {
      rules: [
        { name: 'note', verdict: 'warn' as const, contains: ['fox'] },
        { name: 'no', verdict: 'deny' as const, contains: ['wolf'] },
      ],
    };
    for (let run = 0; run < 2; run++) {
      const { chat, gateway } = await start(bothProtocols, config);
      await chat('a fox');
      await chat('a fox');
      await expect(chat('a wolf')).rejects.toMatchObject({ code: 'denied' });
      await gateway.close();
    }
    const judged = state()
      .records()
      .filter((r) => r.type === 'llm.request' || r.type === 'llm.refused')
      .map(({ action_digest, policy_digest, verdict, evaluations }) =>
        JSON.stringify({ action_digest, policy_digest, verdict, evaluations }),
      );
    expect(judged).toHaveLength(6);
    expect(new Set(judged).size).toBe(2);
  });

  it('[GW-L22] [GW-L26] killed in the middle of a call: nothing goes out again, and what was reserved stays spent', async () => {
    const upstream = await loopback(() => undefined);
    ends.push(upstream.close);
    const { dir } = state();
    const config = join(dir, 'llm.json');
    writeFileSync(
      config,
      JSON.stringify({
        default: 'allow',
        callers: [{ name: 'a', token_sha256: sha256(TOKEN), models: ['*'], budget: { requests: 1 } }],
        providers: [{ name: 'p', protocol: 'openai', base_url: upstream.url }],
        routes: [{ models: ['*'], targets: [{ provider: 'p' }] }],
      }),
    );
    const begin = async () => {
      const args = [writ, 'gateway', 'llm', '--config', config, '--state-dir', join(dir, 'own'), '--json'];
      const child: ChildProcess = spawn(process.execPath, args, {
        cwd: dir,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      ends.push(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      });
      let text = '';
      for await (const part of child.stdout!) {
        text += part;
        if (text.trimEnd().endsWith('}')) break;
      }
      const { listening } = JSON.parse(text) as { listening: string };
      const openai = new OpenAI({ apiKey: TOKEN, baseURL: `${listening}/v1`, maxRetries: 0 });
      return { child, ask: () => openai.chat.completions.create({ model: 'm', messages: [] }) };
    };
    const first = await begin();
    const asked = first.ask().catch((error) => error);
    await eventually(() => upstream.seen[0]);
    first.child.kill('SIGKILL');
    expect(await asked).toBeInstanceOf(OpenAI.APIConnectionError);
    const second = await begin();
    await expect(second.ask()).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
    expect(upstream.seen).toHaveLength(1);
  });
});
