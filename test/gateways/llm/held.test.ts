import { describe, expect, it } from 'vitest';
import { eventually } from '../state.ts';
import { bothProtocols, chunk, completion, gatewayTests, json, sse } from './help.ts';

const { start, state } = gatewayTests();

const rules = [
  {
    name: 'ask-about-invoices',
    on: 'response' as const,
    verdict: 'require_approval' as const,
    contains: ['the invoice'],
    role: 'lead',
  },
];
const pending = () => state().queue.list({ status: 'pending' })[0];
const answer = (id: string, approved: boolean, more: object = {}) =>
  state().queue.respond(id, { approved, approver: 'lena', role: 'lead', ...more });

describe('answers that wait for a person', () => {
  it('[GW-L5] [GW-L11] a whole answer waits, is shown to the person, and goes on or not as they say', async () => {
    const { chat, upstream } = await start((_, res) => json(res, completion('here is the invoice')), {
      rules,
    });
    const yes = chat('x');
    const asked = await eventually(pending);
    expect(asked.action_json).toContain('here is the invoice');
    await answer(asked.approval_id, true);
    expect((await yes).choices[0]!.message.content).toBe('here is the invoice');
    expect(state().records().at(-1)).toMatchObject({
      type: 'llm.response',
      outcome: 'done',
      response_verdict: 'require_approval',
      response_approval_id: asked.approval_id,
      response_approver: 'lena',
    });
    const no = chat('x');
    await answer((await eventually(pending)).approval_id, false, { reason: 'not this one' });
    await expect(no).rejects.toMatchObject({ status: 403, code: 'response_denied' });
    expect(upstream.seen).toHaveLength(2);
  });

  it('[GW-L18] [GW-L19] who cannot wait comes back for it: the same answer, once, without asking the model again', async () => {
    const { chat, upstream, clients } = await start(
      (_, res) => json(res, completion('the invoice, password=Tr0ub4dor&3xyz')),
      { rules, limits: { approval_wait_seconds: 0 } },
    );
    await expect(chat('x')).rejects.toMatchObject({ status: 403, code: 'approval_required' });
    const asked = pending()!;
    expect(asked.action_json).not.toContain('Tr0ub4dor');
    await expect(chat('x')).rejects.toMatchObject({ code: 'approval_required' });
    expect(upstream.seen).toHaveLength(1);
    await answer(asked.approval_id, true);
    // Another caller with the same words gets nothing of it.
    await expect(clients('token-of-bob').chat('x')).rejects.toMatchObject({ code: 'approval_required' });
    expect(upstream.seen).toHaveLength(2);
    expect((await chat('x')).choices[0]!.message.content).toMatch(/^the invoice, password=\[REDACTED/);
    expect(upstream.seen).toHaveLength(2);
    expect(
      state()
        .records()
        .some((r) => r.type === 'llm.released'),
    ).toBe(true);
    await expect(chat('x')).rejects.toMatchObject({ code: 'approval_required' });
    expect(upstream.seen).toHaveLength(3);
  });

  it('[GW-L22] [GW-L18] a restart loses nothing that waits and sends nothing by itself', async () => {
    const upstreamAnswer = (_: unknown, res: Parameters<typeof json>[0]) =>
      json(res, completion('the invoice'));
    const config = { rules, limits: { approval_wait_seconds: 0 } };
    const first = await start(upstreamAnswer, config);
    await expect(first.chat('x')).rejects.toMatchObject({ code: 'approval_required' });
    await first.gateway.close();
    await answer(pending()!.approval_id, true);
    const second = await start(upstreamAnswer, config);
    expect((await second.chat('x')).choices[0]!.message.content).toBe('the invoice');
    expect(second.upstream.seen).toHaveLength(0);
  });

  it('[GW-L25] a stream stops at the piece in question, keeps its line open, and goes on after the yes', async () => {
    const words = ['Here ', 'comes the inv', 'oice: ', '42'];
    const { streamed, post } = await start(
      (_, res) => sse(res, [...words.map((content) => chunk({ content })), 'data: [DONE]\n\n'], 5),
      { rules },
    );
    const seen: string[] = [];
    const text = streamed('x', seen);
    const asked = await eventually(pending);
    expect(seen.join('')).toBe('Here comes the inv');
    await answer(asked.approval_id, true);
    expect(await text).toBe(words.join(''));
    const raw = post(
      '/v1/chat/completions',
      JSON.stringify({ model: 'm-1', stream: true, messages: [{ role: 'user', content: 'y' }] }),
    ).then((r) => r.text());
    await answer((await eventually(pending)).approval_id, false);
    expect(await raw).toMatch(/^: waiting for approval$/m);
    expect(await raw).toMatch(/"code":"response_denied"/);
    expect(await raw).not.toContain('42');
  });

  it('[GW-L19] a stream whose caller could not wait is played again once it is approved', async () => {
    const { streamed, upstream } = await start(
      (_, res) =>
        sse(res, [
          chunk({ content: 'the inv' }),
          chunk({ content: 'oice' }),
          chunk({}, { finish_reason: 'stop' }),
          'data: [DONE]\n\n',
        ]),
      { rules, limits: { approval_wait_seconds: 0 } },
    );
    await expect(streamed('x')).rejects.toThrow(/waits for a person/);
    await answer(pending()!.approval_id, true);
    expect(await streamed('x')).toBe('the invoice');
    expect(upstream.seen).toHaveLength(1);
  });

  it('[GW-L9] a request that nobody answers in time expires, and its approval is of no use', async () => {
    const { chat, upstream } = await start(bothProtocols, {
      rules: [{ name: 'ask', verdict: 'require_approval', contains: ['deploy'] }],
      limits: { approval_wait_seconds: 0, approval_life_seconds: 0.2 },
    });
    await expect(chat('deploy')).rejects.toMatchObject({ code: 'approval_required' });
    const { approval_id } = pending()!;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await answer(approval_id, true)).ok).toBe(false);
    await expect(chat('deploy')).rejects.toMatchObject({ code: 'approval_required' });
    expect(upstream.seen).toHaveLength(0);
  });
});

describe('redact_responses', () => {
  it('[GW-L13] streams are redacted as they pass, for both SDKs, wherever the secret is cut', async () => {
    const words = ['the key is AKIAIOSF', 'ODNN7EXA', 'MPLE, keep it'];
    const { streamed, google } = await start(
      ({ path }, res) =>
        path.includes('stream')
          ? sse(
              res,
              words.map((text, i) => {
                const end = i === words.length - 1 ? { finishReason: 'STOP' } : {};
                return `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text }] }, ...end }] })}\r\n\r\n`;
              }),
            )
          : sse(res, [
              ...words.map((content) => chunk({ content })),
              chunk({}, { finish_reason: 'stop' }),
              'data: [DONE]\n\n',
            ]),
      { redact_responses: true },
    );
    expect(await streamed('x')).toBe('the key is [REDACTED:aws_key], keep it');
    let text = '';
    for await (const piece of await google.models.generateContentStream({ model: 'm-2', contents: 'x' }))
      text += piece.text ?? '';
    expect(text).toBe('the key is [REDACTED:aws_key], keep it');
    expect(
      state()
        .records()
        .filter((r) => r.response_redacted === true),
    ).toHaveLength(2);
  });
});
