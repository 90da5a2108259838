import { CODES, type Decision, EXIT, type Writ } from '../core/index.ts';
import { takeOffRequest } from './approval.ts';
import { readCommandPlan } from './command-plan.ts';
import { type Launched, launch } from './engine.ts';
import { failFlight } from './fail.ts';
import { performGit } from './git-take-off.ts';
import { decide, policyOf } from './judge.ts';
import type { LogEntry } from './log.ts';
import { PROTOCOL_VERSION, type Receipt } from './protocol.ts';
import { runCommands } from './run-commands.ts';
import {
  auditEngine,
  clean,
  launchOptions,
  type Moved,
  plannedArtifacts,
  type StepContext,
  standing,
} from './step-context.ts';
import { performTerraform } from './terraform.ts';
import { transition } from './transition.ts';
import { verifyToken } from './verify-token.ts';

/**
 * Take-off: only what was judged, once.
 *
 * TO1 The token is verified and everyone asked again; then the intent is on disk, then the writ is had, then
 *     the engine starts.
 * TO2 Judges that answer otherwise than before stop it: nobody approved that.
 */
export async function takeOff(context: StepContext): Promise<Moved> {
  const { log, step } = context;
  const id = step.id;
  const verified = await verifyToken(context);
  if (verified === null) return 'on';
  const decision = await decide(context, verified);
  if (decision.verdict !== standing(context).decision) return answeredOtherwise(context, decision);
  const toReady: readonly LogEntry[] =
    standing(context).state === 'APPROVED' ? [transition(id, 'ready', 'READY_FOR_TAKEOFF')] : [];
  log.commit(
    [...toReady, transition(id, 'take-off', 'TAKEOFF_RUNNING', { unknown: false })],
    [
      {
        event_type: 'policy_reevaluated',
        workflow_state: 'READY_FOR_TAKEOFF',
        message: `asked again, everyone says ${decision.verdict}`,
        workflow: { step_id: id, mode: 'take-off' },
        policy: policyOf(context, decision, 'READY_FOR_TAKEOFF'),
      },
      {
        event_type: 'take_off_started',
        workflow_state: 'TAKEOFF_RUNNING',
        message: `${step.engine} in take-off mode`,
        workflow: { step_id: id, mode: 'take-off' },
      },
    ],
  );
  const writ = await takeOffWrit(context, decision);
  if (typeof writ === 'string') {
    failFlight(log, id, {
      code: CODES.denied_approval_refused,
      message: `step ${id}: ${clean(context, writ)}`,
      exit: EXIT.denied,
    });
    return 'on';
  }
  landed(context, await perform(context, writ));
  return 'on';
}

/** How it ended, on record before anything else is done. */
function landed(context: StepContext, launched: Launched): void {
  const { log, step } = context;
  const problem = launched.ok ? receiptMistake(context, launched.receipt) : launched.reason;
  const message = problem === null ? 'take-off completed' : clean(context, problem);
  log.commit(problem === null ? [transition(step.id, 'take-off-completed', 'EXECUTION_COMPLETE')] : [], [
    {
      event_type: 'take_off_completed',
      workflow_state: problem === null ? 'EXECUTION_COMPLETE' : 'TAKEOFF_RUNNING',
      severity: problem === null ? 'info' : 'error',
      message,
      workflow: { step_id: step.id, mode: 'take-off' },
      ...(launched.receipt === undefined ? {} : { engine: auditEngine(context, launched.receipt) }),
    },
  ]);
  if (problem !== null)
    failFlight(log, step.id, {
      code: CODES.tool_failed,
      message: `step ${step.id}: take-off: ${message}`,
      exit: EXIT.failed,
    });
}

