import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApprovalQueueOptions,
  type AuthorityOptions,
  type AuthorizeRequest,
  createAuthority,
  type Evaluator,
  openApprovalQueue,
} from '../../src/authority/index.ts';
import { type Action, type Approver, type Evaluation, type Json, sha256 } from '../../src/core/index.ts';
import { testClock, testIds } from '../../src/core/testing.ts';

export const action: Action = { kind: 'tool.call', subject: 'deploy', detail: { target: 'prod', n: 1 } };

/** An evaluator that says one thing. */
export function says(verdict: Evaluation['verdict'], extra: Partial<Evaluation> = {}): Evaluator {
  return {
    name: `says-${verdict}`,
    evaluate: () => ({
      evaluator: `says-${verdict}`,
      verdict,
      rule: `rule-${verdict}`,
      reason: `it is ${verdict}`,
      ...extra,
    }),
  };
}

export function request(change: Partial<AuthorizeRequest> = {}): AuthorizeRequest {
  return {
    action,
    evaluators: [says('require_approval')],
    reasoning: 'I need it',
    requester: 'bob',
    policyDigest: sha256('policy'),
    whenApprovalNeeded: 'park',
    ...change,
  };
}

export function answering(answer: unknown): Approver {
  return { ask: async () => answer as never };
}

/** A folder with a queue, an authority over it, and everything that was recorded. */
export function desk(
  queueOptions: Partial<ApprovalQueueOptions> = {},
  authorityOptions: Partial<AuthorityOptions> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-authority-'));
  const clock = testClock();
  const ids = testIds();
  const records: { readonly [key: string]: Json }[] = [];
  const record = { append: async (entry: { readonly [key: string]: Json }) => void records.push(entry) };
  const database = join(folder, 'writ.db');
  const open = (change: Partial<ApprovalQueueOptions> = {}) =>
    openApprovalQueue({ database, clock, ids, record, ...queueOptions, ...change });
  const queue = open();
  const authority = createAuthority({ clock, ids, queue, record, ...authorityOptions });
  return {
    folder,
    database,
    clock,
    ids,
    records,
    queue,
    authority,
    open,
    /** Parks the request and gives its id. */
    async parked(change: Partial<AuthorizeRequest> = {}): Promise<string> {
      const answer = await authority.authorize(request(change));
      if (answer.outcome !== 'waiting') throw new Error(`not parked: ${answer.outcome}`);
      return answer.approvalId;
    },
    async remove() {
      await queue.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
