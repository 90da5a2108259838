import type { ServerResponse } from 'node:http';
import type { Evaluator } from '../../authority/index.ts';
import { type Action, type Digest, digestOf, type JsonObject, sha256 } from '../../core/index.ts';
import { intent, outcome } from '../../ledger/index.ts';
import type { Passed } from '../gate.ts';
import type { Cost } from './budget.ts';
import type { Asked, Call, Context, Done } from './context.ts';
import { deliver } from './deliver.ts';
import { type Answered, claimWrit } from './forward.ts';
import { heldAnswer } from './held-answers.ts';
import { outputLimit, toolsOffered, type Usage } from './protocol.ts';
import { actionOf, recordOf } from './record.ts';
import { answerHeaders, approvalRequired, type Failure, replyError, replyText } from './reply.ts';
import type { Choice, Plan } from './route.ts';
import { type Content, judgeByRules, rulesFor, type Scope } from './rules.ts';
import { textOf } from './texts.ts';

/**
 * One request from judgement to record.
 *
 * P1 Judged, then recorded and paid for, then sent: nothing goes out before all of it is durable.
 * P2 Another attempt is made only while no byte has reached the caller, and only as often as configured.
 * P3 What fails on our side is told as a refusal; no request goes out because a check could not be made.
 */
export async function handleCall(ctx: Context, asked: Asked, res: ServerResponse): Promise<Done> {
  const plan = ctx.router.plan(asked.operation.protocol, scopeOf(asked), contentOf(asked));
  const action = actionOf(asked);
  if (plan === undefined) {
    const message = 'no route serves this model';
    return refuse(ctx, asked, res, { status: 404, code: 'model_not_found', message }, action);
  }
  const passed = await ctx.gate.pass(
    {
      action,
      evaluators: [ruleEvaluator(ctx, asked), ...ctx.evaluators],
      reasoning: `${asked.caller.name} asks ${asked.model}`,
      requester: asked.caller.name,
      policyDigest: ctx.policyDigest,
      subject: { kind: 'llm' },
      expiresInMs: ctx.config.limits.approval_life_seconds * 1000,
      signal: asked.signal,
    },
    { forMs: ctx.config.limits.approval_wait_seconds * 1000, signal: asked.signal },
  );
  const { verdict } = passed.decision;
  if (passed.outcome !== 'granted')
    return { ...(await refuse(ctx, asked, res, failureOf(passed), action, passed)), verdict };
  const call: Call = { ...asked, digest: passed.writ.digest };
  const released = await release(ctx, call, res);
  if (released !== undefined) return { ...released, verdict };
  const record = recordOf(ctx, call, {
    digest: call.digest,
    decision: passed.decision,
    approval: passed.approval,
  });
  // Both are on their way to the disk at the same time; the request waits for both.
  const [id, reserved] = await bothOrNeither(
    ctx,
    call,
    intent(ctx.deps.journal, record, ctx.deps.ids),
    reserve(ctx, call, plan, record),
  );
  if (!reserved.ok) {
    const failure = { status: 429, code: 'insufficient_quota', message: reserved.why };
    const note = { request_id: call.requestId, code: failure.code, reason: failure.message };
    await outcome(ctx.deps.journal, id, { type: 'llm.refused', outcome: 'failed', ...note });
    replyError(res, call.operation.protocol, failure, answerHeaders(call));
    return { status: 429, code: failure.code, verdict };
  }
  claimWrit(passed.writ, action);
  return { ...(await sendAndDeliver(ctx, call, plan, id, res)), verdict };
}

async function sendAndDeliver(
  ctx: Context,
  call: Call,
  plan: Plan,
  id: string,
  res: ServerResponse,
): Promise<Done> {
  const { answer, choice, tried } = await attempt(ctx, call, plan);
  const end = await deliver(ctx, call, answer, res);
  ctx.budgets?.settle(call.requestId, spent(call, answer, choice, end.usage));
  const target = `${choice.provider.name}/${choice.target.model ?? call.model}`;
  await outcome(ctx.deps.journal, id, {
    type: 'llm.response',
    request_id: call.requestId,
    outcome: end.ok ? 'done' : 'failed',
    status: answer.ok ? answer.status : 0,
    target,
    strategy: plan.strategy,
    attempts: tried,
    ...end.record,
    ...(end.code === undefined ? {} : { code: end.code }),
    ...(answer.ok ? {} : { reason: answer.reason.slice(0, 300).toWellFormed() }),
    tokens: { input: end.usage?.input ?? null, output: end.usage?.output ?? null },
  });
  end.finish();
  return { status: end.status, code: end.code, usage: end.usage, target };
}

/** An answer that a person has let go since it was asked for; nothing is sent for it. */
async function release(ctx: Context, call: Call, res: ServerResponse): Promise<Done | undefined> {
  const found = await heldAnswer(ctx, call);
  if (found === undefined) return undefined;
  const { passed, answer } = found;
  await ctx.deps.journal.append({
    ...recordOf(ctx, call, { digest: call.digest }),
    type: passed.ok ? 'llm.released' : 'llm.refused',
    response_sha256: sha256(answer.body),
    ...(passed.ok ? {} : { code: passed.failure.code, reason: passed.failure.message }),
    ...passed.record,
  });
  if (!passed.ok) {
    replyError(res, call.operation.protocol, passed.failure, answerHeaders(call));
    return { status: passed.failure.status, code: passed.failure.code };
  }
  replyText(res, 200, answer.body, { ...answerHeaders(call), 'content-type': answer.contentType });
  return { status: 200 };
}

