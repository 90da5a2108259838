import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { eventually } from '../state.ts';
import { chunk, gatewayTests, json, sse } from './help.ts';

const { start, state } = gatewayTests();

describe('answers', () => {
  const rules = [
    { name: 'no-bomb', on: 'response' as const, verdict: 'deny' as const, contains: ['how to build a bomb'] },
  ];

  it('[GW-L25] [GW-L11] a stream is judged across its pieces and cut with an error the SDK throws', async () => {
    const words = ['Sure: how to ', 'bui', 'ld a b', 'omb: take', ' the rest'];
    const { openai, google } = await start(
      async ({ path }, res) =>
        path.includes('stream')
          ? sse(
              res,
              words.map(
                (text) => `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] })}\n\n`,
              ),
              10,
            )
          : sse(
              res,
              words.map((content) => chunk({ content })),
              10,
            ),
      { rules },
    );
    let text = '';
    const read = async () => {
      for await (const piece of await openai.chat.completions.create({
        model: 'm-1',
        stream: true,
        messages: [{ role: 'user', content: 'x' }],
      }))
        text += piece.choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toThrow(/the answer was cut/);
    expect(text).toBe('Sure: how to build a b');
    const readGemini = async () => {
      for await (const piece of await google.models.generateContentStream({ model: 'm-1', contents: 'x' }))
        text = piece.text ?? '';
    };
    await expect(readGemini()).rejects.toThrow(/the answer was cut/);
    expect(
      state()
        .records()
        .filter((r) => r.type === 'llm.response'),
    ).toMatchObject([
      { outcome: 'failed', code: 'response_denied', response_verdict: 'deny' },
      { outcome: 'failed', code: 'response_denied', response_verdict: 'deny' },
    ]);
  });

  it('whole answers are held back the same way, tool calls included', async () => {
    const call = { id: 'x', type: 'function', function: { name: 'delete_all', arguments: '{}' } };
    const { chat } = await start(
      (_, res) =>
        json(res, {
          choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] } }],
        }),
      {
        rules: [{ name: 'no-delete', on: 'response', verdict: 'deny', tools: ['delete_*'] }],
      },
    );
    await expect(chat('x')).rejects.toMatchObject({ status: 403, code: 'response_denied' });
  });

  it.each([
    [
      'breaks off',
      (res: ServerResponse) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(chunk({ content: 'a' }));
        setTimeout(() => res.destroy(), 20);
      },
    ],
    ['sends no JSON', (res: ServerResponse) => void sse(res, [chunk({ content: 'a' }), 'data: {{{\n\n'])],
  ])('a stream that %s ends as an error, never as a natural end', async (_name, answer) => {
    const { openai } = await start((_, res) => answer(res));
    const read = async () => {
      for await (const _ of await openai.chat.completions.create({
        model: 'm-1',
        stream: true,
        messages: [{ role: 'user', content: 'x' }],
      }));
    };
    await expect(read()).rejects.toThrow();
    expect(state().records().at(-1)).toMatchObject({ outcome: 'failed' });
  });

  it.each([400, 401, 403, 404, 408, 409, 418, 429, 500, 502, 503, 529])(
    'an upstream %i is told as such',
    async (status) => {
      const { chat } = await start((_, res) => json(res, { error: { message: 'upstream words' } }, status));
      await expect(chat('x')).rejects.toMatchObject({
        status,
        message: expect.stringContaining('upstream words'),
      });
    },
  );

  it('a caller that leaves ends the upstream call, and it is on record', async () => {
    let gone = false;
    const { openai } = await start((_, res) => {
      res.on('close', () => {
        gone = true;
      });
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(chunk({ content: 'a' }));
    });
    const stream = await openai.chat.completions.create({
      model: 'm-1',
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    });
    for await (const _ of stream) break;
    await eventually(() => gone || undefined);
    await eventually(() =>
      state()
        .records()
        .find((r) => r.outcome === 'failed'),
    );
  });
});
