import type { Evaluator } from '../../authority/index.ts';
import {
  type Action,
  type Digest,
  isJsonObject,
  type Json,
  type JsonObject,
  sha256,
} from '../../core/index.ts';
import { redact, redactJson } from '../../redact/index.ts';
import type { McpConfig } from './config.ts';
import type { McpContext } from './context.ts';
import type { McpFacts } from './facts.ts';
import type { GovernedCall } from './govern.ts';
import { failure, type Reply, RPC } from './message.ts';
import { refusal } from './refusal.ts';
import { judgeAnswerByRules } from './rules.ts';

/**
 * An answer on its way back: size, words, redaction, then rules and policies on what is left.
 *
 * Q1 What is judged is what the client would get; nothing of it goes out before everyone has said yes.
 * Q2 An answer that waits for a person is kept before anybody is asked, and the call is not made again.
 * Q3 Changes are told in `_meta`, never silent.
 */
export interface GovernedReply {
  readonly reply: Reply;
  readonly record: JsonObject;
}

/** Larger than this, the person who decides sees the beginning; the digest is of the whole. */
const MAX_SHOWN = 64 * 1024;

export async function governAnswer(
  ctx: McpContext,
  call: GovernedCall,
  callDigest: Digest,
  reply: Reply,
): Promise<GovernedReply> {
  const checked = checkAnswer(ctx.config.responses, reply);
  return checked.reply.ok && judgesAnswers(ctx)
    ? passAnswer(ctx, call, callDigest, checked.reply.result, checked.record)
    : checked;
}

export function judgesAnswers(ctx: McpContext): boolean {
  return ctx.answerRules.length > 0 || ctx.answerPolicies.length > 0;
}

/** Puts an answer, new or kept, to rules and policies, and perhaps to a person. */
export async function passAnswer(
  ctx: McpContext,
  call: GovernedCall,
  callDigest: Digest,
  result: JsonObject,
  record: JsonObject,
): Promise<GovernedReply> {
  const { facts } = call;
  const { approval_wait_seconds, approval_life_seconds } = ctx.config.limits;
  const forMs = approval_life_seconds * 1000;
  const text = JSON.stringify(result);
  const action = answerAction(facts, callDigest, result, text);
  let kept = true;
  const keep = (approvalId: string) => {
    const known = ctx.held.find(facts.caller, callDigest)?.approvalId === approvalId;
    kept = known || ctx.held.keep(facts.caller, callDigest, { result, approvalId }, forMs);
  };
  const passed = await ctx.gate.pass(
    {
      action,
      evaluators: answerEvaluators(ctx, facts, action, result, text),
      reasoning: `the answer of ${facts.server} to ${facts.caller}`,
      requester: facts.caller,
      policyDigest: ctx.policyDigest,
      subject: { kind: 'mcp' },
      signal: call.signal,
      expiresInMs: forMs,
    },
    {
      forMs: facts.method === 'tools/call' ? approval_wait_seconds * 1000 : 0,
      signal: call.away,
      tick: (approvalId) => {
        keep(approvalId);
        call.waiting(approvalId);
      },
    },
  );
  const verdict = { verdict: passed.decision.verdict };
  switch (passed.outcome) {
    case 'granted': {
      passed.writ.use(action);
      // A yes is for one delivery: whoever comes second finds nothing.
      if (passed.approval !== undefined && !ctx.held.take(facts.caller, callDigest))
        return {
          reply: failure(RPC.denied, 'this answer has been handed out'),
          record: { ...record, verdict: 'deny' },
        };
      const by = passed.approval && {
        approval_id: passed.approval.approvalId,
        approver: passed.approval.approver,
      };
      return { reply: { ok: true, result }, record: { ...record, ...verdict, ...by } };
    }
    case 'waiting': {
      keep(passed.approvalId);
      if (kept)
        return {
          reply: refusal(passed, facts.method, 'Its answer'),
          record: { ...record, ...verdict, waiting_for: passed.approvalId },
        };
      const reason = 'too many answers wait for a person';
      return { reply: failure(RPC.denied, reason), record: { ...record, verdict: 'deny', reason } };
    }
    case 'denied':
      ctx.held.take(facts.caller, callDigest);
      return {
        reply: refusal(passed, facts.method, 'Its answer'),
        record: { ...record, verdict: 'deny', reason: passed.reason.slice(0, 500).toWellFormed() },
      };
  }
}

