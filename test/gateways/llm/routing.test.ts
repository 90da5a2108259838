import { describe, expect, it } from 'vitest';
import { loopback } from '../state.ts';
import { bothProtocols, completion, gatewayTests, json } from './help.ts';

const { start, ends, state } = gatewayTests();

describe('routing', () => {
  const targets = (a: string, b: string) => ({
    providers: [
      { name: 'a', protocol: 'openai' as const, base_url: a },
      { name: 'b', protocol: 'openai' as const, base_url: b },
    ],
  });

  it('[GW-L27] [GW-L20] [GW-L3] falls back before the first byte as configured, rests what fails, and records it', async () => {
    const bad = await loopback((_, res) => json(res, { error: { message: 'down' } }, 503));
    const good = await loopback((_, res) => json(res, completion('from b')));
    ends.push(bad.close, good.close);
    const { chat } = await start(bothProtocols, {
      ...targets(bad.url, good.url),
      routes: [
        { models: ['m-1'], retries: 1, targets: [{ provider: 'a' }, { provider: 'b', model: 'm-b' }] },
      ],
    });
    for (let i = 0; i < 6; i++) expect((await chat(`x${i}`)).choices[0]!.message.content).toBe('from b');
    expect(bad.seen).toHaveLength(3);
    expect(JSON.parse(good.seen[0]!.body).model).toBe('m-b');
    const outcomes = state()
      .records()
      .filter((r) => r.phase === 'outcome');
    expect(outcomes[0]).toMatchObject({ target: 'b/m-b', attempts: 2, strategy: 'fallback' });
    expect(outcomes[5]).toMatchObject({ attempts: 1 });
    const single = await start((_, res) => json(res, {}, 500));
    await expect(single.chat('x')).rejects.toMatchObject({ status: 500 });
    expect(single.upstream.seen).toHaveLength(1);
  });

  it.each(['round_robin', 'weighted', 'cost', 'safety_tier'] as const)(
    '[GW-L23] %s is the same sequence again',
    async (strategy) => {
      const sequences: string[] = [];
      for (let run = 0; run < 2; run++) {
        const a = await loopback((_, res) => json(res, completion('a')));
        const b = await loopback((_, res) => json(res, completion('b')));
        ends.push(a.close, b.close);
        const { chat } = await start(bothProtocols, {
          ...targets(a.url, b.url),
          seed: 7,
          routes: [
            {
              models: ['m-1'],
              strategy,
              targets: [
                { provider: 'a', weight: 1, tier: 0, usd_per_million: { input: 2, output: 2 } },
                { provider: 'b', weight: 3, tier: 1, usd_per_million: { input: 1, output: 1 } },
              ],
            },
          ],
        });
        let sequence = '';
        for (let i = 0; i < 12; i++) sequence += (await chat('x')).choices[0]!.message.content;
        sequences.push(sequence);
      }
      expect(sequences[0]).toBe(sequences[1]);
      const only = {
        round_robin: 'abababababab',
        weighted: undefined,
        cost: 'b'.repeat(12),
        safety_tier: 'b'.repeat(12),
      }[strategy];
      if (only) expect(sequences[0]).toBe(only);
      else expect(sequences[0]).toMatch(/^(?=.*a)(?=.*b)/);
    },
  );

  it('[GW-L29] a route may be for some callers, tools, words or sizes only; the first that fits serves', async () => {
    const general = await loopback((_, res) => json(res, completion('general')));
    const local = await loopback((_, res) => json(res, completion('local')));
    ends.push(general.close, local.close);
    const { chat } = await start(bothProtocols, {
      ...targets(general.url, local.url),
      routes: [
        { models: ['m-1'], contains: ['Payroll'], targets: [{ provider: 'b' }] },
        { models: ['m-1'], larger_than_chars: 50, targets: [{ provider: 'b' }] },
        { models: ['m-1'], callers: ['nobody-*'], targets: [{ provider: 'b' }] },
        { models: ['m-1'], operations: ['chat.*'], targets: [{ provider: 'a' }] },
      ],
    });
    const served = async (text: string) => (await chat(text)).choices[0]!.message.content;
    expect(await served('hello')).toBe('general');
    expect(await served('sum up the PAYROLL file')).toBe('local');
    expect(await served('long '.repeat(20))).toBe('local');
  });
});
