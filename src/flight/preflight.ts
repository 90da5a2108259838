import {
  type AggregationMethod,
  aggregate,
  type Decision,
  type Evaluation,
  type Json,
  type JsonObject,
  messageOf,
} from '../core/index.ts';
import { evaluationOf } from '../policy/index.ts';
import type { Artifact } from './artifacts.ts';
import type { Judges } from './judges.ts';
import type { Receipt } from './protocol.ts';
import { type Described, describe, destructiveRule, fileRules, pathsRule, secretsRule } from './rules.ts';
import type { PlanToken } from './token.ts';
import type { Step } from './workflow.ts';

/**
 * Preflight: rules → OPA → ONNX → one decision. No side effects; the same plan gets the same answer.
 *
 * PF1 What cannot be loaded or fails denies, and no aggregation outvotes it.
 * PF2 Silence of everyone is `warn` (or what the project says), never `allow`.
 */
const MAX_POLICY_TEXT = 256 * 1024;

export interface PreflightOptions {
  readonly workflowId: string;
  readonly step: Step;
  readonly workspace: string;
  readonly receipt: Receipt;
  readonly artifacts: readonly Artifact[];
  readonly token: PlanToken;
  readonly judges: Judges;
  readonly secrets: Readonly<Record<string, string>>;
  readonly isolation: 'bubblewrap' | 'none';
  readonly method: AggregationMethod;
  readonly defaultVerdict: 'warn' | 'require_approval' | 'deny';
  /** Judges the commands of a `command` step, when there are any. */
  readonly judgeCommand?: (argv: readonly string[]) => Promise<Evaluation> | Evaluation;
  readonly commands: readonly (readonly string[])[];
}

export async function preflight(options: PreflightOptions): Promise<Decision> {
  const { step, judges } = options;
  const described = options.artifacts.map(describe);
  const evaluations: Evaluation[] = [
    ...pathsRule(described, options.workspace),
    ...secretsRule(described, options.secrets),
    ...destructiveRule(described),
  ];
  let failed = false;
  for (const rules of judges.rules)
    try {
      evaluations.push(...fileRules(rules, described));
    } catch (error) {
      failed = true;
      evaluations.push({
        evaluator: 'rule:file',
        verdict: 'deny',
        rule: 'rules-unreadable',
        reason: messageOf(error),
        file: rules.file,
      });
    }
  if (step.approval !== undefined) evaluations.push(workflowApproval(step));
  for (const argv of options.commands) evaluations.push(await commandVerdict(argv, options));
  const input = preflightInput(options, described);
  for (const judge of judges.documents) {
    const said = await judge.evaluate(input);
    failed ||= said.failed === true;
    evaluations.push(evaluationOf(judge, said));
  }
  const cautions: Evaluation[] = [];
  if (options.isolation === 'none')
    cautions.push(caution('isolation-none', 'this step runs without isolation: the workflow says so'));
  const hosts = [...(step.network?.['flight-plan'] ?? []), ...(step.network?.['take-off'] ?? [])];
  if (hosts.length > 0)
    cautions.push(
      caution(
        'network',
        `this step may use the network: ${hosts.join(', ')}${options.isolation === 'none' ? '; without isolation nothing holds it to that' : ''}`,
      ),
    );
  if (evaluations.length === 0)
    evaluations.push({
      evaluator: 'writ',
      verdict: options.defaultVerdict,
      rule: 'no-policy',
      reason: 'no policy judged this step',
    });
  const decision = aggregate([...evaluations, ...cautions], options.method);
  return failed ? { ...decision, verdict: 'deny' } : decision;
}

function workflowApproval(step: Step): Evaluation {
  const role = step.approval?.role;
  return {
    evaluator: 'workflow',
    verdict: 'require_approval',
    rule: 'approval',
    reason: `the workflow wants step ${step.id} approved${role === undefined ? '' : ` by a ${role}`}`,
    ...(role === undefined ? {} : { requiredRole: role }),
  };
}

async function commandVerdict(argv: readonly string[], options: PreflightOptions): Promise<Evaluation> {
  if (options.judgeCommand === undefined)
    return {
      evaluator: 'shell',
      verdict: 'deny',
      rule: 'no-shell',
      reason: 'there is no shell to run commands with',
    };
  return options.judgeCommand(argv);
}

function caution(rule: string, reason: string): Evaluation {
  return { evaluator: 'writ', verdict: 'warn', rule, reason };
}

/** The published input document; what artifacts say rides in `context.artifacts`. */
export function preflightInput(options: PreflightOptions, described: readonly Described[]): JsonObject {
  const artifacts = described.map(({ artifact, text, truncated }) => ({
    name: artifact.name,
    role: artifact.role,
    artifact_type: artifact.document.artifact_type,
    action: artifact.document.action,
    target: artifact.document.target ?? null,
    mime: artifact.document.mime,
    metadata: artifact.document.metadata ?? {},
    text: text.slice(0, MAX_POLICY_TEXT).toWellFormed(),
    truncated: truncated || text.length > MAX_POLICY_TEXT,
  }));
  return JSON.parse(
    JSON.stringify({
      workflow_id: options.workflowId,
      step_id: options.step.id,
      mode: 'flight-plan',
      engine_output: options.receipt,
      evidence: options.artifacts.map((a) => ({
        name: a.name,
        path: `${a.name}/artifact.json`,
        hash: a.hash,
      })),
      context: { ...options.step.context, artifacts },
      plan_token: options.token,
    }),
  ) as { readonly [key: string]: Json };
}
