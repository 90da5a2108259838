import type { GivenApproval } from '../../authority/index.ts';
import type { Action, Decision, Digest, Evaluation, Json, JsonObject } from '../../core/index.ts';
import { sha256 } from '../../core/index.ts';
import type { Call, Context } from './context.ts';

/** What a request is, as data: everything that decides what would happen. */
export function actionOf(call: Omit<Call, 'digest'>): Action {
  return {
    kind: 'llm.call',
    subject: `${call.operation.name} ${call.model}`,
    detail: {
      caller: call.caller.name,
      protocol: call.operation.protocol,
      operation: call.operation.name,
      model: call.model,
      query: call.query,
      request: call.body ?? null,
    },
  };
}

/** What is kept of a request: digests always, texts only as configured, redacted either way. */
export function recordOf(
  ctx: Context,
  call: Call,
  said: {
    readonly digest: Digest;
    readonly decision?: Decision;
    readonly approval?: GivenApproval | undefined;
  },
): JsonObject {
  const full = ctx.config.record.prompts === 'redacted';
  const rewritten = call.rewrites.length > 0;
  return {
    type: 'llm.request',
    request_id: call.requestId,
    caller: call.caller.name,
    operation: call.operation.name,
    model: call.model,
    action_digest: said.digest,
    policy_digest: ctx.policyDigest,
    prompt_sha256: sha256(call.bodyText),
    redactions: call.redactions,
    ...(said.decision === undefined
      ? {}
      : { verdict: said.decision.verdict, evaluations: evaluationsShown(said.decision.evaluations) }),
    ...(said.approval === undefined
      ? {}
      : { approval_id: said.approval.approvalId, approver: said.approval.approver }),
    ...(rewritten
      ? { rewrites: call.rewrites, original_prompt: call.original, rewritten_prompt: call.body ?? null }
      : full && call.operation.kind !== 'embed'
        ? { prompt: call.body ?? null }
        : {}),
  };
}

export function evaluationsShown(evaluations: readonly Evaluation[]): Json {
  return evaluations.map((e) => ({
    evaluator: e.evaluator,
    verdict: e.verdict,
    rule: e.rule,
    reason: e.reason.slice(0, 500).toWellFormed(),
  }));
}
