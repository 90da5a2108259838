import { join, resolve } from 'node:path';
import { CODES, EXIT, type JsonObject, sha256, type Writ } from '../core/index.ts';
import { takeOffRequest } from './approval.ts';
import { readArtifacts } from './artifacts.ts';
import { readCommandPlan, runCommands } from './command-plan.ts';
import { engineArgv, engineInput, freshTemp, type Launched, launch, probe } from './engine.ts';
import { failFlight } from './fail.ts';
import { performGit, probeGit } from './git-take-off.ts';
import type { LogEntry } from './log.ts';
import { PROTOCOL_VERSION, type Receipt } from './protocol.ts';
import type { State } from './states.ts';
import {
  auditEngine,
  clean,
  engineOf,
  launchOptions,
  type Moved,
  type StepContext,
  standing,
  stepRoot,
} from './step.ts';
import { verifyToken } from './verify-token.ts';

/**
 * Take-off: only what was judged, once.
 *
 * TO1 The token is verified, then the intent is on disk, then the writ is had, then the engine starts.
 * TO2 An intent without an outcome is `unknown`. It is run again only when it is known that nothing was done:
 *     an approval not yet used, or a probe that says so. Otherwise a person settles it.
 */
export async function takeOff(context: StepContext): Promise<Moved> {
  const { log, step } = context;
  const id = step.id;
  if (standing(context).state === 'TAKEOFF_RUNNING') return afterInterruption(context);
  if (!(await verifyToken(context))) return 'on';
  const toReady: readonly LogEntry[] =
    standing(context).state === 'APPROVED' ? [entry(id, 'ready', 'READY_FOR_TAKEOFF')] : [];
  log.commit(
    [...toReady, entry(id, 'take-off', 'TAKEOFF_RUNNING', { unknown: false })],
    [
      {
        event_type: 'take_off_started',
        workflow_state: 'TAKEOFF_RUNNING',
        message: `${step.engine} in take-off mode`,
        workflow: { step_id: id, mode: 'take-off' },
      },
    ],
  );
  const writ = await takeOffWrit(context);
  if (typeof writ === 'string') {
    failFlight(log, id, {
      code: CODES.denied_approval_refused,
      message: `step ${id}: ${clean(context, writ)}`,
      exit: EXIT.denied,
    });
    return 'on';
  }
  const launched = await perform(context, writ);
  const audited = launched.receipt === undefined ? {} : { engine: auditEngine(context, launched.receipt) };
  const problem = launched.ok ? receiptMistake(context, launched.receipt) : launched.reason;
  log.commit(problem === null ? [entry(id, 'take-off-completed', 'EXECUTION_COMPLETE')] : [], [
    {
      event_type: 'take_off_completed',
      workflow_state: problem === null ? 'EXECUTION_COMPLETE' : 'TAKEOFF_RUNNING',
      severity: problem === null ? 'info' : 'error',
      message: problem === null ? 'take-off completed' : clean(context, problem),
      workflow: { step_id: id, mode: 'take-off' },
      ...audited,
    },
  ]);
  if (problem !== null)
    failFlight(log, id, {
      code: CODES.tool_failed,
      message: `step ${id}: take-off: ${clean(context, problem)}`,
      exit: EXIT.failed,
    });
  return 'on';
}

async function takeOffWrit(context: StepContext): Promise<Writ | string> {
  const { authority } = context;
  const { approval_id: approvalId, decision } = standing(context);
  const request = takeOffRequest(context);
  const answer =
    decision === 'require_approval'
      ? await authority.redeem(approvalId ?? '', request)
      : await authority.authorize({ ...request, whenApprovalNeeded: 'never' });
  if (answer.outcome === 'granted') return answer.writ;
  return answer.outcome === 'denied' ? answer.reason : 'the approval is not there';
}

async function perform(context: StepContext, writ: Writ): Promise<Launched> {
  const { step, workflow, log } = context;
  const engine = engineOf(context);
  if (engine.kind === 'builtin' && engine.name === 'command') return performCommands(context, writ);
  const { token, runs = 1 } = standing(context);
  const input = engineInput({
    workflow,
    step,
    mode: 'take-off',
    runIndex: runs - 1,
    workspaceHash: token?.workspace_hash ?? '',
    salt: sha256(`${log.record.flightId}/${step.id}`),
    token: token?.token ?? '',
  });
  const options = launchOptions(context, 'take-off', freshTemp(stepRoot(context)), input);
  if (engine.kind === 'builtin' && engine.name === 'git') {
    const read = plannedArtifacts(context);
    return read.ok ? performGit(context, writ, options, read.value) : { ok: false, reason: read.reason };
  }
  return launch(writ, options);
}

function plannedArtifacts(context: StepContext) {
  return readArtifacts(join(stepRoot(context), 'artifacts'), standing(context).receipt?.artifacts ?? []);
}

/** A `command` step is performed by the shell, word for word from the verified artifact. */
async function performCommands(context: StepContext, writ: Writ): Promise<Launched> {
  const { deps, step, log } = context;
  const { receipt, approver } = standing(context);
  const read = readArtifacts(join(stepRoot(context), 'artifacts'), receipt?.artifacts ?? []);
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
  const read = readArtifacts(join(stepRoot(context), 'artifacts'), planned?.artifacts ?? []);
  return read.ok ? null : `the artifacts changed during take-off: ${read.reason}`;
}

