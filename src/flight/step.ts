import { join } from 'node:path';
import type { Authority } from '../authority/index.ts';
import { CODES, type Digest, EXIT, type JsonObject, sha256, type Writ } from '../core/index.ts';
import { awaitApproval, requestApproval } from './approval.ts';
import { type Artifact, readArtifacts } from './artifacts.ts';
import { commandsOf } from './command-plan.ts';
import type { FlightDeps } from './deps.ts';
import {
  engineArgv,
  engineHash,
  engineInput,
  freshFolders,
  type LaunchOptions,
  launch,
  withoutSecrets,
} from './engine.ts';
import { auditPolicy } from './events.ts';
import { failFlight } from './fail.ts';
import type { FlightLog, LogEntry } from './log.ts';
import { judgesOf, policyDigest, preflight } from './preflight.ts';
import type { Receipt } from './protocol.ts';
import type { StepRecord } from './record.ts';
import { takeOff } from './take-off.ts';
import { planToken, tokenParts } from './token.ts';
import { verifyToken } from './verify-token.ts';
import {
  type LoadedWorkflow,
  type ResolvedEngine,
  resolveEngine,
  type Step,
  stepConfig,
} from './workflow.ts';
import { workspaceHash } from './workspace-hash.ts';

/** One step, moved on from wherever it stands. */
export interface StepContext {
  readonly deps: FlightDeps;
  readonly workflow: LoadedWorkflow;
  readonly log: FlightLog;
  readonly authority: Authority;
  readonly step: Step;
}

export type Moved = 'on' | 'waiting';

export async function advanceStep(context: StepContext): Promise<Moved> {
  const { state } = standing(context);
  switch (state) {
    case 'INIT':
    case 'PLAN_RUNNING':
    case 'PLAN_GENERATED':
    case 'ARTIFACTS_VALIDATED':
      return plan(context);
    case 'TOKEN_CREATED':
    case 'PRE_FLIGHT_RUNNING':
      return judge(context);
    case 'PREFLIGHT_COMPLETE':
      return requestApproval(context);
    case 'AWAITING_APPROVAL':
      return awaitApproval(context);
    case 'APPROVED':
    case 'READY_FOR_TAKEOFF':
    case 'TAKEOFF_RUNNING':
      return takeOff(context);
    case 'EXECUTION_COMPLETE':
      return complete(context);
    case 'COMPLETED':
    case 'FAILED':
      return 'on';
  }
}

export function standing({ log, step }: StepContext): StepRecord {
  return log.record.steps.find((s) => s.id === step.id) ?? { id: step.id, state: 'INIT' };
}

export function secretsOf({ deps, step }: StepContext): Record<string, string> {
  return Object.fromEntries((step.secrets ?? []).map((name) => [name, deps.env[name] ?? '']));
}

export function stepRoot({ log, step }: StepContext): string {
  return join(log.paths.steps, step.id);
}

export function engineOf({ workflow, step }: StepContext): ResolvedEngine {
  const engine = resolveEngine(workflow.folder, step.engine);
  if (engine === undefined) throw new Error(`engine ${step.engine} does not exist any more`);
  return engine;
}

export function isolationOf({ workflow, step }: StepContext): 'bubblewrap' | 'none' {
  return step.isolation ?? workflow.value.isolation ?? 'bubblewrap';
}

export function workspaceNow({ deps, workflow }: StepContext): Digest {
  return workspaceHash({ folder: workflow.workspace, except: hiddenOf(deps) });
}

export function hiddenOf(deps: FlightDeps): readonly string[] {
  return [deps.ledger.stateDir, ...(deps.hidden ?? [])];
}

export function launchOptions(
  context: StepContext,
  mode: LaunchOptions['mode'],
  folders: LaunchOptions['folders'],
  input: JsonObject,
): LaunchOptions {
  const { deps, workflow, step } = context;
  return {
    workflow,
    step,
    engine: engineOf(context),
    mode,
    folders,
    hidden: hiddenOf(deps),
    isolation: isolationOf(context),
    secrets: secretsOf(context),
    input,
    ...(deps.signal === undefined ? {} : { signal: deps.signal }),
  };
}

