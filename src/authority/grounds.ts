import { type ApprovalAnswer, type Decision, decidingEvaluation, type WritGrounds } from '../core/index.ts';
import type { GivenApproval } from './types.ts';

/** What a decision and an approval become on the writ, and in words. */
export function reasonOf(decision: Decision): string {
  const deciding = decidingEvaluation(decision);
  return deciding ? `${deciding.rule}: ${deciding.reason}` : 'nobody judged this action';
}

export function rulesOf(decision: Decision): readonly string[] {
  return decision.evaluations.map((e) => `${e.evaluator}/${e.rule}`);
}

export function approvalOf(
  approvalId: string,
  answer: Extract<ApprovalAnswer, { kind: 'approve' }>,
): GivenApproval {
  return {
    approvalId,
    approver: answer.approver,
    ...(answer.role === undefined ? {} : { role: answer.role }),
    ...(answer.reason === undefined ? {} : { reason: answer.reason }),
  };
}

export function approvedGrounds(decision: Decision, approval: GivenApproval): WritGrounds {
  return {
    decision: 'approved',
    rules: rulesOf(decision),
    approvalId: approval.approvalId,
    approver: approval.approver,
  };
}
