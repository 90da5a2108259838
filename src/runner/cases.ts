import type { JsonObject } from '../core/index.ts';
import type { LoadedPolicy } from '../policy/index.ts';
import type { Ground, ToolRegistry } from '../tools/index.ts';
import { createCallJudge } from './judge.ts';

/** A case of a policy and how it came out. */
export interface CaseResult {
  readonly index: number;
  readonly name: string;
  readonly passed: boolean;
  readonly expected: string;
  readonly got: string;
  readonly rule: string;
  readonly reason: string;
  readonly line: number | null;
}

/** Judges the cases that a policy carries. Nothing is run; each case stands alone, so quotas do not add up. */
export async function testPolicy(
  policy: LoadedPolicy,
  registry: ToolRegistry,
  ground: Ground,
): Promise<readonly CaseResult[]> {
  const judge = createCallJudge(policy, registry, ground);
  const results: CaseResult[] = [];
  for (const [index, wanted] of policy.value.cases.entries()) {
    const args = wanted.args as JsonObject;
    const { facts } = await judge.prepare(wanted.tool, args);
    const finding = judge.find(wanted.tool, args, facts, 0);
    const rule =
      wanted.rule === undefined ||
      finding.rule === wanted.rule ||
      finding.rule === `${wanted.tool}.${wanted.rule}`;
    results.push({
      index,
      name: wanted.name ?? `${wanted.tool} ${JSON.stringify(wanted.args)}`,
      passed: finding.verdict === wanted.expect && rule,
      expected: wanted.rule === undefined ? wanted.expect : `${wanted.expect} by ${wanted.rule}`,
      got: finding.verdict,
      rule: finding.rule,
      reason: finding.reason,
      line: policy.place(['cases', index])?.line ?? null,
    });
  }
  return results;
}
