import { CODES, type Digest, EXIT, type JsonObject, sha256, type Writ } from '../core/index.ts';
import { type Artifact, readArtifacts } from './artifacts.ts';
import { engineArgv, engineHash, type Launched, launch } from './engine.ts';
import type { AuditEvent } from './events.ts';
import { failFlight } from './fail.ts';
import { endLeftovers } from './interrupted.ts';
import type { LogEntry } from './log.ts';
import type { Receipt } from './protocol.ts';
import {
  auditEngine,
  clean,
  isolationOf,
  launchOptions,
  type Moved,
  modelOf,
  type StepContext,
  standing,
  workspaceNow,
} from './step-context.ts';
import { planTerraform } from './terraform.ts';
import { planToken, tokenParts } from './token.ts';
import { stepConfig } from './workflow.ts';

/**
 * Flight-plan: the engine describes, what it left is checked, the token is made of it.
 *
 * PL1 Fresh folders each time: a plan that a crash cut short is made again from nothing.
 * PL2 The workspace is the same before and after, isolation or not.
 */
export async function plan(context: StepContext): Promise<Moved> {
  const { log, step, engine } = context;
  const runs = standing(context).runs ?? 0;
  if (runs > 0) await endLeftovers(context);
  log.commit(
    [
      {
        entry_type: 'step_started',
        data: { step_id: step.id, step_type: 'flight-plan' },
        change: { step: step.id, state: 'PLAN_RUNNING', patch: { runs: runs + 1 } },
      },
    ],
    [],
  );
  const before = workspaceNow(context);
  const { folders, ready } = await context.standby.take(context, 'flight-plan');
  log.commit(
    [],
    [
      planEvent(context, {
        event_type: 'environment_prepared',
        workflow_state: 'PLAN_RUNNING',
        message: `fresh artifacts and temporary folders, isolation ${isolationOf(context)}`,
      }),
      planEvent(context, {
        event_type: 'engine_launched',
        workflow_state: 'PLAN_RUNNING',
        message: `${step.engine} in flight-plan mode`,
      }),
    ],
  );
  const told = { runIndex: runs, workspaceHash: before };
  const options = launchOptions(context, 'flight-plan', folders, told);
  const writ = await planWrit(context);
  const launching =
    engine.kind === 'builtin' && engine.name === 'terraform'
      ? planTerraform(context, writ, options)
      : launch(writ, options, ready);
  context.standby.prepareAfter(context, 'flight-plan');
  const launched = await launching;
  const after = workspaceNow(context);
  if (before !== after) return workspaceChanged(context, launched);
  if (!launched.ok) return engineFailed(context, launched);
  const { receipt } = launched;
  const read = readArtifacts(folders.artifacts, receipt.artifacts ?? []);
  if (!read.ok) return artifactsInvalid(context, receipt, read.reason);
  await planned(context, receipt, read.value, after);
  return 'on';
}

/** A launch in flight-plan mode: what it may do is decided by where it is shut in. */
async function planWrit(context: StepContext): Promise<Writ> {
  const { authority, workflow, step, log, engine } = context;
  const isolation = isolationOf(context);
  const answer = await authority.authorize({
    action: {
      kind: 'flight.engine',
      subject: `${workflow.value.id}/${step.id} flight-plan`,
      detail: {
        argv: [...engineArgv(engine)],
        cwd: workflow.workspace,
        flight_id: log.record.flightId,
        isolation,
      },
    },
    evaluators: [
      {
        name: 'flight',
        evaluate: () => ({
          evaluator: 'flight',
          verdict: isolation === 'none' ? ('warn' as const) : ('allow' as const),
          rule: 'flight-plan',
          reason:
            isolation === 'none' ? 'a plan without isolation, checked by hash' : 'a plan can only describe',
        }),
      },
    ],
    reasoning: 'flight-plan',
    requester: log.record.requester,
    policyDigest: sha256('flight-plan'),
    whenApprovalNeeded: 'never',
  });
  if (answer.outcome !== 'granted') throw new Error('a flight-plan launch was not granted');
  return answer.writ;
}