async function afterInterruption(context: StepContext): Promise<Moved> {
  const { deps, log, step } = context;
  const now = standing(context);
  const stored = now.approval_id ? deps.queue.get(now.approval_id) : undefined;
  if (now.decision === 'require_approval' && stored?.status === 'approved') {
    moved(context, 'APPROVED', 'the approval was not used yet: nothing had been started');
    return 'on';
  }
  const found = await ask(context);
  if (found === 'done') {
    moved(context, 'EXECUTION_COMPLETE', 'interrupted, and the probe says it was done');
    return 'on';
  }
  if (found === 'not_done') {
    moved(context, 'PREFLIGHT_COMPLETE', 'interrupted, and the probe says nothing was done');
    return 'on';
  }
  if (now.unknown !== true)
    log.commit(
      [
        {
          entry_type: 'step_started',
          data: { step_id: step.id, step_type: 'unknown' },
          change: { step: step.id, patch: { unknown: true } },
        },
      ],
      [
        {
          event_type: 'take_off_unknown',
          workflow_state: 'TAKEOFF_RUNNING',
          severity: 'critical',
          message:
            'the take-off was interrupted and nobody knows whether it happened: a person must settle it',
          workflow: { step_id: step.id, mode: 'take-off' },
        },
      ],
    );
  return 'waiting';
}

export function moved(
  context: Pick<StepContext, 'log' | 'step'>,
  state: State,
  message: string,
  detail: JsonObject = {},
): void {
  const { log, step } = context;
  const patch: JsonObject =
    state === 'PREFLIGHT_COMPLETE' ? { unknown: false, approval_id: '' } : { unknown: false };
  log.commit(
    [{ ...entry(step.id, 'settled', state, patch), detail }],
    [
      {
        event_type: 'take_off_settled',
        workflow_state: state,
        severity: 'warning',
        message,
        workflow: { step_id: step.id, mode: 'take-off' },
      },
    ],
  );
}

/** Asks the step's probe, or the engine's own. */
async function ask(context: StepContext): Promise<'done' | 'not_done' | 'unknown'> {
  const { workflow, step, log, deps } = context;
  const engine = engineOf(context);
  if (engine.kind === 'builtin' && engine.name === 'command') return askCheck(context);
  if (engine.kind === 'builtin' && engine.name === 'git') {
    const read = plannedArtifacts(context);
    const options = launchOptions(context, 'take-off', freshTemp(stepRoot(context)), {});
    return read.ok ? probeGit(context, options, read.value) : 'unknown';
  }
  const argv =
    step.probe !== undefined
      ? engineArgv({ kind: 'file', name: step.probe, file: resolve(workflow.folder, step.probe) })
      : engine.kind === 'builtin'
        ? [...engineArgv(engine), '--probe']
        : null;
  if (argv === null) return 'unknown';
  const answer = await context.authority.authorize({
    action: {
      kind: 'flight.engine',
      subject: `${workflow.value.id}/${step.id} probe`,
      detail: { argv: [...argv], cwd: workflow.workspace },
    },
    evaluators: [
      {
        name: 'flight',
        evaluate: () => ({
          evaluator: 'flight',
          verdict: 'allow',
          rule: 'probe',
          reason: 'a probe can only look',
        }),
      },
    ],
    reasoning: 'probe after an interruption',
    requester: deps.requester,
    policyDigest: sha256('probe'),
    whenApprovalNeeded: 'never',
  });
  if (answer.outcome !== 'granted') return 'unknown';
  const { token } = standing(context);
  const input = engineInput({
    workflow,
    step,
    mode: 'take-off',
    runIndex: 0,
    workspaceHash: token?.workspace_hash ?? '',
    salt: sha256(`${log.record.flightId}/${step.id}`),
    token: token?.token ?? '',
  });
  return probe(answer.writ, argv, launchOptions(context, 'take-off', freshTemp(stepRoot(context)), input));
}

/** Commands have no probe but the check: when it passes, what was wanted is there. */
async function askCheck(context: StepContext): Promise<'done' | 'unknown'> {
  const { deps, step, log } = context;
  const read = readArtifacts(
    join(stepRoot(context), 'artifacts'),
    standing(context).receipt?.artifacts ?? [],
  );
  const plan = read.ok ? readCommandPlan(read.value) : '';
  if (typeof plan === 'string' || plan.check === undefined || deps.commands === undefined) return 'unknown';
  const why = {
    reasoning: `flight ${log.record.flightId}, step ${step.id}: was it done?`,
    approver: log.record.requester,
  };
  const { exitCode, error } = await deps.commands.run(plan.check, why);
  return error === null && exitCode === 0 ? 'done' : 'unknown';
}

function entry(step: string, type: string, state: State, patch: JsonObject = {}): LogEntry {
  return {
    entry_type: 'step_started',
    data: { step_id: step, step_type: type },
    change: { step, state, patch },
  };
}
