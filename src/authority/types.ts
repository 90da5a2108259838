import type { Action, AggregationMethod, Decision, Digest, Evaluation, Writ } from '../core/index.ts';

/** Judges an action. A throw, a rejection or no answer in time is a denial. */
export interface Evaluator {
  readonly name: string;
  evaluate(action: Action): Evaluation | Promise<Evaluation>;
}

export interface AuthorizeRequest {
  readonly action: Action;
  readonly evaluators: readonly Evaluator[];
  /** Why the caller wants it, in the caller's words: hostile text. */
  readonly reasoning: string;
  /** Who asks: OS user, session, flight starter. */
  readonly requester: string;
  /** What is in force: part of what an approval is bound to. */
  readonly policyDigest: Digest;
  /**
   * What happens when a person is needed. `ask`: put the question to the approver and wait.
   * `park`: leave a durable request and answer `waiting`. `never`: deny.
   */
  readonly whenApprovalNeeded: 'ask' | 'park' | 'never';
  /** Role asked for when no rule names one. Two rules that name different roles deny. */
  readonly requiredRole?: string;
  /** How evaluations become a decision. Default `most_restrictive`. */
  readonly aggregation?: AggregationMethod;
  /** Gives up asking: denied by nobody. */
  readonly signal?: AbortSignal;
  /** Life of an approval request and of the approval itself. Default 4 h. */
  readonly expiresInMs?: number;
  readonly modifiable?: boolean;
  /** Extra facts stored with a parked request (flight id, step id, plan token hash …). */
  readonly subject?: ApprovalSubject;
}

export interface ApprovalSubject {
  readonly kind: 'flight' | 'shell' | 'run' | 'mcp' | 'llm';
  readonly flightId?: string;
  readonly workflowId?: string;
  readonly stepId?: string;
  readonly planTokenHash?: Digest;
}

export type Authorization =
  | {
      readonly outcome: 'granted';
      readonly writ: Writ;
      readonly decision: Decision;
      readonly approval?: GivenApproval;
    }
  | {
      readonly outcome: 'denied';
      readonly decision: Decision;
      /** policy: a rule said deny. person: someone said no. nobody: no answer could be had. refused: the approval failed a check. */
      readonly by: 'policy' | 'person' | 'nobody' | 'refused';
      readonly reason: string;
      readonly approvalId?: string;
    }
  | {
      readonly outcome: 'modified';
      readonly replacement: string;
      readonly approver: string;
      readonly decision: Decision;
    }
  | { readonly outcome: 'waiting'; readonly approvalId: string; readonly decision: Decision };

export interface GivenApproval {
  readonly approvalId: string;
  readonly approver: string;
  readonly role?: string;
  readonly reason?: string;
}

export interface Authority {
  authorize(request: AuthorizeRequest): Promise<Authorization>;
  /**
   * Uses a parked approval: evaluates the action again, re-derives every digest, checks role, expiry and
   * single use in one transaction, and mints. Same answers as `authorize`; `waiting` while nobody answered.
   */
  redeem(approvalId: string, request: AuthorizeRequest): Promise<Authorization>;
}

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'used';

/** A durable request, as `writ approvals list --json` prints it. */
export interface ApprovalRecord {
  readonly approval_id: string;
  readonly kind: ApprovalSubject['kind'];
  readonly flight_id: string | null;
  readonly workflow_id: string | null;
  readonly step_id: string | null;
  /** Why a person is needed: the rule's words. */
  readonly reason: string;
  /** Why it is wanted: the caller's words, redacted. Hostile text. */
  readonly reasoning: string;
  readonly required_role: string | null;
  readonly plan_token_hash: string | null;
  readonly action_digest: string;
  readonly policy_digest: string;
  readonly requester: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly status: ApprovalStatus;
  readonly approver: string | null;
  readonly approver_role: string | null;
  /** OS user who typed the approver's name, when nothing vouches for it. */
  readonly asserted_by: string | null;
  readonly response_reason: string | null;
  readonly responded_at: string | null;
  /** The action in full, as redacted JSON text, for the person who decides. */
  readonly action_json: string;
}

/** The checks an approval can fail, when it is given and again when it is used. */
export type ApprovalCheck =
  | 'unknown'
  | 'expired'
  | 'used'
  | 'answered'
  | 'role'
  | 'self'
  | 'token'
  | 'malformed'
  | 'action'
  | 'policy'
  | 'requester';

export type RespondResult =
  | { readonly ok: true; readonly approval: ApprovalRecord }
  | { readonly ok: false; readonly check: ApprovalCheck; readonly message: string };

export interface ApprovalResponse {
  readonly approved: boolean;
  readonly approver: string;
  readonly role?: string;
  readonly reason?: string;
  /** When given it must be the token of the request. */
  readonly planTokenHash?: string;
  /** OS user behind the answer, recorded beside the name it gave. */
  readonly assertedBy?: string;
}

export interface ApprovalQueue {
  list(filter?: { readonly status?: ApprovalStatus }): readonly ApprovalRecord[];
  get(approvalId: string): ApprovalRecord | undefined;
  /** A person's answer. Resolves when it, or its refusal, is stored and recorded. */
  respond(approvalId: string, response: ApprovalResponse): Promise<RespondResult>;
}

/** What an approval is bound to. Every part is derived again when the approval is used. */
export interface Binding {
  readonly actionDigest: Digest;
  readonly policyDigest: Digest;
  readonly planTokenHash: string | null;
  readonly requester: string;
  readonly requiredRole: string | null;
}

export interface ParkRequest extends Binding {
  readonly subject: ApprovalSubject;
  readonly action: Action;
  readonly reason: string;
  readonly reasoning: string;
  readonly expiresInMs: number;
}

export type UseResult =
  | { readonly kind: 'approved'; readonly approval: GivenApproval; readonly expiresAt: Date }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'rejected'; readonly approval: GivenApproval }
  | { readonly kind: 'refused'; readonly check: ApprovalCheck; readonly message: string };

/** The queue as authority sees it: requests are left and approvals used up here. */
export interface DurableApprovalQueue extends ApprovalQueue {
  park(request: ParkRequest): Promise<ApprovalRecord>;
  /** Takes the single use, in one transaction, if every check holds. */
  use(approvalId: string, binding: Binding): Promise<UseResult>;
  close(): Promise<void>;
}