/** The token over all that was described, and the record of how it came about. */
async function planned(
  context: StepContext,
  given: Receipt,
  artifacts: readonly Artifact[],
  workspaceHash: Digest,
): Promise<void> {
  const { log, step, workflow, engine, judges, deps } = context;
  const receipt = cleanReceipt(context, given);
  const parts = tokenParts({
    artifacts,
    workspaceHash,
    engineId: receipt.engine_id,
    engineHash: engineHash(engine),
    protocolVersion: receipt.protocol_version,
    config: stepConfig(workflow, step),
    policyDigest: (await judges.of(step)).digest,
    model: modelOf(step),
  });
  const token = planToken(parts, deps.clock.now().toISOString());
  const stage = (
    type: string,
    state: 'PLAN_GENERATED' | 'ARTIFACTS_VALIDATED' | 'TOKEN_CREATED',
    patch: object = {},
  ): LogEntry => ({
    entry_type: 'step_started',
    data: { step_id: step.id, step_type: type },
    change: { step: step.id, state, patch: JSON.parse(JSON.stringify(patch)) as JsonObject },
  });
  log.commit(
    [
      stage('plan-generated', 'PLAN_GENERATED', { receipt }),
      ...artifacts.map(
        (a): LogEntry => ({
          entry_type: 'artifact_created',
          data: {
            artifact_id: `${step.id}/${a.name}`,
            artifact_hash: a.hash,
            artifact_type: clean(context, a.document.artifact_type),
          },
          change: { step: step.id },
        }),
      ),
      stage('artifacts-validated', 'ARTIFACTS_VALIDATED'),
      stage('token-created', 'TOKEN_CREATED', { parts, token }),
    ],
    [
      engineCompleted(context, 'PLAN_GENERATED', 'flight-plan completed', given),
      planEvent(context, {
        event_type: 'artifacts_validated',
        workflow_state: 'ARTIFACTS_VALIDATED',
        message: `${artifacts.length} artifacts`,
        artifacts: artifacts.map(auditArtifact),
      }),
      planEvent(context, {
        event_type: 'plan_token_created',
        workflow_state: 'TOKEN_CREATED',
        message: `plan-token ${token.token}`,
        plan_token: { ...token } as unknown as JsonObject,
      }),
    ],
  );
}

function workspaceChanged(context: StepContext, launched: Launched): Moved {
  const { log, step } = context;
  if (launched.receipt !== undefined)
    log.commit([], [engineCompleted(context, 'PLAN_RUNNING', 'flight-plan completed', launched.receipt)]);
  failFlight(
    log,
    step.id,
    {
      code: CODES.integrity_broken,
      message: `step ${step.id}: the workspace changed during flight-plan`,
      exit: EXIT.integrity,
    },
    {
      severity: 'critical',
      integrity_check: { artifacts_match: true, differences: ['the workspace changed'] },
    },
  );
  return 'on';
}

function engineFailed(context: StepContext, launched: Extract<Launched, { ok: false }>): Moved {
  const { log, step } = context;
  const message = clean(context, launched.reason);
  log.commit([], [engineCompleted(context, 'PLAN_RUNNING', message, launched.receipt, 'error')]);
  failFlight(log, step.id, {
    code: CODES.tool_failed,
    message: `step ${step.id}: ${message}`,
    exit: EXIT.failed,
  });
  return 'on';
}

function artifactsInvalid(context: StepContext, receipt: Receipt, reason: string): Moved {
  const { log, step } = context;
  log.commit([], [engineCompleted(context, 'PLAN_RUNNING', 'flight-plan completed', receipt)]);
  failFlight(
    log,
    step.id,
    {
      code: CODES.tool_failed,
      message: `step ${step.id}: invalid artifacts: ${clean(context, reason)}`,
      exit: EXIT.failed,
    },
    { event_type: 'artifacts_invalid', severity: 'critical' },
  );
  return 'on';
}

function engineCompleted(
  context: StepContext,
  state: AuditEvent['workflow_state'],
  message: string,
  receipt: Receipt | undefined,
  severity: 'info' | 'error' = 'info',
): AuditEvent {
  return planEvent(context, {
    event_type: 'engine_completed',
    workflow_state: state,
    severity,
    message,
    ...(receipt === undefined ? {} : { engine: auditEngine(context, receipt) }),
  });
}

function planEvent({ step }: StepContext, event: AuditEvent): AuditEvent {
  return { ...event, workflow: { step_id: step.id, mode: 'flight-plan' } };
}

/** Receipts are kept without what the engine was given in confidence; what is hashed stays as it is. */
function cleanReceipt(context: StepContext, receipt: Receipt): Receipt {
  const said = (text: string) => clean(context, text);
  const { diagnostics: _, ...rest } = receipt;
  return {
    ...rest,
    ...(receipt.error === undefined ? {} : { error: said(receipt.error) }),
    ...(receipt.warnings === undefined ? {} : { warnings: receipt.warnings.map(said) }),
  };
}

function auditArtifact(a: Artifact): JsonObject {
  return { name: a.name, role: a.role, path: a.name, hash: a.hash, size: a.size };
}
