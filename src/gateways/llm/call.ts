import type { ServerResponse } from 'node:http';
import type { Evaluator } from '../../authority/index.ts';
import { type Action, digestOf, type Json, type JsonObject, messageOf, sha256 } from '../../core/index.ts';
import { intent, outcome } from '../../ledger/index.ts';
import type { Passed } from '../gate.ts';
import type { Cost } from './budget.ts';
import type { Call, Context } from './context.ts';
import { deliver } from './deliver.ts';
import { type Answered, claimWrit } from './forward.ts';
import { outputLimit, toolsOffered, type Usage } from './protocol.ts';
import { type Failure, replyError } from './reply.ts';
import type { Choice, Plan } from './route.ts';
import { judgeByRules } from './rules.ts';
import { textOf } from './texts.ts';

/**
 * One request from judgement to record.
 *
 * P1 Judged, then recorded, then sent: nothing goes out before both are done.
 * P2 Another attempt is made only while no byte has reached the caller, and only as often as configured.
 * P3 What fails on our side is told as a refusal; no request goes out because a check could not be made.
 */
export async function handleCall(ctx: Context, call: Call, res: ServerResponse): Promise<void> {
  const { protocol } = call.operation;
  const plan = ctx.router.plan(protocol, call.model);
  if (plan === undefined) {
    const message = `no route serves the model ${call.model}`;
    await refuse(ctx, call, res, { status: 404, code: 'model_not_found', message }, []);
    return;
  }
  const action = actionOf(call);
  const passed = await ctx.gate.pass(
    {
      action,
      evaluators: [ruleEvaluator(ctx, call), ...ctx.evaluators],
      reasoning: `${call.caller.name} asks ${call.model}`,
      requester: call.caller.name,
      policyDigest: ctx.policyDigest,
      subject: { kind: 'llm' },
      signal: call.signal,
    },
    { forMs: ctx.config.limits.approval_wait_seconds * 1000, signal: call.signal },
  );
  if (passed.outcome !== 'granted') {
    await refuse(ctx, call, res, failureOf(passed), evaluationsOf(passed));
    return;
  }
  const record = {
    ...recordOf(ctx, call, action),
    evaluations: evaluationsOf(passed),
    ...approvalOf(passed),
  };
  const reserved = reserve(ctx, call, plan, record);
  if (!reserved.ok) {
    await refuse(ctx, call, res, { status: 429, code: 'insufficient_quota', message: reserved.why }, []);
    return;
  }
  let settled = false;
  const settle = (used: Cost | 'not_sent' | undefined) => {
    settled = true;
    ctx.budgets?.settle(call.requestId, used);
  };
  try {
    const id = await intent(ctx.deps.journal, record, ctx.deps.ids);
    claimWrit(passed.writ, action);
    const { answer, choice, tried } = await attempt(ctx, call, plan);
    const end = await deliver(ctx, call, answer, res);
    settle(answer.ok && answer.status < 400 ? costOf(choice, end.usage) : { tokens: 0, usd: 0 });
    await outcome(ctx.deps.journal, id, {
      type: 'llm.response',
      request_id: call.requestId,
      outcome: end.ok ? 'done' : 'failed',
      status: answer.ok ? answer.status : 0,
      target: `${choice.provider.name}/${choice.target.model ?? call.model}`,
      strategy: plan.strategy,
      attempts: tried,
      ...end.record,
      ...(answer.ok ? {} : { reason: answer.reason.slice(0, 300).toWellFormed() }),
      tokens: { input: end.usage?.input ?? null, output: end.usage?.output ?? null },
    });
    end.finish();
    ctx.metrics.count('requests_total', { caller: call.caller.name, outcome: end.ok ? 'done' : 'failed' });
  } catch (error) {
    if (!settled) ctx.budgets?.settle(call.requestId, 'not_sent');
    throw error;
  }
}

