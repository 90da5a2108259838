/** Evaluate → decide → approve → mint. The only room that makes writs. */
export { type ApprovalQueueOptions, openApprovalQueue } from './approval-queue.ts';
export { type AuthorityOptions, createAuthority } from './authority.ts';
export { openStateApprovals } from './state-approvals.ts';
export type {
  ApprovalCheck,
  ApprovalQueue,
  ApprovalRecord,
  ApprovalResponse,
  ApprovalStatus,
  ApprovalSubject,
  Authority,
  Authorization,
  AuthorizeRequest,
  DurableApprovalQueue,
  Evaluator,
  GivenApproval,
  RespondResult,
} from './types.ts';
