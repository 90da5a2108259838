import type { Action, Decision, Digest, Evaluation, Writ } from '../core/index.ts';

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
  readonly requiredRole?: string;
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
  readonly reason: string;
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
  readonly response_reason: string | null;
  readonly responded_at: string | null;
  /** The action in full, as redacted JSON text, for the person who decides. */
  readonly action_json: string;
}

export type RespondResult =
  | { readonly ok: true; readonly approval: ApprovalRecord }
  | {
      readonly ok: false;
      readonly check: 'unknown' | 'expired' | 'used' | 'answered' | 'role' | 'self' | 'token' | 'malformed';
      readonly message: string;
    };

export interface ApprovalQueue {
  list(filter?: { readonly status?: ApprovalStatus }): readonly ApprovalRecord[];
  get(approvalId: string): ApprovalRecord | undefined;
  respond(
    approvalId: string,
    response: {
      readonly approved: boolean;
      readonly approver: string;
      readonly role?: string;
      readonly reason?: string;
      readonly planTokenHash?: string;
    },
  ): RespondResult;
}
