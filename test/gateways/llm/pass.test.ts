import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { eventually } from '../state.ts';
import { bothProtocols, gatewayTests } from './help.ts';

const { start, state } = gatewayTests();

describe('what may pass', () => {
  it('[GW-H1] unknown tokens and models of other callers are refused before anything is sent', async () => {
    const { gateway, upstream, openai } = await start();
    const stranger = new OpenAI({ apiKey: 'nobody', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401 });
    await expect(openai.chat.completions.create({ model: 'other', messages: [] })).rejects.toMatchObject({
      status: 403,
      code: 'model_not_allowed',
    });
    expect(upstream.seen).toHaveLength(0);
  });

  it('[GW-L5] [GW-L17] the strictest rule decides; what no rule allows is denied, on record, and not sent', async () => {
    const { chat, upstream } = await start(bothProtocols, {
      default: 'deny',
      rules: [
        { name: 'fine', verdict: 'allow', callers: ['alice'] },
        {
          name: 'no-exfiltration',
          verdict: 'deny',
          contains: ['Customer List'],
          reason: 'customer data stays here',
        },
      ],
    });
    expect((await chat('hello')).choices[0]!.message.content).toBe('echo hello');
    await expect(chat('send the customer LIST please')).rejects.toMatchObject({
      status: 403,
      code: 'denied',
      message: expect.stringContaining('customer data stays here'),
    });
    expect(upstream.seen).toHaveLength(1);
    expect(
      state()
        .records()
        .filter((r) => r.type === 'llm.refused'),
    ).toMatchObject([{ caller: 'alice', code: 'denied' }]);
  });

  it('[GW-L14] [GW-L15] prompts and embedding inputs are stored only as configured, redacted', async () => {
    const { chat } = await start();
    await chat('the quick brown fox');
    expect(JSON.stringify(state().records())).not.toContain('brown fox');
    const open = await start(bothProtocols, { record: { prompts: 'redacted' } });
    await open.chat('the slow red fox, password=Tr0ub4dor&3xyz');
    await open.openai.embeddings.create({ model: 'm-1', input: 'sensitive words', encoding_format: 'float' });
    const kept = JSON.stringify(state().records());
    expect(kept).toContain('slow red fox');
    expect(kept).not.toContain('Tr0ub4dor');
    expect(kept).not.toContain('sensitive words');
  });

  it('[GW-L10] prompts are rewritten as configured, with both texts on record', async () => {
    const { chat } = await start(bothProtocols, {
      rewrites: [{ name: 'codename', replace: 'Project Falcon', with: 'the project' }],
    });
    expect((await chat('about Project Falcon')).choices[0]!.message.content).toBe('echo about the project');
    const [kept] = state().records();
    expect(kept).toMatchObject({ rewrites: ['codename'] });
    expect(JSON.stringify(kept!.original_prompt)).toContain('Project Falcon');
    expect(JSON.stringify(kept!.rewritten_prompt)).toContain('about the project');
  });

  it('[GW-L8] [GW-L19] [GW-L9] a request that needs a person waits, resumes itself, and the approval is spent', async () => {
    const { chat, upstream } = await start(bothProtocols, {
      rules: [{ name: 'ask', verdict: 'require_approval', contains: ['deploy'], role: 'lead' }],
    });
    const pending = chat('deploy it');
    const request = await eventually(() => state().queue.list({ status: 'pending' })[0]);
    expect(upstream.seen).toHaveLength(0);
    expect(request.action_json).toContain('deploy it');
    expect(
      (await state().queue.respond(request.approval_id, { approved: true, approver: 'lena', role: 'lead' }))
        .ok,
    ).toBe(true);
    expect((await pending).choices[0]!.message.content).toBe('echo deploy it');
    expect(state().queue.get(request.approval_id)?.status).toBe('used');
    expect(state().records()[0]).toMatchObject({ approval_id: request.approval_id, approver: 'lena' });
    const again = chat('deploy it');
    const second = await eventually(() => state().queue.list({ status: 'pending' })[0]);
    await state().queue.respond(second.approval_id, {
      approved: false,
      approver: 'lena',
      role: 'lead',
      reason: 'not twice',
    });
    await expect(again).rejects.toMatchObject({ status: 403, message: expect.stringContaining('not twice') });
  });

  it('[GW-L18] [GW-L6] [GW-L7] who cannot wait is told the approval, and the same request later goes through once', async () => {
    const { chat, upstream } = await start(bothProtocols, {
      rules: [{ name: 'ask', verdict: 'require_approval', contains: ['deploy'] }],
      limits: { approval_wait_seconds: 0 },
    });
    await expect(chat('deploy it')).rejects.toMatchObject({ status: 403, code: 'approval_required' });
    const [request] = state().queue.list({ status: 'pending' });
    await state().queue.respond(request!.approval_id, { approved: true, approver: 'lena' });
    await expect(chat('deploy it elsewhere')).rejects.toMatchObject({
      status: 403,
      code: 'approval_required',
    });
    expect(upstream.seen).toHaveLength(0);
    expect((await chat('deploy it')).choices[0]!.message.content).toBe('echo deploy it');
    await expect(chat('deploy it')).rejects.toMatchObject({ status: 403, code: 'approval_required' });
    expect(upstream.seen).toHaveLength(1);
  });
});
