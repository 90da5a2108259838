import type { Row } from './approval-record.ts';
import { statusAt } from './approval-record.ts';
import type { ApprovalCheck, ApprovalResponse, Binding } from './types.ts';

/**
 * Everything an approval is checked for, as pure functions of the stored row.
 *
 * A1 A response is taken only for a pending, unexpired request, once.
 * A2 The approver is not the requester (unless allowed), is known when users are configured, and answers
 *    in the required role, which must be one of theirs.
 * A3 When used, every bound part is compared with what was just derived again, and A2 is checked again:
 *    somebody may have lost the role since.
 */
export interface Refusal {
  readonly check: ApprovalCheck;
  readonly message: string;
}

export interface Rules {
  /** Name → roles. When given, nobody else can answer. */
  readonly users?: Readonly<Record<string, readonly string[]>>;
  readonly allowSelfApproval?: boolean;
}

const MAX_NAME = 200;
const MAX_REASON = 4000;
const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}$/;

export function malformed(approvalId: string, response: ApprovalResponse): Refusal | undefined {
  const bad = (message: string): Refusal => ({ check: 'malformed', message });
  if (typeof approvalId !== 'string' || !ID.test(approvalId)) return bad('this is not an approval id');
  if (typeof response !== 'object' || response === null) return bad('there is no response');
  const { approved, approver, role, reason, planTokenHash, assertedBy } = response;
  if (typeof approved !== 'boolean') return bad('`approved` must be true or false');
  if (!isName(approver)) return bad('the approver needs a name without control characters');
  if (role !== undefined && !isName(role)) return bad('the role must be a name without control characters');
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > MAX_REASON))
    return bad(`the reason must be text of at most ${MAX_REASON} characters`);
  if (planTokenHash !== undefined && typeof planTokenHash !== 'string')
    return bad('the token hash must be text');
  if (assertedBy !== undefined && !isName(assertedBy)) return bad('the asserting user must be a name');
  return undefined;
}

function isName(value: unknown): value is string {
  // Names are compared and shown: nothing invisible, nothing that pads, nothing endless.
  return (
    typeof value === 'string' &&
    value.length <= MAX_NAME &&
    value.isWellFormed() &&
    value.trim() === value &&
    value !== '' &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value)
  );
}

export function checkResponse(
  row: Row,
  response: ApprovalResponse,
  rules: Rules,
  now: Date,
): Refusal | undefined {
  switch (statusAt(row, now)) {
    case 'used':
      return { check: 'used', message: 'this approval has been used' };
    case 'approved':
      return { check: 'answered', message: `this request was approved by ${row.approver}` };
    case 'rejected':
      return { check: 'answered', message: `this request was rejected by ${row.approver}` };
    case 'expired':
      return { check: 'expired', message: `this request expired at ${row.expires_at}` };
    case 'pending':
      break;
  }
  if (response.planTokenHash !== undefined && response.planTokenHash !== row.plan_token_hash)
    return { check: 'token', message: 'this answer is for another plan token' };
  // Withdrawing one's own request is always possible; granting it is not.
  const selfMatters = response.approved && rules.allowSelfApproval !== true;
  return checkPerson(row, response.approver, response.role ?? null, rules, selfMatters);
}

function checkPerson(
  row: Pick<Row, 'requester' | 'required_role'>,
  approver: string,
  role: string | null,
  rules: Rules,
  selfMatters: boolean,
): Refusal | undefined {
  if (selfMatters && samePerson(approver, row.requester))
    return { check: 'self', message: `${approver} asked for this and cannot approve it` };
  if (row.required_role !== null && role !== row.required_role)
    return { check: 'role', message: `this needs the role ${row.required_role}, not ${role ?? 'none'}` };
  if (rules.users === undefined) return undefined;
  const roles = Object.hasOwn(rules.users, approver) ? rules.users[approver] : undefined;
  if (roles === undefined) return { check: 'role', message: `${approver} is not among the configured users` };
  if (role !== null && !roles.includes(role))
    return { check: 'role', message: `${approver} does not have the role ${role}` };
  return undefined;
}

/** Compared the way a person reads names, so that `Alice` cannot approve for `alice`. */
function samePerson(a: string, b: string): boolean {
  const fold = (name: string) => name.normalize('NFKC').trim().toLowerCase();
  return fold(a) === fold(b);
}

/** Undefined when the request is for exactly this. */
export function checkBinding(row: Row, binding: Binding): Refusal | undefined {
  if (row.action_digest !== binding.actionDigest)
    return { check: 'action', message: 'the action is not the one that was approved' };
  if (row.policy_digest !== binding.policyDigest)
    return { check: 'policy', message: 'the policy has changed since this was approved' };
  if (row.plan_token_hash !== binding.planTokenHash)
    return { check: 'token', message: 'the plan token is not the one that was approved' };
  if (row.requester !== binding.requester)
    return { check: 'requester', message: 'somebody else asked for this approval' };
  if (row.required_role !== binding.requiredRole)
    return { check: 'role', message: 'another role is required now than when this was approved' };
  return undefined;
}

/** Undefined when the person who approved could still do so today. */
export function checkApprover(row: Row, rules: Rules): Refusal | undefined {
  if (row.approver === null) return { check: 'malformed', message: 'this approval names no approver' };
  return checkPerson(row, row.approver, row.approver_role, rules, rules.allowSelfApproval !== true);
}
