import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type AuthorizeRequest, createAuthority } from '../../src/authority/index.ts';
import { sha256 } from '../../src/core/index.ts';
import {
  approve,
  eventsOf,
  fly,
  inProcess,
  later,
  NOTE_ENGINE,
  resume,
  tempFolders,
  workflow,
} from './kit.ts';

/** Between a person's yes and the take-off everything is derived and asked again. */
const place = tempFolders();
const HOUR = 3_600_000;
const one = '  - id: one\n    engine: ./engine.sh\n';

let server: Server | undefined;
afterEach(() => server?.close());

/** A policy server whose answer can change while its modules stay the same: its data does. */
async function policyServer(first: object) {
  let answer = first;
  let asked = 0;
  server = createServer((request, response) => {
    request.resume();
    if (request.method === 'POST') asked++;
    const modules = [{ id: 'p', raw: 'package writ' }];
    response.end(JSON.stringify({ result: request.method === 'GET' ? modules : answer }));
  });
  const listening = server;
  await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done));
  const { port } = listening.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/v1/data/writ/preflight`,
    asked: () => asked,
    says: (next: object) => {
      answer = next;
    },
  };
}

const ASKS = { decision: 'require_approval', requires: { role: 'lead', reason: 'production' } };

async function parked(url: string) {
  const dir = place({
    'workflow.yaml': workflow(`${one}    policies: [{ opa: "${url}" }]\n`),
    'engine.sh': NOTE_ENGINE,
  });
  const { code, json } = await fly(dir);
  expect(code).toBe(4);
  return { dir, json, id: json.flight_id, took: () => existsSync(join(dir, 'note.txt')) };
}

describe('at take-off', () => {
  it('[FLT-A3][FLT-A8][FLT-P14] everyone is asked again, and the same answer lets it go', async () => {
    const policy = await policyServer(ASKS);
    const { dir, json, id, took } = await parked(policy.url);
    await approve(dir, json);
    expect(policy.asked()).toBe(1);
    expect((await resume(dir, id)).code).toBe(0);
    expect(policy.asked()).toBe(2);
    expect(took()).toBe(true);
    const again = eventsOf(dir, id).find((e) => e.event_type === 'policy_reevaluated');
    expect(again).toMatchObject({ policy: { decision: 'require_approval' } });
  });

  it.each([
    [
      'deny',
      { decision: 'deny', violations: ['freeze'] },
      /say deny where they said require_approval: freeze/,
    ],
    ['allow', { decision: 'allow' }, /say allow where they said require_approval/],
    [
      'another role',
      { decision: 'require_approval', requires: { role: 'owner' } },
      /another role is required/,
    ],
    ['nonsense', { decision: 'maybe' }, /say deny/],
  ] as const)(
    '[FLT-P14][FLT-A17][FLT-O56] an approval does not outlive an answer that is now %s: exit 3',
    async (_, now, said) => {
      const policy = await policyServer(ASKS);
      const { dir, json, id, took } = await parked(policy.url);
      await approve(dir, json);
      policy.says(now);
      const answer = await resume(dir, id);
      expect({ code: answer.code, error: answer.error }).toEqual({
        code: 3,
        error: expect.stringMatching(said),
      });
      expect(took()).toBe(false);
      expect(eventsOf(dir, id).at(-1)).toMatchObject({ workflow_state: 'FAILED', severity: 'error' });
    },
  );

  it('[FLT-A17] a policy server that is gone denies', async () => {
    const policy = await policyServer(ASKS);
    const { dir, json, id, took } = await parked(policy.url);
    await approve(dir, json);
    await new Promise((done) => server?.close(done));
    expect([3, 5]).toContain((await resume(dir, id)).code);
    expect(took()).toBe(false);
  });
});

describe('an approval', () => {
  const waiting = async () => {
    const dir = place({
      'workflow.yaml': workflow(`${one}    approval: { role: lead, expires: 4h }\n`),
      'engine.sh': NOTE_ENGINE,
    });
    const { json } = await fly(dir);
    return { dir, json, id: json.flight_id, approval: json.pending_approvals[0] ?? '' };
  };

  it('[FLT-A12][FLT-A11] is good hours later, from another process, while it lasts', async () => {
    const { dir, json, id } = await waiting();
    await approve(dir, json);
    expect((await later(dir, id, 3 * HOUR)).code).toBe(0);
  });

  it('[FLT-T13][FLT-A11][FLT-A17] given in time and used too late is expired: exit 3', async () => {
    const { dir, json, id } = await waiting();
    await approve(dir, json);
    const answer = await later(dir, id, 5 * HOUR);
    expect(answer).toMatchObject({ code: 3, error: expect.stringContaining('expired') });
    expect(existsSync(join(dir, 'note.txt'))).toBe(false);
    expect(eventsOf(dir, id).map((e) => e.event_type)).toContain('approval_refused');
  });

  it('[FLT-A4][FLT-P8][FLT-A15][FLT-U3] carries who, what, why and for which plan, and both sides are on record', async () => {
    const { dir, json, id, approval } = await waiting();
    const stored = await inProcess(dir, async ({ queue }) => queue.get(approval));
    expect(stored).toMatchObject({
      approval_id: approval,
      workflow_id: 'test-flow',
      step_id: 'one',
      flight_id: id,
      plan_token_hash: json.steps[0]?.plan_token,
      required_role: 'lead',
      requester: 'tester',
      reason: expect.stringContaining('approved by a lead'),
    });
    expect(JSON.stringify(stored)).toContain('note');
    await approve(dir, json);
    await resume(dir, id);
    const events = eventsOf(dir, id);
    const asked = events.find((e) => e.event_type === 'approval_requested');
    const given = events.find((e) => e.event_type === 'approval_received');
    expect(asked).toMatchObject({
      approval: { approval_id: approval, approved: false, required_role: 'lead' },
    });
    expect(given).toMatchObject({
      approval: {
        approval_id: approval,
        approved: true,
        approver: 'ada',
        plan_token_hash: json.steps[0]?.plan_token,
      },
    });
  });

  it.each([
    ['of an unknown id', 'unknown', { approved: true, approver: 'ada', role: 'lead' }, 'appr_nobody'],
    [
      'for another plan',
      'token',
      { approved: true, approver: 'ada', role: 'lead', planTokenHash: 'f'.repeat(64) },
      null,
    ],
    ['in the wrong role', 'role', { approved: true, approver: 'ada', role: 'guest' }, null],
    ['by who asked', 'self', { approved: true, approver: 'Tester', role: 'lead' }, null],
    ['without a name', 'malformed', { approved: true, approver: '', role: 'lead' }, null],
  ] as const)(
    '[FLT-A6][FLT-A7][FLT-A8][FLT-A17][FLT-A18] an answer %s is refused, on record, and the flight still waits',
    async (_, check, response, other) => {
      const { dir, id, approval } = await waiting();
      const said = await inProcess(dir, ({ queue }) => queue.respond(other ?? approval, response));
      expect(said).toMatchObject({ ok: false, check });
      expect(readFileSync(join(dir, '.writ/ledger/approvals.jsonl'), 'utf8')).toContain('approval.refused');
      expect((await resume(dir, id)).code).toBe(4);
    },
  );

  it('[FLT-A10][FLT-A18] of one flight is of no use to another, and of none a second time', async () => {
    const { dir, json, id, approval } = await waiting();
    const second = await fly(dir);
    await approve(dir, json);
    expect((await resume(dir, id)).code).toBe(0);
    // The second flight's workspace has changed under it, and its own request is unanswered.
    expect((await resume(dir, second.json.flight_id)).code).toBe(4);
    const again = await inProcess(dir, ({ queue }) =>
      queue.respond(approval, { approved: true, approver: 'ada', role: 'lead' }),
    );
    expect(again).toMatchObject({ ok: false, check: 'used' });
  });

  it('[FLT-A13][FLT-A14] that a gateway asks for waits in the same queue, under the same checks, on the same record', async () => {
    const { dir } = await waiting();
    await inProcess(dir, async ({ queue, clock, ids }) => {
      const authority = createAuthority({ queue, clock, ids });
      const request: AuthorizeRequest = {
        action: { kind: 'mcp.call', subject: 'files/delete', detail: { path: 'x' } },
        evaluators: [
          {
            name: 'gateway',
            evaluate: () => ({
              evaluator: 'mcp_gateway',
              verdict: 'require_approval',
              rule: 'r',
              reason: 'deletes',
              requiredRole: 'lead',
            }),
          },
        ],
        reasoning: 'asked by a client',
        requester: 'client',
        policyDigest: sha256('policy'),
        whenApprovalNeeded: 'park',
        subject: { kind: 'mcp' },
      };
      const parked = await authority.authorize(request);
      const id = parked.outcome === 'waiting' ? parked.approvalId : '';
      expect(
        queue
          .list({ status: 'pending' })
          .map((a) => a.kind)
          .sort(),
      ).toEqual(['flight', 'mcp']);
      const wrong = await queue.respond(id, { approved: true, approver: 'ada', role: 'guest' });
      expect(wrong).toMatchObject({ ok: false, check: 'role' });
      await queue.respond(id, { approved: true, approver: 'ada', role: 'lead' });
      expect((await authority.redeem(id, request)).outcome).toBe('granted');
      expect((await authority.redeem(id, request)).outcome).toBe('denied');
    });
    const record = readFileSync(join(dir, '.writ/ledger/approvals.jsonl'), 'utf8');
    for (const said of ['requested', 'refused', 'given', 'used'])
      expect(record).toContain(`approval.${said}`);
  });

  it('[FLT-T1][FLT-T10] whose queue is gone is no approval', async () => {
    const { dir, json, id } = await waiting();
    await approve(dir, json);
    for (const name of ['writ.db', 'writ.db-wal', 'writ.db-shm'])
      rmSync(join(dir, '.writ', name), { force: true });
    const answer = await resume(dir, id);
    expect(answer).toMatchObject({ code: 3, error: expect.stringContaining('unknown') });
    expect(existsSync(join(dir, 'note.txt'))).toBe(false);
  });
});

describe('the gateways', () => {
  it('[FLT-T4] know nothing of flights, and so of no token', () => {
    const folder = new URL('../../src/gateways/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) expect(readFileSync(new URL(file, folder), 'utf8')).not.toMatch(/\/flight\//);
  });
});
