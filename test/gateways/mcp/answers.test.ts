import { describe, expect, it } from 'vitest';
import { eventually } from '../state.ts';
import { call, gateways, oddServer, textOf } from './help.ts';

const t = gateways();
const respond = (id: string, approved: boolean) =>
  t.state.queue.respond(id, { approved, approver: 'lena', ...(approved ? {} : { reason: 'not this' }) });
const idOf = (held: { _meta?: Record<string, unknown> | undefined }) =>
  String(held._meta?.['writ/approval_id']);

describe('rules on answers', () => {
  const rules = [
    { name: 'no-keys', on: 'response' as const, verdict: 'deny' as const, contains: ['BEGIN PRIVATE KEY'] },
    { name: 'big', on: 'response' as const, verdict: 'warn' as const, larger_than_bytes: 200 },
    { name: 'look', on: 'response' as const, verdict: 'require_approval' as const, names: ['read'] },
  ];
  const config = { servers: [oddServer()], rules, limits: { approval_wait_seconds: 0 } };

  it('[GW-M18] deny, and are on record', async () => {
    const client = await t.clientOf(config);
    await expect(call(client, 'echo', { text: '-----begin private key-----' })).rejects.toMatchObject({
      code: -32003,
      message: expect.stringContaining('no-keys'),
    });
    await call(client, 'huge', { bytes: 500 });
    const verdicts = await eventually(() => {
      const found = t.state
        .records()
        .filter((r) => r.type === 'mcp.response')
        .map((r) => r.verdict);
      return found.includes('deny') && found.includes('warn') ? found : undefined;
    });
    expect(verdicts).toContain('deny');
  });

  it('[GW-M27] an answer that waits is kept over a restart, handed out once, and the call is not made again', async () => {
    const first = await t.clientOf(config);
    const held = await call(first, 'read', { n: 1 });
    expect(held.isError).toBe(true);
    expect(textOf(held)).toContain('Its answer waits');
    // Another gateway on the same state, as after a restart; the counter is the new server's own.
    const client = await t.clientOf(config);
    expect((await call(client, 'read', { n: 1 })).isError).toBe(true);
    expect(textOf(await call(client, 'count'))).toBe('1');
    expect((await respond(idOf(held), true)).ok).toBe(true);
    expect(textOf(await call(client, 'read', { n: 1 }))).toBe('{"n":1}');
    expect(textOf(await call(client, 'count'))).toBe('2');
    // Used up: the same call is a new call, with an answer that waits anew.
    const again = await call(client, 'read', { n: 1 });
    expect(again.isError).toBe(true);
    expect(idOf(again)).not.toBe(idOf(held));
    expect(textOf(await call(client, 'count'))).toBe('4');
    const given = t.state.records().find((r) => r.type === 'mcp.answer' && r.approver === 'lena');
    expect(given).toMatchObject({ caller: 'local', server: 'odd', name: 'read', approval_id: idOf(held) });
  });

  it('one that is refused is gone; the very call goes on when it is approved in time', async () => {
    const client = await t.clientOf(config);
    const held = await call(client, 'read', { n: 2 });
    await respond(idOf(held), false);
    await expect(call(client, 'read', { n: 2 })).rejects.toThrow(/not this/);
    const patient = await t.clientOf({ ...config, limits: { approval_wait_seconds: 20 } });
    const pending = call(patient, 'read', { n: 3 });
    const request = await eventually(() => t.state.queue.list({ status: 'pending' })[0]);
    await respond(request.approval_id, true);
    expect(textOf(await pending)).toBe('{"n":3}');
  });
});
