import { CODES, EXIT } from '../core/index.ts';
import type { Artifact } from './artifacts.ts';
import { engineHash } from './engine.ts';
import { failFlight } from './fail.ts';
import type { Judges } from './judges.ts';
import { modelOf, plannedArtifacts, type StepContext, standing, workspaceNow } from './step-context.ts';
import { tokenDifferences, tokenOf, tokenParts } from './token.ts';
import { stepConfig } from './workflow.ts';

/** The plan as it was read from disk and found to be the one of the token, with the judges in force. */
export interface Verified {
  readonly artifacts: readonly Artifact[];
  readonly judges: Judges;
}

/**
 * Every part of the token derived again from disk and compared with what was stored. A difference ends the
 * flight with a critical event that names it, and there is no answer.
 */
export async function verifyToken(context: StepContext): Promise<Verified | null> {
  const { log, step, workflow, engine } = context;
  const { parts: then, token, receipt, state } = standing(context);
  if (then === undefined || token === undefined || receipt === undefined)
    throw new Error('there is no plan-token to verify');
  const judges = await context.judges.of(step);
  const read = plannedArtifacts(context);
  let differences: readonly string[];
  let actual = '';
  if (!read.ok) differences = [`artifacts: ${read.reason}`];
  else {
    const now = tokenParts({
      artifacts: read.value,
      workspaceHash: workspaceNow(context),
      engineId: receipt.engine_id,
      engineHash: engineHash(engine),
      protocolVersion: receipt.protocol_version,
      config: stepConfig(workflow, step),
      policyDigest: judges.digest,
      model: modelOf(step),
    });
    differences = tokenDifferences(then, now);
    actual = tokenOf(now);
  }
  const check = {
    expected_plan_token: token.token,
    actual_plan_token: actual,
    plan_token_match: differences.length === 0 && actual === token.token,
    artifacts_match: !differences.some((d) => d.startsWith('artifact')),
    differences: [...differences],
  };
  if (read.ok && check.plan_token_match) {
    log.commit(
      [],
      [
        {
          event_type: 'plan_token_verified',
          workflow_state: state,
          message: 'every part is as it was',
          workflow: { step_id: step.id },
          integrity_check: check,
        },
      ],
    );
    return { artifacts: read.value, judges };
  }
  failFlight(
    log,
    step.id,
    {
      code: CODES.integrity_broken,
      message: `step ${step.id}: the plan has changed since it was judged: ${differences.join('; ') || 'its token is another'}`,
      exit: EXIT.integrity,
    },
    { event_type: 'plan_token_mismatch', severity: 'critical', integrity_check: check },
  );
  return null;
}
