import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ApprovalResponse, AuthorizeRequest } from '../../src/authority/index.ts';
import { actionDigest, type Digest, sha256, Writ } from '../../src/core/index.ts';
import { action, desk, request, says } from './desk.ts';

const open: ReturnType<typeof desk>[] = [];
function newDesk(...args: Parameters<typeof desk>) {
  const made = desk(...args);
  open.push(made);
  return made;
}
afterEach(async () => {
  for (const each of open.splice(0)) await each.remove();
});

const HOUR = 3_600_000;
const yes: ApprovalResponse = { approved: true, approver: 'al', role: 'lead' };

describe('a parked request', () => {
  it('[AUT-13] is on disk with everything it is bound to, and another process can read it', async () => {
    const d = newDesk();
    const id = await d.parked({
      requiredRole: 'lead',
      subject: {
        kind: 'flight',
        flightId: 'f1',
        workflowId: 'w1',
        stepId: 's1',
        planTokenHash: sha256('token'),
      },
    });
    const other = d.open();
    expect(other.get(id)).toEqual({
      approval_id: id,
      kind: 'flight',
      flight_id: 'f1',
      workflow_id: 'w1',
      step_id: 's1',
      reason: 'rule-require_approval: it is require_approval',
      reasoning: 'I need it',
      required_role: 'lead',
      plan_token_hash: sha256('token'),
      action_digest: actionDigest(action),
      policy_digest: sha256('policy'),
      requester: 'bob',
      created_at: '2026-01-15T14:30:00.000Z',
      expires_at: '2026-01-15T18:30:00.000Z',
      status: 'pending',
      approver: null,
      approver_role: null,
      asserted_by: null,
      response_reason: null,
      responded_at: null,
      action_json: '{"detail":{"n":1,"target":"prod"},"kind":"tool.call","subject":"deploy"}',
    });
    await other.close();
    expect(statSync(d.database).mode & 0o777).toBe(0o600);
  });

  it('[AUT-14] holds no secret of the action, the reasoning or the answer, anywhere on disk', async () => {
    const d = newDesk();
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    const id = await d.parked({
      action: {
        ...action,
        subject: `curl -H "Authorization: Bearer ${secret}"`,
        detail: { password: `${secret}x` },
      },
      reasoning: `use ${secret} please`,
    });
    await d.queue.respond(id, { ...yes, reason: `I looked at ${secret}` });
    for (const name of readdirSync(d.folder))
      expect(readFileSync(join(d.folder, name), 'latin1')).not.toContain(secret);
    expect(JSON.stringify(d.records)).not.toContain(secret);
    expect(d.queue.get(id)?.action_json).toContain('[REDACTED');
  });

  it('lists by status, oldest first', async () => {
    const d = newDesk();
    const ids = [await d.parked(), await d.parked(), await d.parked({ expiresInMs: 1000 })];
    await d.queue.respond(ids[0]!, yes);
    d.clock.advance(1000);
    expect(d.queue.list().map((a) => [a.approval_id, a.status])).toEqual([
      [ids[0], 'approved'],
      [ids[1], 'pending'],
      [ids[2], 'expired'],
    ]);
    expect(d.queue.list({ status: 'pending' }).map((a) => a.approval_id)).toEqual([ids[1]]);
  });

  it('one that cannot be recorded, or is too large to be shown, is not made', async () => {
    const d = newDesk({ record: { append: async () => Promise.reject(new Error('disk full')) } });
    expect(await d.authority.authorize(request())).toMatchObject({ outcome: 'denied', by: 'nobody' });
    const big = newDesk();
    const huge = { ...action, detail: { text: 'word '.repeat(300_000) } };
    expect(await big.authority.authorize(request({ action: huge }))).toMatchObject({
      outcome: 'denied',
      reason: expect.stringContaining('too large'),
    });
    expect([...d.queue.list(), ...big.queue.list()]).toEqual([]);
  });

  it('a life that is no number is no life', async () => {
    const d = newDesk();
    for (const expiresInMs of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      const id = await d.parked({ expiresInMs });
      expect(d.queue.get(id)?.status).toBe('expired');
    }
  });
});