function actionOf(call: Call): Action {
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

function ruleEvaluator(ctx: Context, call: Call): Evaluator {
  const { rules, default: otherwise } = ctx.config;
  return {
    name: 'llm.rules',
    evaluate: () =>
      judgeByRules(rules, 'request', otherwise, {
        caller: call.caller.name,
        model: call.model,
        operation: call.operation.name,
        tools: call.body === undefined ? [] : toolsOffered(call.body),
        text: call.body === undefined ? '' : textOf(call.body),
      }),
  };
}

/** Tries the planned targets in turn, as long as none has begun to answer well. */
async function attempt(ctx: Context, call: Call, plan: Plan) {
  let last: { answer: Answered; choice: Choice; tried: number } | undefined;
  for (let tried = 1; tried <= plan.attempts; tried++) {
    const choice = plan.choices[(tried - 1) % plan.choices.length]!;
    if (last?.answer.ok) last.answer.body.destroy();
    const model = choice.target.model ?? call.model;
    const body =
      call.body === undefined
        ? undefined
        : JSON.stringify(call.operation.protocol === 'openai' ? { ...call.body, model } : call.body);
    const answer = await ctx.upstream.send({
      choice,
      method: call.body === undefined ? 'GET' : 'POST',
      path: call.operation.path.replace('{model}', encodeURIComponent(model)),
      query: call.query,
      body,
      signal: call.signal,
    });
    const mayPass = !answer.ok || answer.status === 408 || answer.status === 429 || answer.status >= 500;
    if (!call.signal.aborted) ctx.router.report(choice, !mayPass);
    last = { answer, choice, tried };
    if (!mayPass || call.signal.aborted) break;
  }
  return last!;
}

function reserve(ctx: Context, call: Call, plan: Plan, record: JsonObject) {
  const { budget } = call.caller;
  if (budget === undefined || ctx.budgets === undefined || call.body === undefined)
    return { ok: true } as const;
  // No tokenizer makes more tokens than bytes; the dearest target of the route sets the price.
  const input = Math.ceil(Buffer.byteLength(JSON.stringify(call.body)) / 2);
  const generates = call.operation.kind === 'generate';
  const output = generates ? (outputLimit(call.body) ?? ctx.config.limits.default_output_tokens) : 0;
  const usd = Math.max(...plan.choices.map((choice) => costOf(choice, { input, output })?.usd ?? 0));
  return ctx.budgets.reserve({
    requestId: call.requestId,
    caller: call.caller.name,
    budget,
    most: { tokens: input + output, usd },
    record,
  });
}

function costOf(choice: Choice, usage: Usage | undefined): Cost | undefined {
  if (usage === undefined) return undefined;
  const price = choice.target.usd_per_million ?? { input: 0, output: 0 };
  return {
    tokens: usage.input + usage.output,
    usd: (usage.input * price.input + usage.output * price.output) / 1e6,
  };
}

/** What is kept of a request: digests always, texts only as configured, redacted either way. */
function recordOf(ctx: Context, call: Call, action: Action): JsonObject {
  const full = ctx.config.record.prompts === 'redacted';
  const rewritten = call.rewrites.length > 0;
  return {
    type: 'llm.request',
    request_id: call.requestId,
    caller: call.caller.name,
    operation: call.operation.name,
    model: call.model,
    action_digest: digestOf({ kind: action.kind, subject: action.subject, detail: action.detail }),
    policy_digest: ctx.policyDigest,
    prompt_sha256: sha256(JSON.stringify(call.body ?? null)),
    redactions: call.redactions,
    ...(rewritten
      ? { rewrites: call.rewrites, original_prompt: call.original, rewritten_prompt: call.body ?? null }
      : full && call.operation.kind !== 'embed'
        ? { prompt: call.body ?? null }
        : {}),
  };
}

async function refuse(
  ctx: Context,
  call: Call,
  res: ServerResponse,
  failure: Failure,
  evaluations: Json,
): Promise<void> {
  const record = recordOf(ctx, call, actionOf(call));
  await ctx.deps.journal.append({
    ...record,
    type: 'llm.refused',
    code: failure.code,
    reason: failure.message,
    evaluations,
    ...(failure.extra ?? {}),
  });
  ctx.metrics.count('requests_total', { caller: call.caller.name, outcome: failure.code });
  replyError(res, call.operation.protocol, failure);
}

function failureOf(passed: Exclude<Passed, { outcome: 'granted' }>): Failure {
  if (passed.outcome === 'waiting')
    return {
      status: 403,
      code: 'approval_required',
      message: `this request waits for a person (${passed.approvalId}); send it again, unchanged, once it is approved`,
      extra: { approval_id: passed.approvalId },
    };
  const extra = passed.approvalId === undefined ? {} : { approval_id: passed.approvalId };
  return { status: 403, code: 'denied', message: `denied: ${passed.reason}`, extra };
}

function approvalOf(passed: Extract<Passed, { outcome: 'granted' }>): JsonObject {
  return passed.approval === undefined
    ? {}
    : { approval_id: passed.approval.approvalId, approver: passed.approval.approver };
}

export function evaluationsOf(passed: Pick<Passed, 'decision'>): Json {
  return passed.decision.evaluations.map((e) => ({
    evaluator: e.evaluator,
    verdict: e.verdict,
    rule: e.rule,
    reason: messageOf(e.reason).slice(0, 500).toWellFormed(),
  }));
}
