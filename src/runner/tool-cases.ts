import { z } from 'zod';
import type { Authority } from '../authority/index.ts';
import { readDocument } from '../core/document.ts';
import { type Clock, CODES, canonicalJson, isJsonObject, type Json, type JsonObject } from '../core/index.ts';
import { policyFromJson } from '../policy/index.ts';
import { createRegistry, type Ground, type Tool } from '../tools/index.ts';
import { createCallJudge } from './judge.ts';
import { perform, permit } from './step.ts';

/** Cases of a third-party tool: data in a file beside it, run along the whole road. */
const caseSchema = z.strictObject({
  name: z.string().min(1).max(200),
  args: z.record(z.string(), z.json()),
  /** The tool's block in the policy. */
  rules: z.record(z.string(), z.json()).default({}),
  expect: z.strictObject({
    status: z.enum(['success', 'denied', 'error', 'waiting']),
    rule: z.string().optional(),
    /** Members the output must have. */
    data: z.record(z.string(), z.json()).optional(),
  }),
});
const casesSchema = z.strictObject({ cases: z.array(caseSchema).min(1).max(1000) });
export type ToolCase = z.infer<typeof caseSchema>;

export interface ToolCaseResult {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: Json;
  readonly got: Json;
}

export function readToolCases(text: string, file: string): readonly ToolCase[] {
  return readDocument(text, casesSchema, { file, code: CODES.invalid_input }).value.cases;
}

export async function testTool(
  tool: Tool,
  cases: readonly ToolCase[],
  road: {
    readonly authority: Authority;
    readonly clock: Clock;
    readonly ground: Ground;
    readonly signal: AbortSignal;
  },
): Promise<readonly ToolCaseResult[]> {
  const results: ToolCaseResult[] = [];
  for (const [index, wanted] of cases.entries()) {
    const got = await tryCase(tool, wanted, index, road);
    results.push({ name: wanted.name, passed: fits(wanted, got), expected: wanted.expect as Json, got });
  }
  return results;
}

async function tryCase(
  tool: Tool,
  wanted: ToolCase,
  index: number,
  road: Parameters<typeof testTool>[2],
): Promise<JsonObject> {
  const registry = createRegistry([tool]);
  const policy = policyFromJson(
    { tools: { [tool.name]: wanted.rules } },
    `case ${index + 1}`,
    registry.otherRules,
  );
  const judge = createCallJudge(policy, registry, road.ground);
  const args = wanted.args as JsonObject;
  const { facts } = await judge.prepare(tool.name, args);
  const call = { callId: `case.${index}`, runId: 'case', index, tool: tool.name, stepId: null, args, facts };
  const steps = { ...road, judge, requester: 'tool test', whenApprovalNeeded: 'never' } as const;
  const permission = await permit(steps, call, tool, 0);
  if (permission.kind === 'waiting') return { status: 'waiting' };
  const happened =
    permission.kind === 'denied' ? permission.happened : await perform(steps, call, permission, 30_000);
  return {
    status: happened.status,
    rule: happened.decision.rule,
    data: happened.data,
    error: happened.error,
  };
}

function fits(wanted: ToolCase, got: JsonObject): boolean {
  const { status, rule, data } = wanted.expect;
  if (got.status !== status) return false;
  if (rule !== undefined && got.rule !== rule && !String(got.rule).endsWith(`.${rule}`)) return false;
  const output = isJsonObject(got.data) ? got.data : {};
  return Object.entries(data ?? {}).every(
    ([key, value]) => output[key] !== undefined && canonicalJson(output[key]) === canonicalJson(value),
  );
}