describe('an answer', () => {
  it('[AUT-15] is stored with who gave it, in which role, and who vouches for the name', async () => {
    const d = newDesk();
    const id = await d.parked({ requiredRole: 'lead' });
    const result = await d.queue.respond(id, { ...yes, reason: 'change 4711', assertedBy: 'osuser' });
    expect(result).toMatchObject({
      ok: true,
      approval: {
        status: 'approved',
        approver: 'al',
        approver_role: 'lead',
        asserted_by: 'osuser',
        response_reason: 'change 4711',
        responded_at: '2026-01-15T14:30:00.000Z',
      },
    });
  });

  const refusals: readonly (readonly [string, string, Partial<AuthorizeRequest>, ApprovalResponse])[] = [
    ['self', 'from who asked', {}, { approved: true, approver: 'bob' }],
    ['self', 'from who asked, spelled otherwise', {}, { approved: true, approver: 'BOB' }],
    ['self', 'from who asked, in full-width letters', {}, { approved: true, approver: 'ｂｏｂ' }],
    ['role', 'without the role', { requiredRole: 'lead' }, { approved: true, approver: 'al' }],
    ['role', 'in another role', { requiredRole: 'lead' }, { approved: true, approver: 'al', role: 'peon' }],
    [
      'role',
      'that rejects in another role',
      { requiredRole: 'lead' },
      { approved: false, approver: 'al', role: 'peon' },
    ],
    [
      'token',
      'for another plan token',
      { subject: { kind: 'flight', planTokenHash: sha256('t') } },
      { approved: true, approver: 'al', planTokenHash: sha256('u') },
    ],
    [
      'token',
      'with a token for a request without one',
      {},
      { approved: true, approver: 'al', planTokenHash: sha256('u') },
    ],
    ['malformed', 'without a name', {}, { approved: true, approver: '' }],
    ['malformed', 'with an invisible name', {}, { approved: true, approver: 'al\u200b' }],
    ['malformed', 'with a name of two lines', {}, { approved: true, approver: 'al\nroot' }],
    ['malformed', 'with an endless name', {}, { approved: true, approver: 'a'.repeat(201) }],
    ['malformed', 'with a padded role', {}, { approved: true, approver: 'al', role: ' lead' }],
    [
      'malformed',
      'that is neither yes nor no',
      {},
      { approved: 'yes' as unknown as boolean, approver: 'al' },
    ],
    ['malformed', 'with an endless reason', {}, { approved: true, approver: 'al', reason: 'x'.repeat(4001) }],
    ['malformed', 'that is not there', {}, null as unknown as ApprovalResponse],
  ];
  it.each(refusals)('[AUT-16] refused (%s): %s', async (check, _, change, response) => {
    const d = newDesk();
    const id = await d.parked(change);
    expect(await d.queue.respond(id, response)).toMatchObject({ ok: false, check });
    expect(d.queue.get(id)?.status).toBe('pending');
    expect(d.records.at(-1)).toMatchObject({ type: 'approval.refused', approval_id: id, check });
  });

  it('[AUT-16] refused: unknown, malformed id, expired, answered, used', async () => {
    const d = newDesk();
    const check = async (id: string) => {
      const result = await d.queue.respond(id, yes);
      return result.ok ? 'ok' : result.check;
    };
    expect(await check('appr_9999')).toBe('unknown');
    expect(await check("x' OR 1=1 --")).toBe('malformed');
    expect(await check('a'.repeat(5000))).toBe('malformed');
    expect(await check('\ud800')).toBe('malformed');
    const answered = await d.parked();
    expect([await check(answered), await check(answered)]).toEqual(['ok', 'answered']);
    await d.authority.redeem(answered, request());
    expect(await check(answered)).toBe('used');
    const rejected = await d.parked();
    await d.queue.respond(rejected, { ...yes, approved: false });
    expect(await check(rejected)).toBe('answered');
    const late = await d.parked({ expiresInMs: HOUR });
    d.clock.advance(HOUR);
    expect(await check(late)).toBe('expired');
    expect(d.records.filter((r) => r.type === 'approval.refused').map((r) => r.check)).toEqual([
      'unknown',
      'malformed',
      'malformed',
      'malformed',
      'answered',
      'used',
      'answered',
      'expired',
    ]);
  });

  it('[AUT-17] with configured users, name and role are checked against them', async () => {
    const d = newDesk({ users: { al: ['lead', 'dev'], eve: ['dev'] } });
    const id = await d.parked({ requiredRole: 'lead' });
    const as = async (approver: string, role?: string) => {
      const result = await d.queue.respond(id, { approved: true, approver, ...(role ? { role } : {}) });
      return result.ok ? 'ok' : result.check;
    };
    for (const stranger of ['mallory', 'constructor', '__proto__', 'toString', 'Al'])
      expect(await as(stranger, 'lead')).toBe('role');
    expect(await as('eve', 'lead')).toBe('role');
    expect(await as('eve', 'dev')).toBe('role');
    expect(await as('al', 'dev')).toBe('role');
    expect(await as('al', 'lead')).toBe('ok');
    const open2 = await d.parked();
    expect(await d.queue.respond(open2, { approved: true, approver: 'eve', role: 'lead' })).toMatchObject({
      check: 'role',
    });
    expect(await d.queue.respond(open2, { approved: true, approver: 'eve' })).toMatchObject({ ok: true });
  });

  it('self-approval only where it is allowed; withdrawing one’s own request always', async () => {
    const strict = newDesk();
    expect(
      await strict.queue.respond(await strict.parked(), { approved: false, approver: 'bob' }),
    ).toMatchObject({ ok: true });
    const lax = newDesk({ allowSelfApproval: true });
    const id = await lax.parked();
    expect(await lax.queue.respond(id, { approved: true, approver: 'bob' })).toMatchObject({ ok: true });
    expect((await lax.authority.redeem(id, request())).outcome).toBe('granted');
  });

  it('[AUT-08] is recorded before it takes effect: no record, no effect', async () => {
    const d = newDesk();
    const id = await d.parked();
    const deaf = d.open({ record: { append: async () => Promise.reject(new Error('disk full')) } });
    await expect(deaf.respond(id, yes)).rejects.toThrow('disk full');
    await deaf.close();
    expect(d.queue.get(id)?.status).toBe('pending');
  });
});

