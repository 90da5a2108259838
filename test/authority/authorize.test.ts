import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type AuthorizeRequest, createAuthority, type Evaluator } from '../../src/authority/index.ts';
import { type Action, type Approver, sha256, systemClock, systemIds, Writ } from '../../src/core/index.ts';
import { testClock, testIds } from '../../src/core/testing.ts';
import { baseEnvironment, run } from '../../src/sandbox/index.ts';
import { action, answering, request, says } from './desk.ts';

const clock = testClock();
function authority(approver?: Approver, record?: { append(): Promise<void> }) {
  return createAuthority({
    clock,
    ids: testIds(),
    approverTimeoutMs: 100,
    evaluatorTimeoutMs: 100,
    ...(approver ? { approver } : {}),
    ...(record ? { record } : {}),
  });
}
const ask = (change: Partial<AuthorizeRequest> = {}) => request({ whenApprovalNeeded: 'ask', ...change });

describe('authorize', () => {
  it('[AUT-04] allow and warn give a writ for exactly this action, with its grounds', async () => {
    for (const verdict of ['allow', 'warn'] as const) {
      const answer = await authority().authorize(ask({ evaluators: [says(verdict)] }));
      expect(answer.outcome).toBe('granted');
      if (answer.outcome !== 'granted') return;
      expect(Writ.is(answer.writ)).toBe(true);
      expect(answer.writ.use(action)).toEqual({
        decision: verdict,
        rules: [`says-${verdict}/rule-${verdict}`],
      });
    }
  });

  it('[AUT-05] deny gives none, and nobody is asked', async () => {
    let asked = false;
    const approver: Approver = {
      ask: async () => {
        asked = true;
        return { kind: 'approve', approver: 'al' };
      },
    };
    const answer = await authority(approver).authorize(
      ask({ evaluators: [says('require_approval'), says('deny')] }),
    );
    expect(answer).toMatchObject({ outcome: 'denied', by: 'policy', reason: 'rule-deny: it is deny' });
    expect(asked).toBe(false);
  });

  it('[AUT-06] a person who approves gives a writ with their name on it', async () => {
    const answer = await authority(
      answering({ kind: 'approve', approver: 'al', role: 'lead', reason: 'fine' }),
    ).authorize(ask());
    expect(answer).toMatchObject({
      outcome: 'granted',
      approval: { approver: 'al', role: 'lead', reason: 'fine' },
    });
    if (answer.outcome === 'granted')
      expect(answer.writ.use(action)).toMatchObject({
        decision: 'approved',
        approver: 'al',
        approvalId: 'appr_0001',
      });
  });

  it('a person who denies, or who changes the command where that is allowed', async () => {
    expect(
      await authority(answering({ kind: 'deny', approver: 'al', reason: 'not now' })).authorize(ask()),
    ).toMatchObject({
      outcome: 'denied',
      by: 'person',
      reason: 'not now',
    });
    const modify = answering({ kind: 'modify', approver: 'al', replacement: 'ls' });
    expect(await authority(modify).authorize(ask({ modifiable: true }))).toMatchObject({
      outcome: 'modified',
      replacement: 'ls',
    });
    expect(await authority(modify).authorize(ask())).toMatchObject({ outcome: 'denied', by: 'nobody' });
  });

  const broken: readonly (readonly [string, Approver | undefined])[] = [
    ['is absent', undefined],
    [
      'throws',
      {
        ask: () => {
          throw new Error('closed terminal');
        },
      },
    ],
    ['rejects', { ask: async () => Promise.reject(new Error('closed terminal')) }],
    ['never answers', { ask: () => new Promise(() => {}) }],
    ['abandons', answering({ kind: 'abandoned', reason: 'no terminal' })],
    ['answers nothing', answering(undefined)],
    ['answers yes', answering('yes')],
    ['answers true', answering(true)],
    ['answers another kind', answering({ kind: 'approved', approver: 'al' })],
    ['has no name', answering({ kind: 'approve' })],
    ['has an empty name', answering({ kind: 'approve', approver: ' ' })],
    ['has a strange role', answering({ kind: 'approve', approver: 'al', role: 7 })],
    ['replaces with nothing', answering({ kind: 'modify', approver: 'al', replacement: ' ' })],
  ];
  it.each(broken)('[AUT-07] an approver who %s: denied by nobody', async (_, approver) => {
    expect(await authority(approver).authorize(ask({ modifiable: true }))).toMatchObject({
      outcome: 'denied',
      by: 'nobody',
    });
  });

  it('[AUT-07] giving up aborts the question, and a late yes is not heard', async () => {
    const stop = new AbortController();
    let told = false;
    const approver: Approver = {
      ask: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            told = true;
            resolve({ kind: 'approve', approver: 'al' });
          });
          stop.abort();
        }),
    };
    expect(await authority(approver).authorize(ask({ signal: stop.signal }))).toMatchObject({
      outcome: 'denied',
      by: 'nobody',
    });
    expect(told).toBe(true);
    expect(await authority(approver).authorize(ask({ signal: stop.signal }))).toMatchObject({
      outcome: 'denied',
      by: 'nobody',
    });
  });

  it('[AUT-08] an answer that cannot be recorded does not count', async () => {
    const full = { append: async () => Promise.reject(new Error('disk full')) };
    const answer = await authority(answering({ kind: 'approve', approver: 'al' }), full).authorize(ask());
    expect(answer).toMatchObject({
      outcome: 'denied',
      by: 'nobody',
      reason: expect.stringContaining('disk full'),
    });
  });

  it('[AUT-09] the role a rule names must be the role that answers', async () => {
    const evaluators = [says('require_approval', { requiredRole: 'lead' })];
    const as = (role?: string) =>
      authority(answering({ kind: 'approve', approver: 'al', role })).authorize(ask({ evaluators }));
    expect(await as()).toMatchObject({ outcome: 'denied', by: 'refused' });
    expect(await as('peon')).toMatchObject({ outcome: 'denied', by: 'refused' });
    expect((await as('lead')).outcome).toBe('granted');
    const two = [...evaluators, says('require_approval', { requiredRole: 'security' })];
    expect(
      await authority(answering({ kind: 'approve', approver: 'al', role: 'lead' })).authorize(
        ask({ evaluators: two }),
      ),
    ).toMatchObject({
      outcome: 'denied',
      by: 'policy',
      reason: expect.stringContaining('lead and security'),
    });
  });

  it('never means never; parking needs a queue', async () => {
    const yes = answering({ kind: 'approve', approver: 'al' });
    expect(await authority(yes).authorize(request({ whenApprovalNeeded: 'never' }))).toMatchObject({
      outcome: 'denied',
      by: 'nobody',
    });
    expect(await authority(yes).authorize(request({ whenApprovalNeeded: 'park' }))).toMatchObject({
      outcome: 'denied',
      by: 'nobody',
    });
    const odd = request({ whenApprovalNeeded: 'sure' as 'never' });
    expect((await authority(yes).authorize(odd)).outcome).toBe('denied');
  });

  it('[AUT-10] what is judged is what the writ is for, whatever happens to the caller’s object', async () => {
    const detail = { argv: ['ls'] };
    const shifty: Evaluator = {
      name: 'shifty',
      evaluate: (seen) => {
        expect(
          Object.isFrozen(seen) && Object.isFrozen(seen.detail) && Object.isFrozen(seen.detail.argv),
        ).toBe(true);
        detail.argv = ['rm', '-rf', '/'];
        return { evaluator: 'shifty', verdict: 'allow', rule: 'r', reason: 's' };
      },
    };
    const original: Action = { kind: 'shell.command', subject: 'ls', detail };
    const answer = await authority().authorize(ask({ action: original, evaluators: [shifty] }));
    if (answer.outcome !== 'granted') throw new Error('denied');
    expect(answer.writ.action.detail).toEqual({ argv: ['ls'] });
    expect(() => answer.writ.use(original)).toThrow(/another/);
  });

  it('[AUT-10] an action without a canonical form, or a policy without a digest, is denied', async () => {
    for (const subject of ['\ud800', undefined as unknown as string])
      expect(
        (
          await authority().authorize(
            ask({ action: { ...action, subject, detail: { x: subject } }, evaluators: [says('allow')] }),
          )
        ).outcome,
      ).toBe(subject ? 'denied' : 'granted');
    const noDigest = ask({ evaluators: [says('allow')], policyDigest: 'latest' as never });
    expect(await authority().authorize(noDigest)).toMatchObject({ outcome: 'denied', by: 'policy' });
  });

  it('[AUT-11] a writ does not wait for ever', async () => {
    const answer = await authority().authorize(ask({ evaluators: [says('allow')] }));
    if (answer.outcome !== 'granted') throw new Error('denied');
    clock.advance(5 * 60 * 1000 + 1);
    expect(() => answer.writ.use(action)).toThrow(/expired/);
  });
});

