import type { Evaluation, Verdict } from '../../core/index.ts';
import { severityOf } from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import type { LlmRule } from './config.ts';

/** Who asks what: known before a word of the request or answer is read. */
export interface Scope {
  readonly caller: string;
  readonly model: string;
  readonly operation: string;
}

/** What a request says, read only when somebody asks. */
export interface Content {
  readonly tools: () => readonly string[];
  readonly text: () => string;
}

/** What a rule or a route says of the requests it is for. */
type Selector = Pick<
  LlmRule,
  'callers' | 'models' | 'operations' | 'tools' | 'contains' | 'larger_than_chars'
>;

/** A rule that speaks of this scope; what is left of it are conditions on the content. */
export interface ScopedRule<Of extends Selector = LlmRule> {
  readonly rule: Of;
  /** In lower case. */
  readonly needles: readonly string[] | undefined;
}

export function rulesFor(rules: readonly LlmRule[], on: LlmRule['on'], scope: Scope): readonly ScopedRule[] {
  return rules.filter((rule) => rule.on === on && speaksOf(rule, scope)).map(scopedTo);
}

function scopedTo<Of extends Selector>(rule: Of): ScopedRule<Of> {
  return { rule, needles: rule.contains?.map((text) => text.toLowerCase()) };
}

function speaksOf({ callers, models, operations }: Selector, scope: Scope): boolean {
  if (callers && !anyMatches(callers, scope.caller)) return false;
  if (models && !anyMatches(models, scope.model)) return false;
  return operations === undefined || anyMatches(operations, scope.operation);
}

/** Whether one selector fits a request; its text is read only when the rest fits. */
export function selects(selector: Selector, scope: Scope, content: Content): boolean {
  if (!speaksOf(selector, scope)) return false;
  const scoped = scopedTo(selector);
  if (selector.tools !== undefined && !toolsFit(scoped, content.tools())) return false;
  if (!readsText(scoped)) return true;
  const text = content.text();
  return sizeFits(scoped, text.length) && needlesFit(scoped, text.toLowerCase());
}

export const readsText = ({ rule }: ScopedRule<Selector>) =>
  rule.contains !== undefined || rule.larger_than_chars !== undefined;

/** The strictest rule that fits, or the default when none does. Text is read only when a rule asks for it. */
export function judgeByRules(
  rules: readonly ScopedRule[],
  otherwise: 'allow' | 'deny',
  content: Content,
): Evaluation {
  const text = rules.some(readsText) ? content.text() : '';
  const tools = rules.some(({ rule }) => rule.tools) ? content.tools() : [];
  const lower = rules.some(({ needles }) => needles) ? text.toLowerCase() : '';
  return strictestOf(
    rules.filter(
      (scoped) => toolsFit(scoped, tools) && needlesFit(scoped, lower) && sizeFits(scoped, text.length),
    ),
    otherwise,
  );
}

export function strictestOf(fitting: readonly ScopedRule[], otherwise: 'allow' | 'deny'): Evaluation {
  const worst = fitting.reduce<LlmRule | undefined>(
    (found, { rule }) =>
      found === undefined || severityOf(rule.verdict) > severityOf(found.verdict) ? rule : found,
    undefined,
  );
  if (worst === undefined) return evaluation(otherwise, 'default', `no rule speaks of this: ${otherwise}`);
  return {
    ...evaluation(worst.verdict, worst.name, worst.reason ?? `the rule ${worst.name} says ${worst.verdict}`),
    ...(worst.role !== undefined && worst.verdict === 'require_approval' ? { requiredRole: worst.role } : {}),
  };
}

function evaluation(verdict: Verdict, rule: string, reason: string): Evaluation {
  return { evaluator: 'llm.rules', verdict, rule, reason };
}

export function toolsFit({ rule: { tools } }: ScopedRule<Selector>, called: readonly string[]): boolean {
  return tools === undefined || called.some((tool) => anyMatches(tools, tool));
}

export function needlesFit({ needles }: ScopedRule<Selector>, lower: string): boolean {
  return needles === undefined || needles.some((needle) => lower.includes(needle));
}

export function sizeFits(
  { rule: { larger_than_chars: size } }: ScopedRule<Selector>,
  chars: number,
): boolean {
  return size === undefined || chars > size;
}