function answerAction(facts: McpFacts, callDigest: Digest, result: JsonObject, text: string): Action {
  return {
    kind: 'mcp.call',
    subject: `the answer of ${facts.server} ${facts.method} ${facts.name}`.trim().slice(0, 300),
    detail: {
      caller: facts.caller,
      server: facts.server,
      method: facts.method,
      name: facts.name,
      call_digest: callDigest,
      answer_sha256: sha256(text),
      answer: text.length <= MAX_SHOWN ? result : { beginning: text.slice(0, MAX_SHOWN).toWellFormed() },
    },
  };
}

function answerEvaluators(
  ctx: McpContext,
  facts: McpFacts,
  action: Action,
  result: JsonObject,
  text: string,
): readonly Evaluator[] {
  const said = judgeAnswerByRules(ctx.answerRules, facts, text.length, () => textsOf(result));
  // Policies read the whole answer, however much of it is shown.
  const whole: Action = { ...action, detail: { ...(action.detail as JsonObject), answer: result } };
  return [
    { name: said.evaluator, evaluate: () => said },
    ...ctx.answerPolicies.map(({ name, evaluate }) => ({ name, evaluate: () => evaluate(whole) })),
  ];
}

/** What needs no judge: size, words that hold an answer back, redaction. */
export function checkAnswer(config: McpConfig['responses'], reply: Reply): GovernedReply {
  if (!reply.ok) {
    const { code, message } = reply.error;
    return { reply, record: { error: { code, message: redact(message.slice(0, 500).toWellFormed()).text } } };
  }
  const { max_bytes, redact: redacts, deny_contains } = config;
  const text = JSON.stringify(reply.result);
  const record = { bytes: text.length, response_sha256: sha256(text), verdict: 'allow' };
  const deny = (reason: string) => ({
    reply: failure(RPC.denied, reason),
    record: { ...record, verdict: 'deny', reason },
  });
  if (text.length > max_bytes)
    return deny(`the answer has ${text.length} characters, ${max_bytes} are allowed`);
  const said = deny_contains.length === 0 ? '' : textsOf(reply.result).toLowerCase();
  if (deny_contains.some((words) => said.includes(words.toLowerCase())))
    return deny('the answer holds words that are not let through');
  if (!redacts) return { reply, record };
  const clean = redactResult(reply.result);
  if (clean.count === 0) return { reply, record };
  const meta = isJsonObject(clean.value._meta) ? clean.value._meta : {};
  const result = { ...clean.value, _meta: { ...meta, 'writ/redactions': clean.count } };
  return { reply: { ok: true, result }, record: { ...record, redactions: clean.count } };
}

/** Texts and structured data of a result; images, audio and blobs are bytes and stay as they are. */
function redactResult(result: JsonObject): { readonly value: JsonObject; readonly count: number } {
  let count = 0;
  const walk = (node: Json, key: string): Json => {
    if (key === 'structuredContent') {
      const clean = redactJson(node);
      count += clean.count;
      return clean.value;
    }
    if (typeof node === 'string') {
      if (key !== 'text' && key !== 'description') return node;
      const clean = redact(node);
      count += clean.count;
      return clean.text;
    }
    if (Array.isArray(node)) return (node as readonly Json[]).map((item) => walk(item, key));
    if (!isJsonObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, walk(member, name)]));
  };
  return { value: walk(result, '') as JsonObject, count };
}

function textsOf(value: Json): string {
  const texts: string[] = [];
  const stack: Json[] = [value];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') texts.push(node);
    else if (Array.isArray(node)) for (const item of node as readonly Json[]) stack.push(item);
    else if (isJsonObject(node)) for (const item of Object.values(node)) stack.push(item);
  }
  return texts.join('\n');
}