describe('[AUT-12] the gate taken away: the action fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-gate-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'happened');
  const argv = ['touch', file];
  const touch: Action = { kind: 'process.start', subject: 'touch', detail: { argv } };

  async function attempt(approver: Approver | undefined, evaluators: readonly Evaluator[]): Promise<string> {
    const gate = createAuthority({
      clock: systemClock,
      ids: systemIds,
      approverTimeoutMs: 50,
      evaluatorTimeoutMs: 50,
      ...(approver ? { approver } : {}),
    });
    const answer = await gate.authorize({
      action: touch,
      evaluators,
      reasoning: '',
      requester: 'agent',
      policyDigest: sha256('p'),
      whenApprovalNeeded: 'ask',
    });
    // What a careless caller would do: run with whatever it has.
    const writ = (answer as { writ?: Writ }).writ as Writ;
    try {
      await run(writ, { argv, env: baseEnvironment(), cwd: '/', timeoutMs: 5000 });
    } catch (error) {
      return String(error);
    }
    return 'ran';
  }

  const gates: readonly (readonly [string, Approver | undefined, readonly Evaluator[]])[] = [
    ['no evaluators', answering({ kind: 'approve', approver: 'al' }), []],
    ['no approver', undefined, [says('require_approval')]],
    [
      'an approver that throws',
      {
        ask: () => {
          throw new Error('x');
        },
      },
      [says('require_approval')],
    ],
    ['an approver that hangs', { ask: () => new Promise(() => {}) }, [says('require_approval')]],
    ['an approver that returns garbage', answering({ ok: true }), [says('require_approval')]],
    [
      'an evaluator that throws',
      answering({ kind: 'approve', approver: 'al' }),
      [
        says('allow'),
        {
          name: 'x',
          evaluate: () => {
            throw new Error('x');
          },
        },
      ],
    ],
  ];
  it.each(gates)('%s', async (_, approver, evaluators) => {
    expect(await attempt(approver, evaluators)).toMatch(/no writ/);
    expect(existsSync(file)).toBe(false);
  });

  it('and with the gate in place it happens', async () => {
    expect(await attempt(answering({ kind: 'approve', approver: 'al' }), [says('require_approval')])).toBe(
      'ran',
    );
    expect(existsSync(file)).toBe(true);
  });
});
