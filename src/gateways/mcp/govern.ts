import type { Evaluator } from '../../authority/index.ts';
import {
  type Action,
  actionDigest,
  type Evaluation,
  type JsonObject,
  messageOf,
  sha256,
} from '../../core/index.ts';
import { intent, outcome } from '../../ledger/index.ts';
import { redactJson } from '../../redact/index.ts';
import type { Passed } from '../gate.ts';
import { anyMatches } from '../names.ts';
import type { McpCaller, McpContext } from './context.ts';
import { failure, type Id, type Reply, RPC } from './message.ts';
import type { Peer } from './peer.ts';
import type { ToolPin } from './pins.ts';
import { governResponse } from './responses.ts';
import { type History, judgeByRules, type McpFacts } from './rules.ts';
import { judgePaths } from './workspace.ts';

/** One request on its way to one server. */
export interface GovernedCall {
  readonly peer: Peer;
  readonly facts: McpFacts;
  readonly params: JsonObject;
  /** The tool as it is now, for calls of tools on pinned servers. */
  readonly tool: ToolPin | undefined;
  readonly pinned: boolean;
  readonly clientId?: Id;
  readonly signal: AbortSignal;
  readonly waiting: (approvalId: string) => void;
}

/** Larger than this, arguments are recorded by their digest only. */
const MAX_RECORDED = 64 * 1024;

/**
 * Judge, record, forward under a writ, judge the answer, record.
 *
 * V1 The intent is durable before the server hears anything; the outcome follows with the next flush, and if
 *    that ever fails nothing more is forwarded.
 * V2 The action holds the parameters as they are sent (without the progress token, which is the wire's).
 */
export async function govern(
  ctx: McpContext,
  caller: McpCaller,
  history: History,
  call: GovernedCall,
): Promise<Reply> {
  const { facts, peer } = call;
  if (ctx.recordFailed) return failure(RPC.internal, 'the gateway cannot record calls any more: refused');
  const action = actionOf(call);
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
    },
    {
      forMs: facts.method === 'tools/call' ? ctx.config.limits.approval_wait_seconds * 1000 : 0,
      signal: call.signal,
      tick: call.waiting,
    },
  );
  const record = recordOf(ctx, call, action, passed);
  if (passed.outcome !== 'granted') {
    const waiting = passed.outcome === 'waiting';
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
  const id = await intent(ctx.deps.journal, record, ctx.deps.ids);
  passed.writ.use(action);
  if (passed.approval !== undefined && call.tool !== undefined && call.pinned)
    ctx.pins.accept(facts.server, call.tool);
  const reply = await peer.request(facts.method, call.params, {
    timeoutMs: ctx.config.limits.call_timeout_seconds * 1000,
    signal: call.signal,
    ...(call.clientId === undefined ? {} : { clientId: call.clientId }),
  });
  history.note(facts);
  const governed = governResponse(ctx.config, reply);
  ctx.metrics.count('calls_total', { server: facts.server, outcome: governed.reply.ok ? 'done' : 'failed' });
  outcome(ctx.deps.journal, id, {
    type: 'mcp.response',
    outcome: governed.reply.ok ? 'done' : 'failed',
    ...governed.record,
  }).catch((error) => {
    ctx.recordFailed = true;
    ctx.deps.log?.({ event: 'mcp.record_failed', reason: messageOf(error).slice(0, 300) });
  });
  return governed.reply;
}

function actionOf({ facts, params, tool, pinned }: GovernedCall): Action {
  const { _meta, ...rest } = params;
  const { progressToken: _, ...meta } = (_meta ?? {}) as JsonObject;
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
  const said: Evaluation[] = [judgeByRules(ctx.config.rules, ctx.config.default, facts, history)];
  const named = facts.name !== '' && facts.method !== 'completion/complete';
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
  const standing = ctx.pins.standing(facts.server, tool);
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
    request_id: ctx.deps.ids.next('mcp'),
    caller: facts.caller,
    server: facts.server,
    method: facts.method.slice(0, 200).toWellFormed(),
    name: facts.name.slice(0, 500).toWellFormed(),
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
      ? { params: redactJson(params).value }
      : { params_sha256: sha256(JSON.stringify(params)) }),
  };
}

/** An action without a canonical form was denied for just that. */
function safeDigest(action: Action): string | null {
  try {
    return actionDigest(action);
  } catch {
    return null;
  }
}

function refusal(passed: Exclude<Passed, { outcome: 'granted' }>, method: string): Reply {
  if (passed.outcome === 'denied') {
    const data = {
      by: passed.by,
      ...(passed.approvalId === undefined ? {} : { approval_id: passed.approvalId }),
    };
    return failure(RPC.denied, `denied: ${passed.reason}`, data);
  }
  const text = `This call waits for a person (${passed.approvalId}). Make the same call again, unchanged, once it is approved.`;
  return method === 'tools/call'
    ? {
        ok: true,
        result: {
          isError: true,
          content: [{ type: 'text', text }],
          _meta: { 'writ/approval_id': passed.approvalId },
        },
      }
    : failure(RPC.denied, text, { approval_id: passed.approvalId });
}
