import type { ApprovalRecord, AuthorizeRequest } from '../authority/index.ts';
import { type Action, CODES, type Digest, type Evaluation, EXIT, type JsonObject } from '../core/index.ts';
import { engineArgv } from './engine.ts';
import { failFlight } from './fail.ts';
import { clean, type Moved, type StepContext, standing } from './step-context.ts';
import { milliseconds } from './workflow.ts';

/**
 * From a decision to READY_FOR_TAKEOFF, with a person in between when one is needed.
 *
 * AP1 The request is for exactly this take-off: its action holds the plan-token, and so does the request.
 * AP2 A request that a crash left behind is taken up again, never asked twice.
 */
export function takeOffRequest(context: StepContext, evaluations: readonly Evaluation[]): AuthorizeRequest {
  const { deps, workflow, step, log, engine } = context;
  const { token, method } = standing(context);
  if (token === undefined) throw new Error('there is no plan-token');
  const action: Action = {
    kind: 'flight.take_off',
    subject: `${workflow.value.id}/${step.id}`,
    detail: {
      argv: [...engineArgv(engine)],
      cwd: workflow.workspace,
      flight_id: log.record.flightId,
      workflow_id: workflow.value.id,
      step_id: step.id,
      engine: step.engine,
      plan_token: token.token,
      artifacts: token.artifacts.map((a) => ({ ...a })),
    },
  };
  return {
    action,
    evaluators: evaluations.map((e) => ({ name: e.evaluator, evaluate: () => e })),
    ...(method === undefined ? {} : { aggregation: method as NonNullable<AuthorizeRequest['aggregation']> }),
    reasoning: `take-off of step ${step.id} of ${workflow.value.id}: ${token.artifacts.map((a) => a.name).join(', ') || 'no artifacts'}`,
    requester: log.record.requester,
    policyDigest: token.policy_digest as Digest,
    whenApprovalNeeded: 'park',
    expiresInMs: milliseconds(step.approval?.expires, deps.approvalLifeMs ?? 4 * 3_600_000),
    subject: {
      kind: 'flight',
      flightId: log.record.flightId,
      workflowId: workflow.value.id,
      stepId: step.id,
      planTokenHash: token.token as Digest,
    },
  };
}

export async function requestApproval(context: StepContext): Promise<Moved> {
  const { log, step, authority } = context;
  const { decision, evaluations = [] } = standing(context);
  const id = step.id;
  switch (decision) {
    case 'allow':
    case 'warn':
      log.commit(
        [
          {
            entry_type: 'step_started',
            data: { step_id: id, step_type: 'ready' },
            change: { step: id, state: 'READY_FOR_TAKEOFF' },
          },
        ],
        [
          {
            event_type: 'ready_for_take_off',
            workflow_state: 'READY_FOR_TAKEOFF',
            message: `preflight said ${decision}`,
            workflow: { step_id: id },
          },
        ],
      );
      return 'on';
    case 'require_approval': {
      const waiting =
        leftBehind(context) ?? (await authority.authorize(takeOffRequest(context, evaluations)));
      if ('approval_id' in waiting) return asked(context, waiting.approval_id);
      if (waiting.outcome === 'waiting') return asked(context, waiting.approvalId);
      const why = waiting.outcome === 'denied' ? waiting.reason : 'the request was not stored';
      failFlight(log, id, { code: CODES.denied, message: `step ${id}: ${why}`, exit: EXIT.denied });
      return 'on';
    }
    default: {
      const why = evaluations.filter((e) => e.verdict === 'deny').map((e) => e.reason);
      const message = `step ${id}: denied by preflight: ${why.join('; ') || `the policies do not agree (${standing(context).method})`}`;
      failFlight(log, id, { code: CODES.denied, message: clean(context, message), exit: EXIT.denied });
      return 'on';
    }
  }
}

function leftBehind(context: StepContext): ApprovalRecord | undefined {
  const { deps, log, step } = context;
  const { token } = standing(context);
  return [...deps.queue.list({ status: 'pending' }), ...deps.queue.list({ status: 'approved' })].find(
    (a) => a.flight_id === log.record.flightId && a.step_id === step.id && a.plan_token_hash === token?.token,
  );
}

