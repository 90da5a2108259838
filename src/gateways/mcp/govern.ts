import type { Evaluator } from '../../authority/index.ts';
import {
  type Action,
  actionDigest,
  type Digest,
  type Evaluation,
  frozenAction,
  type JsonObject,
  sha256,
} from '../../core/index.ts';
import { intent, outcome } from '../../ledger/index.ts';
import { redactJson } from '../../redact/index.ts';
import type { Passed } from '../gate.ts';
import { anyMatches } from '../names.ts';
import type { McpCaller, McpContext } from './context.ts';
import { type McpFacts, metaOf } from './facts.ts';
import type { HeldAnswer } from './held.ts';
import { failure, type Id, type Params, type Reply, RPC } from './message.ts';
import type { Peer } from './peer.ts';
import type { SeenTool } from './pins.ts';
import { refusal } from './refusal.ts';
import { type GovernedReply, governAnswer, judgesAnswers, passAnswer } from './responses.ts';
import { type History, judgeByRules } from './rules.ts';
import { judgePaths } from './workspace.ts';

/** One request on its way to one server. */
export interface GovernedCall {
  readonly peer: Peer;
  readonly facts: McpFacts;
  readonly params: Params;
  /** The tool as it is now, for calls of tools on pinned servers. */
  readonly tool: SeenTool | undefined;
  readonly pinned: boolean;
  readonly timeoutMs: number;
  readonly clientId?: Id;
  /** The client takes the call back. */
  readonly signal: AbortSignal;
  /** The client is gone or takes the call back: nobody waits for a person any more. */
  readonly away: AbortSignal;
  readonly waiting: (approvalId: string) => void;
}

/** Larger than this, arguments are recorded by their digest only. */
const MAX_RECORDED = 64 * 1024;

/**
 * Judge, record, forward under a writ, judge the answer, record.
 *
 * V1 The intent is durable before the server hears anything; the outcome follows with the next flush, and if
 *    that ever fails nothing more is forwarded.
 * V2 The action holds the parameters as they are sent, without what is the wire's: progress token and trace.
 * V3 A call whose answer waits for a person is not made again: the answer that is kept is judged instead.
 */
export async function govern(
  ctx: McpContext,
  caller: McpCaller,
  history: History,
  call: GovernedCall,
): Promise<Reply> {
  const { facts } = call;
  if (ctx.recordFailed) return failure(RPC.internal, 'the gateway cannot record calls any more: refused');
  const action = frozen(actionOf(call));
  const kept = judgesAnswers(ctx) ? keptAnswer(ctx, facts.caller, action) : undefined;
  if (kept !== undefined) return release(ctx, call, kept);
  const passed = await ctx.gate.pass(
    {
      action,
      evaluators: evaluatorsFor(ctx, caller, history, call),
      reasoning: `${facts.caller} calls ${facts.server} ${facts.method} ${facts.name}`
        .slice(0, 500)
        .toWellFormed(),
      requester: facts.caller,
      policyDigest: ctx.policyDigest,
      subject: { kind: 'mcp' },
      signal: call.signal,
      expiresInMs: ctx.config.limits.approval_life_seconds * 1000,
    },
    {
      forMs: facts.method === 'tools/call' ? ctx.config.limits.approval_wait_seconds * 1000 : 0,
      signal: call.away,
      tick: call.waiting,
    },
  );
  const record = recordOf(ctx, call, action, passed);
  if (passed.outcome !== 'granted') {
    const waiting = passed.outcome === 'waiting';
    ctx.outcomes.release();
    await ctx.deps.journal.append({
      ...record,
      type: 'mcp.refused',
      ...(waiting
        ? { waiting_for: passed.approvalId }
        : { reason: passed.reason.slice(0, 500).toWellFormed() }),
    });
    ctx.metrics.count('calls_total', { server: facts.server, outcome: waiting ? 'waiting' : 'denied' });
    return refusal(passed, facts.method);
  }
  ctx.outcomes.release();
  const id = await intent(ctx.deps.journal, record, ctx.deps.ids);
  passed.writ.use(action);
  if (passed.approval !== undefined && call.tool !== undefined) ctx.pins.accept(facts.server, call.tool);
  // Counts from here on: what comes while this one is still under way is after it.
  history.note(facts);
  const reply = await call.peer.request(facts.method, call.params, call);
  const answer = await governAnswer(ctx, call, passed.writ.digest, reply);
  const done = answer.reply.ok ? 'done' : 'failed';
  ctx.outcomes.note(() => {
    ctx.metrics.count('calls_total', { server: facts.server, outcome: done });
    const entry = { type: 'mcp.response', outcome: done, ...answer.record } as const;
    return outcome(ctx.deps.journal, id, entry, 'soon');
  });
  return answer.reply;
}

interface KeptAnswer extends HeldAnswer {
  readonly digest: Digest;
}

function keptAnswer(ctx: McpContext, caller: string, action: Action): KeptAnswer | undefined {
  const digest = safeDigest(action);
  const held = digest === null ? undefined : ctx.held.find(caller, digest);
  return digest === null || held === undefined ? undefined : { digest, ...held };
}

