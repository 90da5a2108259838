import type { Decision, JsonObject } from '../core/index.ts';
import { commandsOf } from './command-plan.ts';
import { auditPolicy } from './events.ts';
import type { LogEntry } from './log.ts';
import { preflight } from './preflight.ts';
import { clean, isolationOf, type Moved, type StepContext, secretsOf, standing } from './step-context.ts';
import { type Verified, verifyToken } from './verify-token.ts';

/** Preflight as a stage of a step: judged is what the token was made of, and all that was said is on record. */
export async function judge(context: StepContext): Promise<Moved> {
  const { log, step } = context;
  const id = step.id;
  const verified = await verifyToken(context);
  if (verified === null) return 'on';
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
  const decision = await decide(context, verified);
  const { verdict, method, evaluations } = decision;
  log.commit(
    [
      ...evaluations.map(
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
          decision: verdict,
        },
        change: {
          step: id,
          state: 'PREFLIGHT_COMPLETE',
          patch: JSON.parse(JSON.stringify({ decision: verdict, method, evaluations })) as JsonObject,
        },
      },
    ],
    [
      {
        event_type: 'preflight_completed',
        workflow_state: 'PREFLIGHT_COMPLETE',
        severity: verdict === 'allow' ? 'info' : verdict === 'deny' ? 'error' : 'warning',
        message: `preflight says ${verdict}`,
        workflow: { step_id: id },
        policy: policyOf(context, decision, 'PREFLIGHT_COMPLETE'),
      },
    ],
  );
  return 'on';
}

/** What everyone says of the verified plan now. */
export async function decide(context: StepContext, { artifacts, judges }: Verified): Promise<Decision> {
  const { step, workflow, deps, engine } = context;
  const { token, receipt } = standing(context);
  if (token === undefined || receipt === undefined) throw new Error('there is no plan to judge');
  const decision = await preflight({
    workflowId: workflow.value.id,
    step,
    workspace: workflow.workspace,
    receipt,
    artifacts,
    token,
    judges,
    secrets: secretsOf(context),
    isolation: isolationOf(context),
    method: workflow.value.aggregation ?? deps.aggregation ?? 'most_restrictive',
    defaultVerdict: deps.defaultVerdict ?? 'warn',
    commands: commandsOf(engine, artifacts),
    ...(deps.commands === undefined ? {} : { judgeCommand: deps.commands.judge }),
  });
  const said = decision.evaluations.map((e) => ({ ...e, reason: clean(context, e.reason) }));
  return { ...decision, evaluations: said };
}

/** A decision in the published shape. */
export function policyOf(
  { deps }: StepContext,
  { verdict, method, evaluations }: Decision,
  state: Parameters<typeof auditPolicy>[3],
): JsonObject {
  return auditPolicy(verdict, method, evaluations, state, deps.clock.now().toISOString());
}
