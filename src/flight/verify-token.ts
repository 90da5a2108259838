import { join } from 'node:path';
import { CODES, EXIT } from '../core/index.ts';
import { readArtifacts } from './artifacts.ts';
import { engineHash } from './engine.ts';
import { failFlight } from './fail.ts';
import { judgesOf, policyDigest } from './preflight.ts';
import { engineOf, modelOf, type StepContext, standing, stepRoot, workspaceNow } from './step.ts';
import { tokenDifferences, tokenOf, tokenParts } from './token.ts';
import { stepConfig } from './workflow.ts';

/**
 * Every part of the token derived again from disk and compared with what was stored. A difference ends the
 * flight with a critical event that names it; true when there is none.
 */
export async function verifyToken(context: StepContext): Promise<boolean> {
  const { log, step, workflow } = context;
  const { parts: then, token, receipt } = standing(context);
  if (then === undefined || token === undefined || receipt === undefined)
    throw new Error('there is no plan-token to verify');
  const read = readArtifacts(join(stepRoot(context), 'artifacts'), receipt.artifacts ?? []);
  let differences: readonly string[];
  let actual = '';
  if (!read.ok) differences = [`artifacts: ${read.reason}`];
  else {
    const now = tokenParts({
      artifacts: read.value,
      workspaceHash: workspaceNow(context),
      engineId: receipt.engine_id,
      engineHash: engineHash(engineOf(context)),
      config: stepConfig(workflow, step),
      policyDigest: await policyDigest(judgesOf(workflow.folder, step)),
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
  if (check.plan_token_match) {
    log.commit(
      [],
      [
        {
          event_type: 'plan_token_verified',
          workflow_state: standing(context).state,
          message: 'every part is as it was',
          workflow: { step_id: step.id },
          integrity_check: check,
        },
      ],
    );
    return true;
  }
  failFlight(
    log,
    step.id,
    {
      code: CODES.integrity_broken,
      message: `step ${step.id}: the plan has changed since it was judged: ${differences.join('; ')}`,
      exit: EXIT.integrity,
    },
    { event_type: 'plan_token_mismatch', severity: 'critical', integrity_check: check },
  );
  return false;
}