describe('using an approval', () => {
  async function approved(d: ReturnType<typeof desk>, change: Partial<AuthorizeRequest> = {}) {
    const id = await d.parked(change);
    const result = await d.queue.respond(id, yes);
    if (!result.ok) throw new Error(result.message);
    return id;
  }

  it('[AUT-18] waits, then grants once, then never again', async () => {
    const d = newDesk();
    const id = await d.parked();
    expect(await d.authority.redeem(id, request())).toMatchObject({ outcome: 'waiting', approvalId: id });
    await d.queue.respond(id, { ...yes, reason: 'fine' });
    const answer = await d.authority.redeem(id, request());
    expect(answer).toMatchObject({
      outcome: 'granted',
      approval: { approvalId: id, approver: 'al', role: 'lead', reason: 'fine' },
    });
    if (answer.outcome === 'granted') {
      expect(Writ.is(answer.writ)).toBe(true);
      expect(answer.writ.use(action)).toMatchObject({ decision: 'approved', approvalId: id, approver: 'al' });
    }
    expect(d.queue.get(id)?.status).toBe('used');
    expect(await d.authority.redeem(id, request())).toMatchObject({
      outcome: 'denied',
      by: 'refused',
      reason: expect.stringMatching(/^used/),
    });
  });

  it('a rejection denies with the person’s reason', async () => {
    const d = newDesk();
    const id = await d.parked();
    await d.queue.respond(id, { approved: false, approver: 'al', reason: 'not tonight' });
    expect(await d.authority.redeem(id, request())).toMatchObject({
      outcome: 'denied',
      by: 'person',
      reason: 'not tonight',
    });
  });

  const token = (text: string): Partial<AuthorizeRequest> => ({
    subject: { kind: 'flight', planTokenHash: sha256(text) },
  });
  const altered: readonly (readonly [string, string, Partial<AuthorizeRequest>])[] = [
    ['action', 'another subject', { action: { ...action, subject: 'deploy!' } }],
    ['action', 'another detail', { action: { ...action, detail: { target: 'prod', n: 2 } } }],
    ['action', 'another kind', { action: { ...action, kind: 'mcp.call' } }],
    ['policy', 'another policy', { policyDigest: sha256('policy 2') }],
    ['token', 'another plan token', token('b')],
    ['token', 'no plan token', { subject: { kind: 'flight' } }],
    ['requester', 'another requester', { requester: 'mallory' }],
    ['role', 'another required role', { requiredRole: 'security' }],
  ];
  it.each(altered)('[AUT-19] refused (%s): %s, before and after the answer', async (check, _, change) => {
    const d = newDesk();
    const id = await d.parked(token('a'));
    const changed = request({ ...token('a'), ...change });
    const refused = { outcome: 'denied', by: 'refused', reason: expect.stringMatching(`^${check}`) };
    expect(await d.authority.redeem(id, changed)).toMatchObject(refused);
    await d.queue.respond(id, yes);
    expect(await d.authority.redeem(id, changed)).toMatchObject(refused);
    expect(d.records.at(-1)).toMatchObject({ type: 'approval.refused', check });
    expect((await d.authority.redeem(id, request(token('a')))).outcome).toBe('granted');
  });

  it('[AUT-19] is judged again: what policy denies today no approval of yesterday allows', async () => {
    const d = newDesk();
    const id = await approved(d);
    expect(await d.authority.redeem(id, request({ evaluators: [says('deny')] }))).toMatchObject({
      outcome: 'denied',
      by: 'policy',
    });
    expect(await d.authority.redeem(id, request({ evaluators: [] }))).toMatchObject({
      outcome: 'denied',
      by: 'policy',
    });
    expect(d.queue.get(id)?.status).toBe('approved');
  });

  it('[AUT-20] must be unexpired when used, and the writ ends with the approval', async () => {
    const d = newDesk();
    const id = await approved(d, { expiresInMs: HOUR });
    d.clock.advance(HOUR - 1000);
    const answer = await d.authority.redeem(id, request());
    if (answer.outcome !== 'granted') throw new Error('denied');
    d.clock.advance(1001);
    expect(() => answer.writ.use(action)).toThrow(/expired/);
    const late = await approved(d, { expiresInMs: HOUR });
    d.clock.advance(HOUR);
    expect(await d.authority.redeem(late, request())).toMatchObject({
      outcome: 'denied',
      by: 'refused',
      reason: expect.stringMatching(/^expired/),
    });
  });

  it('[AUT-17] who has lost the role since has not approved', async () => {
    const users: Record<string, string[]> = { al: ['lead'] };
    const d = newDesk({ users });
    const id = await approved(d, { requiredRole: 'lead' });
    users.al = ['dev'];
    expect(await d.authority.redeem(id, request({ requiredRole: 'lead' }))).toMatchObject({
      outcome: 'denied',
      by: 'refused',
      reason: expect.stringMatching(/^role/),
    });
    delete users.al;
    expect(await d.authority.redeem(id, request({ requiredRole: 'lead' }))).toMatchObject({ by: 'refused' });
    users.al = ['lead'];
    expect((await d.authority.redeem(id, request({ requiredRole: 'lead' }))).outcome).toBe('granted');
  });

  it('unknown ids, and a store that is gone, deny', async () => {
    const d = newDesk();
    expect(await d.authority.redeem('appr_9999', request())).toMatchObject({
      outcome: 'denied',
      by: 'refused',
    });
    const dead = desk();
    await dead.queue.close();
    expect(await dead.authority.redeem('appr_0001', request())).toMatchObject({
      outcome: 'denied',
      by: 'refused',
    });
    expect(await dead.authority.authorize(request())).toMatchObject({ outcome: 'denied', by: 'nobody' });
    rmSync(dead.folder, { recursive: true });
  });

  it('a row edited behind our back to another action does not pass', async () => {
    const d = newDesk();
    const id = await approved(d);
    const { DatabaseSync } = await import('node:sqlite');
    const raw = new DatabaseSync(d.database);
    raw
      .prepare('UPDATE approvals SET action_digest = ? WHERE approval_id = ?')
      .run(sha256('other') as Digest, id);
    raw.close();
    expect(await d.authority.redeem(id, request())).toMatchObject({
      by: 'refused',
      reason: expect.stringMatching(/^action/),
    });
  });
});
