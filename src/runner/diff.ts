import { isJsonObject, type Json, type JsonObject } from '../core/index.ts';
import { toEvaluation } from '../policy/index.ts';
import type { CallJudge } from './judge.ts';
import { json, type RunReader } from './store/reader.ts';
import type { RunRow } from './store/rows.ts';

/** A recorded call that another policy would decide otherwise. */
export interface ChangedDecision {
  readonly run_id: string;
  readonly step: number;
  readonly tool: string;
  readonly args: Json;
  readonly before: string;
  readonly after: string;
  readonly rule: string;
  readonly reason: string;
  readonly file: string | null;
  readonly line: number | null;
}

export interface PolicyDiff {
  readonly calls: number;
  readonly changed: readonly ChangedDecision[];
  /** Calls that cannot be compared: a rule stopped them only while the tool ran. */
  readonly not_comparable: number;
}

/**
 * Judges recorded calls under another policy, from the facts that were recorded with them: the disk as it is
 * now plays no part. What would newly be allowed comes first.
 */
export function diffPolicy(runs: readonly RunRow[], reader: RunReader, judge: CallJudge): PolicyDiff {
  const changed: ChangedDecision[] = [];
  let calls = 0;
  let notComparable = 0;
  for (const run of runs) {
    const used = new Map<string, number>();
    for (const { call, result } of reader.steps(run.run_id)) {
      const recorded = json(result?.policy_decision_json ?? null);
      if (!isJsonObject(recorded) || recorded.rule === 'runner') continue;
      calls++;
      if (recorded.stage === 'execution') {
        notComparable++;
        continue;
      }
      const before = recorded.approver === undefined ? String(recorded.decision) : 'require_approval';
      const count = used.get(call.tool_name) ?? 0;
      const facts = json(call.facts_json) as JsonObject;
      const finding = judge.find(call.tool_name, json(call.args_json) as JsonObject, facts, count);
      if (finding.verdict !== 'deny') used.set(call.tool_name, count + 1);
      if (finding.verdict === before) continue;
      const { file, line } = toEvaluation(judge.policy, finding);
      changed.push({
        run_id: run.run_id,
        step: call.step_index,
        tool: call.tool_name,
        args: json(call.args_json),
        before,
        after: finding.verdict,
        rule: finding.rule,
        reason: finding.reason,
        file: file ?? null,
        line: line ?? null,
      });
    }
  }
  changed.sort((a, b) => weight(a) - weight(b));
  return { calls, changed, not_comparable: notComparable };
}

const ORDER = [
  'deny allow',
  'require_approval allow',
  'deny require_approval',
  'allow require_approval',
  'require_approval deny',
  'allow deny',
];

function weight(change: ChangedDecision): number {
  return ORDER.indexOf(`${change.before} ${change.after}`);
}
