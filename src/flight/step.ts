import { awaitApproval, requestApproval } from './approval.ts';
import { afterInterruption } from './interrupted.ts';
import { judge } from './judge.ts';
import { plan } from './plan.ts';
import { type Moved, type StepContext, standing } from './step-context.ts';
import { takeOff } from './take-off.ts';

/** One step, moved on from wherever it stands. */
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
      return takeOff(context);
    case 'TAKEOFF_RUNNING':
      return afterInterruption(context);
    case 'EXECUTION_COMPLETE':
      return complete(context);
    case 'COMPLETED':
    case 'FAILED':
      return 'on';
  }
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
