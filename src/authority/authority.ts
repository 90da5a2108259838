import {
  type Action,
  type ActionKind,
  type ApprovalAnswer,
  type Approver,
  type AuditSink,
  actionDigest,
  type Clock,
  type Decision,
  frozenAction,
  type Ids,
  isDigest,
  messageOf,
  type Writ,
  type WritGrounds,
} from '../core/index.ts';
import { approvalOf, approvedGrounds, reasonOf, rulesOf } from './grounds.ts';
import { judge } from './judge.ts';
import { mint } from './mint.ts';
import { readAnswer } from './read-answer.ts';
import type {
  ApprovalSubject,
  Authority,
  Authorization,
  AuthorizeRequest,
  Binding,
  DurableApprovalQueue,
} from './types.ts';
import { withTimeout } from './with-timeout.ts';

/**
 * Evaluate → decide → (approve) → mint.
 *
 * AU1 Fail closed: a missing, broken, slow or garbled evaluator, approver, queue or record denies.
 * AU2 What was judged is what the writ is for: one frozen copy of the action goes the whole road.
 * AU3 An approval is never merely compared: the action is judged again and every digest derived again.
 * AU4 A writ lives for minutes, and never longer than the approval behind it.
 */
export interface AuthorityOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly queue?: DurableApprovalQueue;
  readonly approver?: Approver;
  readonly record?: AuditSink;
  /** Default 5 s each. */
  readonly evaluatorTimeoutMs?: number;
  /** Default 5 min. */
  readonly approverTimeoutMs?: number;
  /** Life of a writ between mint and use. Default 5 min. */
  readonly writLifeMs?: number;
}

const FOUR_HOURS = 4 * 60 * 60 * 1000;
const FIVE_MINUTES = 5 * 60 * 1000;

/** What a parked request is called when its caller says nothing. */
const SUBJECTS: Readonly<Record<ActionKind, ApprovalSubject['kind']>> = {
  'shell.command': 'shell',
  'process.start': 'shell',
  'tool.call': 'run',
  'flight.engine': 'flight',
  'flight.take_off': 'flight',
  'mcp.call': 'mcp',
  'llm.call': 'llm',
};

const RECORD_TYPES: Readonly<Record<ApprovalAnswer['kind'], string>> = {
  approve: 'approval.given',
  deny: 'approval.rejected',
  modify: 'approval.modified',
  abandoned: 'approval.abandoned',
};

type Denied = Extract<Authorization, { outcome: 'denied' }>;

/** The request with its action frozen and judged, and the role a person would need. */
interface Judged {
  readonly request: AuthorizeRequest;
  readonly action: Action;
  readonly decision: Decision;
  readonly role: string | null;
}

