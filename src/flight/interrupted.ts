import { join, resolve } from 'node:path';
import { type JsonObject, sha256, type Writ } from '../core/index.ts';
import { endOrphans } from '../sandbox/index.ts';
import { checksOf, readCommandPlan, unlike, wordsOf } from './command-plan.ts';
import { engineArgv, freshTemp, probe } from './engine.ts';
import type { AuditEvent } from './events.ts';
import { probeGit } from './git-take-off.ts';
import type { FlightLog } from './log.ts';
import type { State } from './states.ts';
import {
  launchOptions,
  type Moved,
  plannedArtifacts,
  type StepContext,
  standing,
  stepRoot,
} from './step-context.ts';
import { transition } from './transition.ts';

/**
 * A take-off that was announced and has no outcome.
 *
 * IN1 Nothing of it is running any more when it is asked how it ended.
 * IN2 It is run again only when it is known that nothing was done: an approval that was not used, or a probe
 *     that says so. Otherwise a person settles it.
 */
export async function afterInterruption(context: StepContext): Promise<Moved> {
  const { deps, log, step } = context;
  await endLeftovers(context);
  const now = standing(context);
  const stored = now.approval_id ? deps.queue.get(now.approval_id) : undefined;
  if (now.decision === 'require_approval' && stored !== undefined && stored.status !== 'used') {
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

/** An engine whose orchestrator was killed ends before anything is judged or started anew. */
export async function endLeftovers(context: Pick<StepContext, 'log' | 'step'>): Promise<void> {
  const { log, step } = context;
  const ended = await endOrphans('CABINCREW_ARTIFACTS_DIR', join(stepRoot(context), 'artifacts'));
  if (ended > 0) log.commit([], [engineEnded(ended, standing(context).state, { step_id: step.id })]);
}

/** Sandboxes stand ready for steps that have not begun: whoever goes on with a flight ends those of all. */
export async function endAllLeftovers(log: FlightLog): Promise<void> {
  const ended = await endOrphans('CABINCREW_ARTIFACTS_DIR', log.paths.steps);
  if (ended > 0) log.commit([], [engineEnded(ended, log.record.state, {})]);
}

function engineEnded(count: number, state: State, workflow: { readonly step_id?: string }): AuditEvent {
  return {
    event_type: 'engine_ended',
    workflow_state: state,
    severity: 'warning',
    message: `${count} processes that the interruption had left running were ended`,
    workflow,
  };
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
    [{ ...transition(step.id, 'settled', state, patch), detail }],
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
  const { workflow, step, engine } = context;
  if (engine.kind === 'builtin' && engine.name === 'command') return askCheck(context);
  const { token } = standing(context);
  const options = launchOptions(context, 'take-off', freshTemp(stepRoot(context), 'take-off'), {
    runIndex: 0,
    workspaceHash: token?.workspace_hash ?? '',
    token: token?.token ?? '',
  });
  if (engine.kind === 'builtin' && engine.name === 'git') {
    const read = plannedArtifacts(context);
    return read.ok ? probeGit(context, options, read.value) : 'unknown';
  }
  const argv =
    step.probe !== undefined
      ? engineArgv({ kind: 'file', name: step.probe, file: resolve(workflow.folder, step.probe) })
      : engine.kind === 'builtin'
        ? [...engineArgv(engine), '--probe']
        : null;
  if (argv === null) return 'unknown';
  const writ = await probeWrit(context, argv);
  return writ === null ? 'unknown' : probe(writ, argv, options);
}

async function probeWrit(context: StepContext, argv: readonly string[]): Promise<Writ | null> {
  const { workflow, step, deps } = context;
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
  return answer.outcome === 'granted' ? answer.writ : null;
}

/** Commands have no probe but their checks: when all pass, what was wanted is there. */
async function askCheck(context: StepContext): Promise<'done' | 'unknown'> {
  const { deps, step, log } = context;
  const read = plannedArtifacts(context);
  const plan = read.ok ? readCommandPlan(read.value) : '';
  if (typeof plan === 'string' || deps.commands === undefined) return 'unknown';
  const checks = checksOf(plan);
  const why = {
    reasoning: `flight ${log.record.flightId}, step ${step.id}: was it done?`,
    approver: log.record.requester,
  };
  for (const check of checks) {
    const { exitCode, output, error } = await deps.commands.run(wordsOf(check), why);
    if (error !== null || exitCode !== 0 || unlike(check, output) !== null) return 'unknown';
  }
  return checks.length > 0 ? 'done' : 'unknown';
}