async function release(ctx: McpContext, call: GovernedCall, kept: KeptAnswer): Promise<Reply> {
  const { digest, result, approvalId } = kept;
  const { caller, server, method, name } = call.facts;
  const record = { type: 'mcp.answer', caller, server, method, name: cut(name), action_digest: digest };
  const asked = ctx.deps.queue?.get(approvalId);
  const answer =
    asked?.status === 'rejected'
      ? rejected(ctx, kept, caller, asked.response_reason, record)
      : await passAnswer(ctx, call, digest, result, record);
  ctx.outcomes.release();
  await ctx.deps.journal.append(answer.record);
  ctx.metrics.count('answers_total', { server, outcome: answer.reply.ok ? 'done' : 'denied' });
  return answer.reply;
}

/** A no is final for this answer; the call may be made anew. */
function rejected(
  ctx: McpContext,
  { digest, approvalId }: KeptAnswer,
  caller: string,
  why: string | null,
  record: JsonObject,
): GovernedReply {
  ctx.held.take(caller, digest);
  const reason = cut(why ?? 'a person said no to this answer');
  return {
    reply: failure(RPC.denied, `denied: ${reason}`, { by: 'person', approval_id: approvalId }),
    record: { ...record, verdict: 'deny', reason },
  };
}

function actionOf({ facts, params, tool, pinned }: GovernedCall): Action {
  const { _meta: __, ...rest } = params ?? {};
  const { progressToken: _, traceparent: ___, tracestate: ____, ...meta } = metaOf(params);
  return {
    kind: 'mcp.call',
    subject: `${facts.server} ${facts.method} ${facts.name}`.trim().slice(0, 300),
    detail: {
      caller: facts.caller,
      server: facts.server,
      method: facts.method,
      params: Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta },
      ...(tool !== undefined && pinned ? { tool_digest: tool.digest } : {}),
    },
  };
}

function evaluatorsFor(
  ctx: McpContext,
  caller: McpCaller,
  history: History,
  call: GovernedCall,
): readonly Evaluator[] {
  const { facts } = call;
  const said: Evaluation[] = [judgeByRules(ctx.rules, ctx.config.default, facts, history)];
  const named = facts.name !== '';
  if (!anyMatches(caller.servers, facts.server) || (named && !anyMatches(caller.names, facts.name)))
    said.push(denial('mcp.callers', 'least_privilege', `${facts.caller} may not use this`));
  const paths = judgePaths(ctx.config.workspaces, facts);
  if (paths !== undefined) said.push(paths);
  if (facts.method === 'tools/call' && call.pinned) said.push(pinEvaluation(ctx, call));
  return [
    ...said.map((evaluation) => ({ name: evaluation.evaluator, evaluate: () => evaluation })),
    ...ctx.policies,
  ];
}

function pinEvaluation(ctx: McpContext, { facts, tool }: GovernedCall): Evaluation {
  if (tool === undefined) return denial('mcp.pins', 'pin.unknown', 'the server does not list this tool');
  const standing = tool.standing === 'pinned' ? 'pinned' : ctx.pins.standing(facts.server, tool);
  const evaluation = { evaluator: 'mcp.pins', rule: `pin.${standing}` };
  switch (standing) {
    case 'pinned':
      return { ...evaluation, verdict: 'allow', reason: 'the tool is as it was first seen' };
    case 'changed':
      return {
        ...evaluation,
        verdict: 'require_approval',
        reason: 'the description or schema of this tool has changed',
      };
    case 'new':
      return {
        ...evaluation,
        verdict: 'require_approval',
        reason: 'this tool was not there when the server was first seen',
      };
  }
}

function denial(evaluator: string, rule: string, reason: string): Evaluation {
  return { evaluator, verdict: 'deny', rule, reason };
}

function recordOf(
  ctx: McpContext,
  { facts, params }: GovernedCall,
  action: Action,
  passed: Passed,
): JsonObject {
  const small = facts.bytes <= MAX_RECORDED;
  return {
    type: 'mcp.request',
    request_id: ctx.nextRequestId(),
    caller: facts.caller,
    server: facts.server,
    method: facts.method.slice(0, 200).toWellFormed(),
    name: cut(facts.name),
    action_digest: passed.outcome === 'granted' ? passed.writ.digest : safeDigest(action),
    policy_digest: ctx.policyDigest,
    verdict: passed.decision.verdict,
    evaluations: passed.decision.evaluations.map((e) => ({
      evaluator: e.evaluator,
      verdict: e.verdict,
      rule: e.rule,
      reason: e.reason.slice(0, 500).toWellFormed(),
    })),
    ...(passed.outcome === 'granted' && passed.approval !== undefined
      ? { approval_id: passed.approval.approvalId, approver: passed.approval.approver }
      : {}),
    ...(small && passed.decision.evaluations.length > 0
      ? { params: redactJson(params ?? {}).value }
      : { params_sha256: sha256(JSON.stringify(params ?? {})) }),
  };
}

/** So that its digest is worked out once. Without a canonical form it stays as it is and is denied for that. */
function frozen(action: Action): Action {
  try {
    return frozenAction(action);
  } catch {
    return action;
  }
}

function safeDigest(action: Action): Digest | null {
  try {
    return actionDigest(action);
  } catch {
    return null;
  }
}

const cut = (text: string) => text.slice(0, 500).toWellFormed();
