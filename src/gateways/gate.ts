import type { Authority, Authorization, AuthorizeRequest, DurableApprovalQueue } from '../authority/index.ts';
import { actionDigest, type Clock, type Decision } from '../core/index.ts';

/**
 * The road of a gateway's request through authority, with the wait for a person.
 *
 * G1 A call that needs a person is parked durably first; then this very call waits, as long as it may.
 * G2 The same call again (same caller, same action, same policy) finds the request it left and, once a
 *    person said yes, goes through exactly once.
 * G3 Whatever goes wrong is a denial.
 */
export interface Gate {
  pass(request: GateRequest, wait: Wait): Promise<Passed>;
}

export type GateRequest = Omit<AuthorizeRequest, 'whenApprovalNeeded'>;

export interface Wait {
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** Called when the call is parked and then about once a second, to keep the client's line open. */
  readonly tick?: (approvalId: string) => void;
}

export type Passed = Exclude<Authorization, { readonly outcome: 'modified' }>;

const POLL_MS = 100;

export function createGate(deps: {
  readonly authority: Authority;
  readonly queue?: DurableApprovalQueue;
  readonly clock: Clock;
}): Gate {
  const { authority, queue, clock } = deps;

  const openRequest = (request: GateRequest): string | undefined => {
    const digest = actionDigest(request.action);
    const fits = (queue?.list() ?? []).filter(
      (a) =>
        (a.status === 'pending' || a.status === 'approved') &&
        a.action_digest === digest &&
        a.requester === request.requester &&
        a.policy_digest === request.policyDigest,
    );
    return (fits.find((a) => a.status === 'approved') ?? fits[0])?.approval_id;
  };

  const waitFor = async (
    approvalId: string,
    request: GateRequest,
    wait: Wait,
    decision: Decision,
  ): Promise<Passed> => {
    const until = clock.monotonic() + wait.forMs;
    for (let turn = 0; ; turn++) {
      // Asking the queue is cheap; the whole road is walked again only when somebody answered.
      // Whoever is no longer there does not use up the yes that others gave.
      if (wait.signal.aborted) return { outcome: 'waiting', approvalId, decision };
      const status = queue?.get(approvalId)?.status;
      if (status !== 'pending') return narrowed(await authority.redeem(approvalId, parked(request)));
      if (turn % 10 === 0) wait.tick?.(approvalId);
      if (clock.monotonic() >= until) {
        // Derived again, so that what is told to the caller is what is true now.
        return narrowed(await authority.redeem(approvalId, parked(request)));
      }
      await clock.sleep(POLL_MS, wait.signal).catch(() => undefined);
    }
  };

  return {
    pass: async (request, wait) => {
      const first = await authority.authorize({ ...request, whenApprovalNeeded: 'never' });
      if (first.outcome !== 'denied' || first.by !== 'nobody' || queue === undefined) return narrowed(first);
      if (first.decision.verdict !== 'require_approval') return first;
      const known = openRequest(request);
      if (known !== undefined) return waitFor(known, request, wait, first.decision);
      const left = narrowed(await authority.authorize(parked(request)));
      return left.outcome === 'waiting' ? waitFor(left.approvalId, request, wait, left.decision) : left;
    },
  };
}

const parked = (request: GateRequest): AuthorizeRequest => ({ ...request, whenApprovalNeeded: 'park' });

/** Nothing here may be modified by its approver; an answer that did so counts as a no. */
function narrowed(answer: Authorization): Passed {
  return answer.outcome === 'modified'
    ? { outcome: 'denied', decision: answer.decision, by: 'refused', reason: 'a call cannot be modified' }
    : answer;
}