export function createAuthority(options: AuthorityOptions): Authority {
  const { clock, ids, queue, approver, record } = options;

  const grant = (judged: Judged, grounds: WritGrounds, until = Number.POSITIVE_INFINITY): Writ => {
    const life = Math.min(options.writLifeMs ?? FIVE_MINUTES, until - clock.now().getTime());
    const expiresAt = clock.monotonic() + Math.max(0, life);
    return mint({ action: judged.action, grounds, expiresAt, now: () => clock.monotonic() });
  };

  /** Freezes, judges and settles the role; or the denial that ends it. */
  const consider = async (request: AuthorizeRequest): Promise<Judged | Denied> => {
    const action = frozenCopy(request.action);
    const nothing: Decision = { verdict: 'deny', method: 'most_restrictive', evaluations: [] };
    if (action === undefined) return denied(nothing, 'policy', 'the action has no canonical form');
    if (!Array.isArray(request.evaluators)) return denied(nothing, 'policy', 'nobody judged this action');
    if (!isDigest(request.policyDigest))
      return denied(nothing, 'policy', 'the policy in force has no digest');
    const timeout = options.evaluatorTimeoutMs ?? 5000;
    const decision = await judge(action, request.evaluators, timeout, request.aggregation);
    if (decision.verdict === 'deny') return denied(decision, 'policy', reasonOf(decision));
    const roles = new Set(
      decision.evaluations
        .filter((e) => e.verdict === 'require_approval')
        .flatMap((e) => e.requiredRole ?? []),
    );
    if (roles.size > 1)
      return denied(
        decision,
        'policy',
        `no one person can approve this: it needs ${[...roles].join(' and ')}`,
      );
    const [role = request.requiredRole ?? null] = roles;
    return { request, action, decision, role };
  };

  const authorize = async (request: AuthorizeRequest): Promise<Authorization> => {
    const judged = await consider(request);
    if ('outcome' in judged) return judged;
    const { decision } = judged;
    switch (decision.verdict) {
      case 'allow':
      case 'warn': {
        const grounds = { decision: decision.verdict, rules: rulesOf(decision) };
        return { outcome: 'granted', writ: grant(judged, grounds), decision };
      }
      case 'deny':
        return denied(decision, 'policy', reasonOf(decision));
      case 'require_approval':
        switch (request.whenApprovalNeeded) {
          case 'ask':
            return askPerson(judged);
          case 'park':
            return park(judged);
          case 'never':
            return denied(decision, 'nobody', `a person is needed: ${reasonOf(decision)}`);
        }
    }
    // Reached only with values the types rule out: closed, like everything unknown.
    return denied(decision, 'policy', 'the decision is not one of the four');
  };

  const askPerson = async (judged: Judged): Promise<Authorization> => {
    const { request, action, decision, role } = judged;
    const approvalId = ids.next('appr');
    const answer = await answerOf(judged, approvalId);
    const fact = {
      type: RECORD_TYPES[answer.kind],
      approval_id: approvalId,
      action_digest: actionDigest(action),
    };
    const kept = await recorded(record, { ...fact, requester: request.requester, ...whoOf(answer) });
    if (kept !== undefined) return denied(decision, 'nobody', kept, approvalId);
    switch (answer.kind) {
      case 'approve': {
        if (role !== null && answer.role !== role)
          return denied(decision, 'refused', `this needs the role ${role}`, approvalId);
        const approval = approvalOf(approvalId, answer);
        const grounds = approvedGrounds(decision, approval);
        return { outcome: 'granted', writ: grant(judged, grounds), decision, approval };
      }
      case 'deny':
        return denied(decision, 'person', answer.reason ?? `${answer.approver} said no`, approvalId);
      case 'modify':
        return { outcome: 'modified', replacement: answer.replacement, approver: answer.approver, decision };
      case 'abandoned':
        return denied(decision, 'nobody', answer.reason, approvalId);
    }
  };

  const answerOf = async (
    { request, action, decision }: Judged,
    approvalId: string,
  ): Promise<ApprovalAnswer> => {
    if (approver === undefined) return { kind: 'abandoned', reason: 'there is nobody to ask' };
    const modifiable = request.modifiable === true;
    const question = { action, decision, reasoning: request.reasoning, approvalId, modifiable };
    try {
      const ms = options.approverTimeoutMs ?? FIVE_MINUTES;
      const answer = await withTimeout(async (signal) => approver.ask(question, signal), ms, request.signal);
      if (answer.late) return { kind: 'abandoned', reason: 'nobody answered in time' };
      return readAnswer(answer.value, modifiable);
    } catch (error) {
      return { kind: 'abandoned', reason: `the question could not be asked: ${messageOf(error)}` };
    }
  };

  const park = async (judged: Judged): Promise<Authorization> => {
    const { request, action, decision } = judged;
    if (queue === undefined) return denied(decision, 'nobody', 'there is no queue to wait in');
    try {
      const parked = await queue.park({
        ...bindingOf(judged),
        action,
        subject: request.subject ?? { kind: SUBJECTS[action.kind] ?? 'run' },
        reason: reasonOf(decision),
        reasoning: request.reasoning,
        expiresInMs: lifeOf(request),
      });
      return { outcome: 'waiting', approvalId: parked.approval_id, decision };
    } catch (error) {
      return denied(decision, 'nobody', `the request could not be stored: ${messageOf(error)}`);
    }
  };

  const redeem = async (approvalId: string, request: AuthorizeRequest): Promise<Authorization> => {
    const judged = await consider(request);
    if ('outcome' in judged) return { ...judged, approvalId };
    const { decision } = judged;
    if (queue === undefined) return denied(decision, 'refused', 'there is no queue to look in', approvalId);
    try {
      const result = await queue.use(approvalId, bindingOf(judged));
      switch (result.kind) {
        case 'waiting':
          return { outcome: 'waiting', approvalId, decision };
        case 'rejected':
          return denied(
            decision,
            'person',
            result.approval.reason ?? `${result.approval.approver} said no`,
            approvalId,
          );
        case 'refused':
          return denied(decision, 'refused', `${result.check}: ${result.message}`, approvalId);
        case 'approved': {
          const grounds = approvedGrounds(decision, result.approval);
          const writ = grant(judged, grounds, result.expiresAt.getTime());
          return { outcome: 'granted', writ, decision, approval: result.approval };
        }
      }
    } catch (error) {
      return denied(decision, 'refused', `the approval could not be used: ${messageOf(error)}`, approvalId);
    }
  };

  return { authorize, redeem };
}

function frozenCopy(action: Action): Action | undefined {
  try {
    return frozenAction(action);
  } catch {
    return undefined;
  }
}

function bindingOf({ request, action, role }: Judged): Binding {
  return {
    actionDigest: actionDigest(action),
    policyDigest: request.policyDigest,
    planTokenHash: request.subject?.planTokenHash ?? null,
    requester: request.requester,
    requiredRole: role,
  };
}

function lifeOf(request: AuthorizeRequest): number {
  const wanted = request.expiresInMs ?? FOUR_HOURS;
  return Number.isFinite(wanted) && wanted > 0 ? wanted : 0;
}

function whoOf(answer: ApprovalAnswer) {
  return { approver: answer.kind === 'abandoned' ? null : answer.approver };
}

function denied(decision: Decision, by: Denied['by'], reason: string, approvalId?: string): Denied {
  return { outcome: 'denied', decision, by, reason, ...(approvalId === undefined ? {} : { approvalId }) };
}

/** Undefined when it is on record; otherwise why the answer does not count. */
async function recorded(
  sink: AuditSink | undefined,
  entry: Parameters<AuditSink['append']>[0],
): Promise<string | undefined> {
  try {
    await sink?.append(entry);
    return undefined;
  } catch (error) {
    return `the answer could not be recorded: ${messageOf(error)}`;
  }
}