function ruleEvaluator(ctx: Context, asked: Asked): Evaluator {
  const { rules, default: otherwise } = ctx.config;
  return {
    name: 'llm.rules',
    evaluate: () => judgeByRules(rulesFor(rules, 'request', scopeOf(asked)), otherwise, contentOf(asked)),
  };
}

function scopeOf({ caller, model, operation }: Asked): Scope {
  return { caller: caller.name, model, operation: operation.name };
}

function contentOf({ body }: Asked): Content {
  return {
    tools: () => (body === undefined ? [] : toolsOffered(body)),
    text: () => (body === undefined ? '' : textOf(body)),
  };
}

/** Tries the planned targets in turn, as long as none has begun to answer well. */
async function attempt(ctx: Context, call: Call, plan: Plan) {
  let last: { answer: Answered; choice: Choice; tried: number } | undefined;
  for (let tried = 1; tried <= plan.attempts; tried++) {
    const choice = plan.choices[(tried - 1) % plan.choices.length]!;
    if (last?.answer.ok) last.answer.body.destroy();
    const answer = await ctx.upstream.send({
      choice,
      method: call.body === undefined ? 'GET' : 'POST',
      path: call.operation.path.replace('{model}', encodeURIComponent(modelAt(call, choice))),
      query: call.query,
      body: bodyFor(call, choice),
      signal: call.signal,
      carry: call.span.carry,
    });
    const mayPass = !answer.ok || answer.status === 408 || answer.status === 429 || answer.status >= 500;
    if (!call.signal.aborted) ctx.router.report(choice, !mayPass);
    last = { answer, choice, tried };
    if (!mayPass || call.signal.aborted) break;
  }
  return last!;
}

const modelAt = (call: Call, choice: Choice): string => choice.target.model ?? call.model;

/** What was judged, with the target's name for the model where the body says it. */
function bodyFor(call: Call, choice: Choice): string | undefined {
  if (call.body === undefined) return undefined;
  const model = modelAt(call, choice);
  if (call.operation.protocol !== 'openai' || model === call.body.model) return call.bodyText;
  return JSON.stringify({ ...call.body, model });
}

type Reserved = { readonly ok: true } | { readonly ok: false; readonly why: string };

async function reserve(ctx: Context, call: Call, plan: Plan, record: JsonObject): Promise<Reserved> {
  const { budget } = call.caller;
  if (budget === undefined || ctx.budgets === undefined || call.body === undefined) return { ok: true };
  // No tokenizer makes more tokens than bytes; the dearest target of the route sets the price.
  const input = Buffer.byteLength(call.bodyText);
  const output =
    call.operation.kind === 'generate' ? outputLimit(call.body, ctx.config.limits.default_output_tokens) : 0;
  const usd = Math.max(...plan.choices.map((choice) => priced(choice, { input, output }).usd));
  return ctx.budgets.reserve({
    requestId: call.requestId,
    caller: call.caller.name,
    budget,
    most: { tokens: input + output, usd },
    record,
  });
}

/** When the intent cannot be recorded nothing is sent, and nothing is spent. */
async function bothOrNeither(
  ctx: Context,
  call: Call,
  recorded: Promise<string>,
  reserving: Promise<Reserved>,
): Promise<readonly [string, Reserved]> {
  const [written, reserved] = await Promise.allSettled([recorded, reserving]);
  if (written.status === 'fulfilled' && reserved.status === 'fulfilled')
    return [written.value, reserved.value];
  if (reserved.status === 'fulfilled' && reserved.value.ok) ctx.budgets?.settle(call.requestId, 'not_sent');
  throw written.status === 'rejected' ? written.reason : (reserved as PromiseRejectedResult).reason;
}

/** What a call has cost; undefined when nobody said, and the reservation stands. */
function spent(call: Call, answer: Answered, choice: Choice, usage: Usage | undefined): Cost | undefined {
  const free = !answer.ok || answer.status >= 400 || call.operation.kind === 'count';
  if (free) return { tokens: 0, usd: 0 };
  return usage === undefined ? undefined : priced(choice, usage);
}

function priced(choice: Choice, usage: Usage): Cost {
  const price = choice.target.usd_per_million ?? { input: 0, output: 0 };
  return {
    tokens: usage.input + usage.output,
    usd: (usage.input * price.input + usage.output * price.output) / 1e6,
  };
}

async function refuse(
  ctx: Context,
  asked: Asked,
  res: ServerResponse,
  failure: Failure,
  action: Action,
  passed?: Passed,
): Promise<Done> {
  const digest: Digest = digestOf({ kind: action.kind, subject: action.subject, detail: action.detail });
  const record = recordOf(
    ctx,
    { ...asked, digest },
    passed === undefined ? { digest } : { digest, decision: passed.decision },
  );
  await ctx.deps.journal.append({
    ...record,
    type: 'llm.refused',
    code: failure.code,
    reason: failure.message.slice(0, 2000).toWellFormed(),
    ...(failure.extra ?? {}),
  });
  replyError(res, asked.operation.protocol, failure, answerHeaders(asked));
  return { status: failure.status, code: failure.code };
}

function failureOf(passed: Exclude<Passed, { outcome: 'granted' }>): Failure {
  if (passed.outcome === 'waiting') return approvalRequired('this request', passed.approvalId);
  const extra = passed.approvalId === undefined ? {} : { approval_id: passed.approvalId };
  return { status: 403, code: 'denied', message: `denied: ${passed.reason}`, extra };
}