function asked(context: StepContext, approvalId: string): Moved {
  const { deps, log, step, workflow } = context;
  const stored = deps.queue.get(approvalId);
  const { token, receipt } = standing(context);
  const role = stored?.required_role ?? '';
  const request = {
    approval_id: approvalId,
    workflow_id: workflow.value.id,
    step_id: step.id,
    reason: stored?.reason ?? '',
    required_role: role,
    engine_output: receipt ?? {},
    evidence: (receipt?.artifacts ?? []).map(({ name, path, hash }) => ({ name, path, hash })),
    plan_token_hash: token?.token ?? '',
  };
  log.commit(
    [
      {
        entry_type: 'approval_requested',
        data: { approval_id: approvalId, step_id: step.id, required_role: role },
        detail: {
          approval_request: JSON.parse(JSON.stringify(request)) as JsonObject,
          policy_digest: token?.policy_digest ?? '',
          created_at: stored?.created_at ?? '',
          expires_at: stored?.expires_at ?? '',
          requester: log.record.requester,
        },
        change: { step: step.id, state: 'AWAITING_APPROVAL', patch: { approval_id: approvalId } },
      },
    ],
    [
      {
        event_type: 'approval_requested',
        workflow_state: 'AWAITING_APPROVAL',
        message: `waits for ${role === '' ? 'a person' : role}: ${clean(context, stored?.reason ?? '')}`,
        workflow: { step_id: step.id },
        approval: {
          approval_id: approvalId,
          required_role: role,
          approved: false,
          approver: '',
          plan_token_hash: token?.token ?? '',
          timestamp: stored?.created_at ?? deps.clock.now().toISOString(),
        },
      },
    ],
  );
  return 'on';
}

/** Looks once. Nobody is waited for: the flight goes on when it is resumed after an answer. */
export async function awaitApproval(context: StepContext): Promise<Moved> {
  const { deps, log, step } = context;
  const { approval_id: approvalId = '', token } = standing(context);
  const stored = deps.queue.get(approvalId);
  if (stored === undefined) return refused(context, `approval ${approvalId} is unknown`, null);
  if (stored.plan_token_hash !== token?.token)
    return refused(context, `approval ${approvalId} is for another plan-token`, stored);
  switch (stored.status) {
    case 'pending':
      return 'waiting';
    case 'rejected':
      return refused(
        context,
        `rejected by ${stored.approver ?? 'somebody'}${stored.response_reason ? `: ${stored.response_reason}` : ''}`,
        stored,
      );
    case 'expired':
      return refused(context, `approval ${approvalId} expired at ${stored.expires_at}`, stored);
    case 'used':
      return refused(context, `approval ${approvalId} has been used`, stored);
    case 'approved':
      log.commit(
        [received(context, stored, true)],
        [
          {
            event_type: 'approval_received',
            workflow_state: 'APPROVED',
            message: `approved by ${stored.approver ?? ''}`,
            workflow: { step_id: step.id },
            approval: auditApproval(context, stored, true),
          },
        ],
      );
      return 'on';
  }
}

function received(context: StepContext, stored: ApprovalRecord, approved: boolean) {
  const { step } = context;
  const approver = stored.approver ?? '';
  return {
    entry_type: 'approval_received' as const,
    data: { approval_id: stored.approval_id, approved, approver },
    detail: {
      plan_token_hash: stored.plan_token_hash ?? '',
      role: stored.approver_role ?? '',
      reason: stored.response_reason ?? '',
    },
    change: approved ? { step: step.id, state: 'APPROVED' as const, patch: { approver } } : { step: step.id },
  };
}

function auditApproval(context: StepContext, stored: ApprovalRecord, approved: boolean): JsonObject {
  return {
    approval_id: stored.approval_id,
    required_role: stored.required_role ?? '',
    approved,
    approver: stored.approver ?? '',
    plan_token_hash: stored.plan_token_hash ?? '',
    timestamp: stored.responded_at ?? context.deps.clock.now().toISOString(),
    ...(stored.response_reason === null ? {} : { reason: clean(context, stored.response_reason) }),
  };
}

function refused(context: StepContext, message: string, stored: ApprovalRecord | null): Moved {
  const { log, step } = context;
  if (stored !== null)
    log.commit(
      [received(context, stored, false)],
      [
        {
          event_type: 'approval_refused',
          workflow_state: 'AWAITING_APPROVAL',
          severity: 'warning',
          message: clean(context, message),
          workflow: { step_id: step.id },
          approval: auditApproval(context, stored, false),
        },
      ],
    );
  failFlight(log, step.id, {
    code: CODES.denied_approval_refused,
    message: `step ${step.id}: ${clean(context, message)}`,
    exit: EXIT.denied,
  });
  return 'on';
}
