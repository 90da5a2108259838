import type { Evaluation, Verdict } from '../../core/index.ts';
import { severityOf } from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import type { LlmRule } from './config.ts';

/** What rules see of a request or an answer. */
export interface Facts {
  readonly caller: string;
  readonly model: string;
  readonly operation: string;
  readonly tools: readonly string[];
  readonly text: string;
}

/** The strictest rule that fits, or the default when none does. */
export function judgeByRules(
  rules: readonly LlmRule[],
  on: LlmRule['on'],
  otherwise: 'allow' | 'deny',
  facts: Facts,
): Evaluation {
  const text = rules.some((r) => r.contains) ? facts.text.toLowerCase() : '';
  const fitting = rules.filter((rule) => rule.on === on && fits(rule, facts, text));
  const rule = fitting.reduce<LlmRule | undefined>(
    (worst, next) =>
      worst === undefined || severityOf(next.verdict) > severityOf(worst.verdict) ? next : worst,
    undefined,
  );
  if (rule === undefined)
    return evaluation(otherwise, 'default', `no rule speaks of this ${on}: ${otherwise}`);
  return {
    ...evaluation(rule.verdict, rule.name, rule.reason ?? `the rule ${rule.name} says ${rule.verdict}`),
    ...(rule.role !== undefined && rule.verdict === 'require_approval' ? { requiredRole: rule.role } : {}),
  };
}

function evaluation(verdict: Verdict, rule: string, reason: string): Evaluation {
  return { evaluator: 'llm.rules', verdict, rule, reason };
}

/** Every condition a rule names must hold. */
function fits(rule: LlmRule, facts: Facts, text: string): boolean {
  if (rule.callers && !anyMatches(rule.callers, facts.caller)) return false;
  if (rule.models && !anyMatches(rule.models, facts.model)) return false;
  if (rule.operations && !anyMatches(rule.operations, facts.operation)) return false;
  const { tools, contains } = rule;
  if (tools && !facts.tools.some((tool) => anyMatches(tools, tool))) return false;
  if (contains && !contains.some((wanted) => text.includes(wanted.toLowerCase()))) return false;
  if (rule.larger_than_chars !== undefined && facts.text.length <= rule.larger_than_chars) return false;
  return true;
}

/** How far back a streamed text must be kept so that no forbidden words slip through between two pieces. */
export function windowOf(rules: readonly LlmRule[]): number {
  return rules.reduce(
    (most, rule) =>
      Math.max(most, ...(rule.on === 'response' ? (rule.contains ?? []) : []).map((t) => t.length)),
    0,
  );
}