/** A launch in flight-plan mode: what it may do is decided by where it is shut in. */
async function planWrit(context: StepContext): Promise<Writ> {
  const { authority, workflow, step, log } = context;
  const isolation = isolationOf(context);
  const argv = engineArgv(engineOf(context));
  const answer = await authority.authorize({
    action: {
      kind: 'flight.engine',
      subject: `${workflow.value.id}/${step.id} flight-plan`,
      detail: { argv: [...argv], cwd: workflow.workspace, flight_id: log.record.flightId, isolation },
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

async function plan(context: StepContext): Promise<Moved> {
  const { log, step, workflow } = context;
  const id = step.id;
  const runs = standing(context).runs ?? 0;
  const before = workspaceNow(context);
  const folders = freshFolders(stepRoot(context));
  const where = { step_id: id, mode: 'flight-plan' };
  log.commit(
    [
      {
        entry_type: 'step_started',
        data: { step_id: id, step_type: 'flight-plan' },
        change: { step: id, state: 'PLAN_RUNNING', patch: { runs: runs + 1 } },
      },
    ],
    [
      {
        event_type: 'environment_prepared',
        workflow_state: 'PLAN_RUNNING',
        message: `fresh artifacts and temporary folders, isolation ${isolationOf(context)}`,
        workflow: where,
      },
      {
        event_type: 'engine_launched',
        workflow_state: 'PLAN_RUNNING',
        message: `${step.engine} in flight-plan mode`,
        workflow: where,
      },
    ],
  );
  const salt = sha256(`${log.record.flightId}/${id}`);
  const input = engineInput({
    workflow,
    step,
    mode: 'flight-plan',
    runIndex: runs,
    workspaceHash: before,
    salt,
  });
  const launched = await launch(
    await planWrit(context),
    launchOptions(context, 'flight-plan', folders, input),
  );
  const after = workspaceNow(context);
  const audited = launched.receipt === undefined ? {} : { engine: auditEngine(context, launched.receipt) };
  if (before !== after) {
    failFlight(
      log,
      id,
      {
        code: CODES.integrity_broken,
        message: `step ${id}: the workspace changed during flight-plan`,
        exit: EXIT.integrity,
      },
      {
        severity: 'critical',
        integrity_check: { artifacts_match: true, differences: ['the workspace changed'] },
      },
    );
    return 'on';
  }
  if (!launched.ok) {
    log.commit(
      [],
      [
        {
          event_type: 'engine_completed',
          workflow_state: 'PLAN_RUNNING',
          severity: 'error',
          message: clean(context, launched.reason),
          workflow: where,
          ...audited,
        },
      ],
    );
    failFlight(log, id, {
      code: CODES.tool_failed,
      message: `step ${id}: ${clean(context, launched.reason)}`,
      exit: EXIT.failed,
    });
    return 'on';
  }
  const read = readArtifacts(folders.artifacts, launched.receipt.artifacts ?? []);
  const receipt = cleanReceipt(context, launched.receipt);
  if (!read.ok) {
    failFlight(
      log,
      id,
      {
        code: CODES.tool_failed,
        message: `step ${id}: invalid artifacts: ${clean(context, read.reason)}`,
        exit: EXIT.failed,
      },
      { event_type: 'artifacts_invalid', severity: 'critical' },
    );
    return 'on';
  }
  const artifacts = read.value;
  const parts = tokenParts({
    artifacts,
    workspaceHash: after,
    engineId: receipt.engine_id,
    engineHash: engineHash(engineOf(context)),
    config: stepConfig(workflow, step),
    policyDigest: await policyDigest(judgesOf(workflow.folder, step)),
    model: modelOf(step),
  });
  const token = planToken(parts, context.deps.clock.now().toISOString());
  const stage = (
    type: string,
    state: 'PLAN_GENERATED' | 'ARTIFACTS_VALIDATED' | 'TOKEN_CREATED',
    patch: object = {},
  ): LogEntry => ({
    entry_type: 'step_started',
    data: { step_id: id, step_type: type },
    change: { step: id, state, patch: JSON.parse(JSON.stringify(patch)) as JsonObject },
  });
  // One flush for what has no effect outside: until the token is on disk the plan would simply be made again.
  log.commit(
    [
      stage('plan-generated', 'PLAN_GENERATED', { receipt }),
      ...artifacts.map(
        (a): LogEntry => ({
          entry_type: 'artifact_created',
          data: {
            artifact_id: `${id}/${a.name}`,
            artifact_hash: a.hash,
            artifact_type: a.document.artifact_type,
          },
          change: { step: id },
        }),
      ),
      stage('artifacts-validated', 'ARTIFACTS_VALIDATED'),
      stage('token-created', 'TOKEN_CREATED', { parts, token }),
    ],
    [
      {
        event_type: 'engine_completed',
        workflow_state: 'PLAN_GENERATED',
        message: 'flight-plan completed',
        workflow: where,
        ...audited,
      },
      {
        event_type: 'artifacts_validated',
        workflow_state: 'ARTIFACTS_VALIDATED',
        message: `${artifacts.length} artifacts`,
        workflow: where,
        artifacts: artifacts.map(auditArtifact),
      },
      {
        event_type: 'plan_token_created',
        workflow_state: 'TOKEN_CREATED',
        message: `plan-token ${token.token}`,
        workflow: where,
        plan_token: { ...token } as unknown as JsonObject,
      },
    ],
  );
  return 'on';
}

async function judge(context: StepContext): Promise<Moved> {
  const { log, step, workflow, deps } = context;
  const id = step.id;
  if (!(await verifyToken(context))) return 'on';
  const { token, receipt } = standing(context);
  if (token === undefined || receipt === undefined) throw new Error('there is a token state without a token');
  log.commit(
    [
      {
        entry_type: 'step_started',
        data: { step_id: id, step_type: 'preflight' },
        change: { step: id, state: 'PRE_FLIGHT_RUNNING' },
      },
    ],
    [
      {
        event_type: 'preflight_started',
        workflow_state: 'PRE_FLIGHT_RUNNING',
        message: 'preflight',
        workflow: { step_id: id },
      },
    ],
  );
  const read = readArtifacts(join(stepRoot(context), 'artifacts'), receipt.artifacts ?? []);
  if (!read.ok) throw new Error(`artifacts changed during preflight: ${read.reason}`);
  const planned = commandsOf(engineOf(context), read.value);
  const decision = await preflight({
    workflowId: workflow.value.id,
    step,
    workspace: workflow.workspace,
    receipt,
    artifacts: read.value,
    token,
    judges: judgesOf(workflow.folder, step),
    secrets: secretsOf(context),
    isolation: isolationOf(context),
    method: workflow.value.aggregation ?? deps.aggregation ?? 'most_restrictive',
    defaultVerdict: deps.defaultVerdict ?? 'warn',
    commands: planned,
    ...(deps.commands === undefined ? {} : { judgeCommand: deps.commands.judge }),
  });
  const at = deps.clock.now().toISOString();
  const said = decision.evaluations.map((e) => ({ ...e, reason: clean(context, e.reason) }));
  const policy = auditPolicy(decision.verdict, decision.method, said, 'PREFLIGHT_COMPLETE', at);
  const patch = { decision: decision.verdict, method: decision.method, evaluations: said };
  log.commit(
    [
      ...said.map(
        (e, i): LogEntry => ({
          entry_type: 'policy_evaluated',
          data: {
            evaluation_id: `${log.record.flightId}/${id}/${i}`,
            policy_name: `${e.evaluator}/${e.rule}`,
            decision: e.verdict,
          },
          change: { step: id },
        }),
      ),
      {
        entry_type: 'policy_evaluated',
        data: {
          evaluation_id: `${log.record.flightId}/${id}/aggregate`,
          policy_name: 'preflight',
          decision: decision.verdict,
        },
        change: {
          step: id,
          state: 'PREFLIGHT_COMPLETE',
          patch: JSON.parse(JSON.stringify(patch)) as JsonObject,
        },
      },
    ],
    [
      {
        event_type: 'preflight_completed',
        workflow_state: 'PREFLIGHT_COMPLETE',
        severity: decision.verdict === 'allow' ? 'info' : decision.verdict === 'deny' ? 'error' : 'warning',
        message: `preflight says ${decision.verdict}`,
        workflow: { step_id: id },
        policy,
      },
    ],
  );
  return 'on';
}

function complete({ log, step }: StepContext): Moved {
  const artifacts = log.record.steps.find((s) => s.id === step.id)?.token?.artifacts.map((a) => a.name) ?? [];
  log.commit(
    [
      {
        entry_type: 'step_completed',
        data: { step_id: step.id, artifacts },
        change: { step: step.id, state: 'COMPLETED' },
      },
    ],
    [
      {
        event_type: 'step_completed',
        workflow_state: 'COMPLETED',
        message: `step ${step.id} completed`,
        workflow: { step_id: step.id },
      },
    ],
  );
  return 'on';
}

/** Plans not made by a model say so; a step may name the model its plan comes from. */
export function modelOf(step: Step): string {
  const named = step.context?.model;
  return typeof named === 'string' && named !== '' ? named : 'none';
}

export function clean(context: StepContext, text: string): string {
  return withoutSecrets(text.slice(0, 4000).toWellFormed(), secretsOf(context));
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

export function auditEngine(context: StepContext, receipt: Receipt): JsonObject {
  return {
    engine_id: receipt.engine_id,
    receipt_id: receipt.receipt_id,
    status: receipt.status,
    ...(receipt.error === undefined ? {} : { error: clean(context, receipt.error) }),
  };
}

function auditArtifact(a: Artifact): JsonObject {
  return { name: a.name, role: a.role, path: a.name, hash: a.hash, size: a.size };
}