function answeredOtherwise(context: StepContext, now: Decision): Moved {
  const { log, step } = context;
  const before = standing(context).decision;
  const why = now.evaluations.filter((e) => e.verdict === now.verdict).map((e) => e.reason);
  failFlight(
    log,
    step.id,
    {
      code: CODES.denied,
      message: `step ${step.id}: asked again before take-off, the policies say ${now.verdict} where they said ${before}: ${why.join('; ')}`,
      exit: EXIT.denied,
    },
    { event_type: 'policy_reevaluated', policy: policyOf(context, now, 'FAILED') },
  );
  return 'on';
}

async function takeOffWrit(context: StepContext, decision: Decision): Promise<Writ | string> {
  const { authority } = context;
  const request = takeOffRequest(context, decision.evaluations);
  const answer =
    decision.verdict === 'require_approval'
      ? await authority.redeem(standing(context).approval_id ?? '', request)
      : await authority.authorize({ ...request, whenApprovalNeeded: 'never' });
  if (answer.outcome === 'granted') return answer.writ;
  return answer.outcome === 'denied' ? answer.reason : 'the approval is not there';
}

async function perform(context: StepContext, writ: Writ): Promise<Launched> {
  const { engine } = context;
  if (engine.kind === 'builtin' && engine.name === 'command') return performCommands(context, writ);
  const { token, runs = 1 } = standing(context);
  const { folders, ready } = await context.standby.take(context, 'take-off');
  const options = launchOptions(context, 'take-off', folders, {
    runIndex: runs - 1,
    workspaceHash: token?.workspace_hash ?? '',
    token: token?.token ?? '',
  });
  if (engine.kind === 'file' || engine.name === 'files') {
    const launching = launch(writ, options, ready);
    context.standby.prepareAfter(context, 'take-off');
    return launching;
  }
  const read = plannedArtifacts(context);
  if (!read.ok) return { ok: false, reason: read.reason };
  const performed = engine.name === 'git' ? performGit : performTerraform;
  return performed(context, writ, options, read.value);
}

/** A `command` step is performed by the shell, word for word from the verified artifact. */
async function performCommands(context: StepContext, writ: Writ): Promise<Launched> {
  const { deps, step, log } = context;
  const { receipt, approver } = standing(context);
  const read = plannedArtifacts(context);
  const plan = read.ok ? readCommandPlan(read.value) : read.reason;
  if (typeof plan === 'string') return { ok: false, reason: plan };
  if (deps.commands === undefined) return { ok: false, reason: 'there is no shell to run commands with' };
  writ.use(writ.action);
  const why = {
    reasoning: `flight ${log.record.flightId}, step ${step.id}`,
    approver: approver ?? log.record.requester,
  };
  const done = await runCommands(plan, deps.commands, why);
  const base = {
    protocol_version: PROTOCOL_VERSION,
    engine_id: receipt?.engine_id ?? 'writ/command',
    mode: 'take-off' as const,
    receipt_id: `${log.record.flightId}/${step.id}/take-off`,
  };
  if (done.ok) return { ok: true, receipt: { ...base, status: 'success' } };
  return { ok: false, reason: done.reason, receipt: { ...base, status: 'failure', error: done.reason } };
}

/** A take-off names no artifacts, or the very same; and it comes from the engine that made the plan. */
function receiptMistake(context: StepContext, receipt: Receipt): string | null {
  const { receipt: planned } = standing(context);
  if (receipt.engine_id !== planned?.engine_id)
    return `the receipt is of engine ${receipt.engine_id}, the plan of ${planned?.engine_id}`;
  const key = (r: Receipt | undefined) =>
    (r?.artifacts ?? [])
      .map((a) => `${a.name}\0${a.role}\0${a.hash.replace(/^sha256:/, '')}`)
      .sort()
      .join('\n');
  if ((receipt.artifacts ?? []).length > 0 && key(receipt) !== key(planned))
    return 'the take-off receipt names other artifacts than the plan';
  const read = plannedArtifacts(context);
  return read.ok ? null : `the artifacts changed during take-off: ${read.reason}`;
}
