import type { Authority, Authorization, AuthorizeRequest } from '../authority/index.ts';
import {
  type Clock,
  CODES,
  decidingEvaluation,
  type Evaluation,
  type JsonObject,
  messageOf,
} from '../core/index.ts';
import { toEvaluation } from '../policy/index.ts';
import { type Tool, type ToolOutput, toolAction } from '../tools/index.ts';
import type { CallJudge } from './judge.ts';
import {
  type Call,
  decisionOf,
  errorText,
  type Happened,
  outcomeOf,
  type RecordedDecision,
} from './record.ts';

/** What one step needs to be judged, authorised and run. */
export interface StepRoad {
  readonly judge: CallJudge;
  readonly authority: Authority;
  readonly clock: Clock;
  readonly requester: string;
  readonly whenApprovalNeeded: AuthorizeRequest['whenApprovalNeeded'];
  readonly signal: AbortSignal;
}

export type Permission =
  | {
      readonly kind: 'granted';
      readonly authorization: Extract<Authorization, { outcome: 'granted' }>;
      readonly tool: Tool;
    }
  | { readonly kind: 'denied'; readonly happened: Happened }
  | { readonly kind: 'waiting'; readonly approvalId: string; readonly decision: RecordedDecision };

/** Policy, then authority. `approvalId` uses an approval that was waited for. */
export async function permit(
  road: StepRoad,
  call: Call,
  tool: Tool | undefined,
  used: number,
  approvalId?: string,
): Promise<Permission> {
  const startedAt = road.clock.now().toISOString();
  const request: AuthorizeRequest = {
    action: toolAction({
      tool: call.tool,
      args: call.args,
      facts: call.facts,
      runId: call.runId,
      step: call.index,
    }),
    evaluators: [road.judge.evaluator(used)],
    reasoning: `step ${call.index + 1}${call.stepId === null ? '' : ` (${call.stepId})`} of run ${call.runId}`,
    requester: road.requester,
    policyDigest: road.judge.policy.digest,
    whenApprovalNeeded: road.whenApprovalNeeded,
    signal: road.signal,
    subject: { kind: 'run', workflowId: call.runId, stepId: call.stepId ?? String(call.index) },
  };
  const authorization =
    approvalId === undefined
      ? await road.authority.authorize(request)
      : await road.authority.redeem(approvalId, request);
  switch (authorization.outcome) {
    case 'granted':
      if (tool === undefined) throw new Error(`there is a writ for ${call.tool}, but no such tool`);
      return { kind: 'granted', authorization, tool };
    case 'waiting':
      return {
        kind: 'waiting',
        approvalId: authorization.approvalId,
        decision: decisionOf(decidingEvaluation(authorization.decision) ?? NOBODY, authorization),
      };
    case 'modified':
    case 'denied': {
      const deciding = decidingEvaluation(authorization.decision);
      const denied = denial(authorization, deciding, call.tool);
      const unknown = tool === undefined && deciding?.verdict === 'deny' ? CODES.tool_unknown : CODES.denied;
      const suggestion =
        tool === undefined
          ? `known tools: ${road.judge.registry.names.join(', ')}`
          : 'writ policy explain says what would change it';
      return {
        kind: 'denied',
        happened: {
          status: 'denied',
          data: null,
          error: errorText(unknown, denied.reason, suggestion),
          decision: denied,
          startedAt,
          endedAt: road.clock.now().toISOString(),
        },
      };
    }
  }
}

const NOBODY = {
  verdict: 'require_approval',
  rule: 'require_approval',
  reason: "a person's yes is needed",
} as const;

function denial(
  authorization: Extract<Authorization, { outcome: 'denied' | 'modified' }>,
  deciding: Evaluation | undefined,
  tool: string,
) {
  const by = authorization.outcome === 'modified' ? 'person' : authorization.by;
  const reason =
    authorization.outcome === 'modified'
      ? 'a step cannot be changed, only approved or not'
      : authorization.reason;
  if (by === 'policy' && deciding) return decisionOf({ ...deciding, verdict: 'deny' });
  const approval =
    authorization.outcome === 'denied' && authorization.approvalId !== undefined
      ? { approvalId: authorization.approvalId }
      : {};
  const place = {
    ...(deciding?.file === undefined ? {} : { file: deciding.file }),
    ...(deciding?.line === undefined ? {} : { line: deciding.line }),
  };
  return decisionOf({ verdict: 'deny', rule: `${tool}.require_approval`, reason, ...place }, approval);
}

/** Runs a permitted step. Whatever goes wrong inside a tool is this step's error, never the run's. */
export async function perform(
  road: StepRoad,
  call: Call,
  permission: Extract<Permission, { kind: 'granted' }>,
  timeoutMs: number,
): Promise<Happened & { readonly raw: JsonObject | null }> {
  const { authorization, tool } = permission;
  const { policy, ground } = road.judge;
  const startedAt = road.clock.now().toISOString();
  const context = {
    rules: policy.value.tools[call.tool],
    policy: policy.value,
    ground,
    clock: road.clock,
    signal: road.signal,
    timeoutMs,
  };
  let output: ToolOutput;
  try {
    output = await tool.execute(authorization.writ, context);
  } catch (error) {
    output = { status: 'error', code: CODES.tool_failed, message: messageOf(error) };
  }
  const endedAt = road.clock.now().toISOString();
  const deciding = decidingEvaluation(authorization.decision);
  if (output.status === 'denied') {
    const { finding } = output;
    const at = ['tools', call.tool, ...finding.at];
    const evaluation = toEvaluation(policy, { ...finding, rule: `${call.tool}.${finding.rule}`, at });
    const decision: RecordedDecision = { ...decisionOf(evaluation), stage: 'execution' };
    const error = errorText(CODES.denied, finding.reason);
    return { status: 'denied', data: null, error, decision, startedAt, endedAt, raw: null };
  }
  const allowed = deciding ?? { verdict: 'allow', rule: call.tool, reason: 'allowed' };
  const decision = decisionOf({ ...allowed, verdict: 'allow' }, authorization.approval ?? {});
  const outcome = outcomeOf(output);
  return { ...outcome, decision, startedAt, endedAt, raw: outcome.data };
}
