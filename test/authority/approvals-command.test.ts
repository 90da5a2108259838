import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, openStateApprovals } from '../../src/authority/index.ts';
import { osUser } from '../../src/cli/os-user.ts';
import { systemClock as clock, systemIds as ids, sha256 } from '../../src/core/index.ts';
import { request } from './desk.ts';

const bin = new URL('../../bin/writ.js', import.meta.url).pathname;
const project = mkdtempSync(join(tmpdir(), 'writ-approvals-'));
const stateDir = join(project, '.writ');
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** As a person would: the command, in a folder. */
function writ(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [bin, ...args],
      { cwd: project, env: { ...process.env, NO_COLOR: '1' } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

async function park(change: Parameters<typeof request>[0] = {}): Promise<string> {
  const queue = openStateApprovals({ stateDir, clock, ids });
  const answer = await createAuthority({ clock, ids, queue }).authorize(request(change));
  await queue.close();
  if (answer.outcome !== 'waiting') throw new Error(answer.outcome);
  return answer.approvalId;
}

describe('writ approvals', () => {
  beforeAll(async () => {
    expect(JSON.parse((await writ('approvals', 'list', '--json')).stdout)).toEqual({ approvals: [] });
    expect(existsSync(stateDir)).toBe(false);
  });

  it('[AUT-22] list --json prints the published fields and no others', async () => {
    const id = await park({
      requiredRole: 'network-lead',
      subject: {
        kind: 'flight',
        flightId: 'f1',
        workflowId: 'rotate-route',
        stepId: 'fix',
        planTokenHash: sha256('t'),
      },
    });
    const { code, stdout, stderr } = await writ('approvals', 'list', '--json', '--status', 'pending');
    expect([code, stderr]).toEqual([0, '']);
    const { approvals } = JSON.parse(stdout) as { approvals: Record<string, unknown>[] };
    const found = approvals.find((a) => a.approval_id === id);
    expect(Object.keys(found ?? {})).toEqual([
      'approval_id',
      'kind',
      'flight_id',
      'workflow_id',
      'step_id',
      'reason',
      'required_role',
      'plan_token_hash',
      'action_digest',
      'policy_digest',
      'created_at',
      'expires_at',
      'status',
    ]);
    expect(found).toMatchObject({
      kind: 'flight',
      flight_id: 'f1',
      workflow_id: 'rotate-route',
      step_id: 'fix',
      required_role: 'network-lead',
      status: 'pending',
    });
  });

  it('[AUT-22] approve from another process lets the parked request be used, once', async () => {
    const id = await park({ requiredRole: 'lead' });
    const { code, stdout } = await writ(
      'approvals',
      'approve',
      id,
      '--as',
      'al',
      '--role',
      'lead',
      '--reason',
      'change 4711',
      '--json',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      approval: {
        approval_id: id,
        status: 'approved',
        approver: 'al',
        approver_role: 'lead',
        response_reason: 'change 4711',
        asserted_by: osUser(),
      },
    });
    const queue = openStateApprovals({ stateDir, clock, ids });
    const authority = createAuthority({ clock, ids, queue });
    expect((await authority.redeem(id, request({ requiredRole: 'lead' }))).outcome).toBe('granted');
    await queue.close();
    const again = await writ('approvals', 'approve', id, '--as', 'al', '--role', 'lead', '--json');
    expect(again.code).toBe(3);
    expect(JSON.parse(again.stdout)).toMatchObject({ error: { code: 1004, context: { check: 'used' } } });
  });

  it('reject refuses for good, and tells people too', async () => {
    const id = await park();
    const { code, stdout } = await writ('approvals', 'reject', id, '--as', 'al', '--reason', 'not tonight');
    expect(code).toBe(0);
    expect(stdout).toContain('rejected');
    expect((await writ('approvals', 'show', id)).stdout).toContain('not tonight');
    expect((await writ('approvals', 'approve', id, '--as', 'al')).code).toBe(3);
  });

  it('[AUT-22] a refusal exits 3 and says which check failed', async () => {
    const id = await park({ requiredRole: 'lead' });
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['unknown', ['approve', 'appr_nope', '--as', 'al', '--role', 'lead']],
      ['self', ['approve', id, '--as', 'bob', '--role', 'lead']],
      ['role', ['approve', id, '--as', 'al', '--role', 'peon']],
      ['token', ['approve', id, '--as', 'al', '--role', 'lead', '--plan-token', 'abc']],
      ['malformed', ['approve', id, '--as', '', '--role', 'lead']],
    ];
    for (const [check, args] of cases) {
      const { code, stdout, stderr } = await writ('approvals', ...args, '--json');
      expect(code).toBe(3);
      expect(stderr).toContain(`refused (${check})`);
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 1004, context: { check } } });
    }
    expect((await writ('approvals', 'show', 'appr_nope', '--json')).code).toBe(3);
  });

  it('usage mistakes exit 2 and say what to write', async () => {
    expect((await writ('approvals', 'approve', 'x')).code).toBe(2);
    const status = await writ('approvals', 'list', '--status', 'open');
    expect(status.code).toBe(2);
    expect(status.stderr).toContain('pending, approved, rejected, expired, used');
    expect((await writ('approvals', 'approve', '--help')).stdout).toContain('Example');
  });

  it('[AUT-23] nothing an agent wrote reaches the terminal as control or bidi characters', async () => {
    const id = await park({
      action: {
        kind: 'shell.command',
        subject: 'ls \u001b[2K\rrm -rf /\u202e',
        detail: { argv: ['ls', '\u001b]0;x\u0007', '\u2066'] },
      },
      reasoning: 'harmless\u001b[1A\u001b[2K\u200b\nApproved by: root',
      requester: 'bob',
    });
    for (const args of [['list'], ['show', id]]) {
      const { stdout } = await writ('approvals', ...args);
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }
    expect((await writ('approvals', 'show', id)).stdout).toContain('⟨LF⟩Approved by: root');
  });

  it('[AUT-17] users in writ.yaml are checked; a bad writ.yaml stops everything', async () => {
    const id = await park({ requiredRole: 'lead' });
    writeFileSync(join(project, 'writ.yaml'), 'users:\n  al: { roles: [dev] }\n  lea: { roles: [lead] }\n');
    expect((await writ('approvals', 'approve', id, '--as', 'al', '--role', 'lead')).stderr).toContain(
      'al does not have the role lead',
    );
    expect((await writ('approvals', 'approve', id, '--as', 'mallory', '--role', 'lead')).code).toBe(3);
    const ok = await writ('approvals', 'approve', id, '--as', 'lea', '--role', 'lead', '--json');
    expect(JSON.parse(ok.stdout)).toMatchObject({ approval: { approver: 'lea', asserted_by: null } });
    writeFileSync(join(project, 'writ.yaml'), 'user:\n  al: { roles: [dev] }\n');
    expect((await writ('approvals', 'list')).code).toBe(2);
    rmSync(join(project, 'writ.yaml'));
  });

  it('a state folder that others can write is refused', async () => {
    chmodSync(stateDir, 0o777);
    const { code, stderr } = await writ('approvals', 'list');
    chmodSync(stateDir, 0o700);
    expect(code).toBe(2);
    expect(stderr).toContain('chmod go-w');
  });

  it('[AUT-24] everything that happened, refusals included, is in the ledger and verifies', async () => {
    const lines = readFileSync(join(stateDir, 'ledger', 'approvals.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
    for (const type of [
      'approval.requested',
      'approval.response',
      'approval.given',
      'approval.rejected',
      'approval.refused',
      'approval.used',
    ])
      expect(types).toContain(type);
    const { code, stdout } = await writ('audit', 'verify', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'intact' });
  });
});
