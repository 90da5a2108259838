import { type Evaluation, isJsonObject, type Json, type JsonObject, severityOf } from '../../core/index.ts';
import { anyMatches, nameMatches } from '../names.ts';
import type { RateLimiter } from '../rate-limit.ts';
import type { Condition, Conditions, McpRule } from './config.ts';
import type { McpFacts } from './facts.ts';

/**
 * Methods that only talk about the conversation: allowed unless a rule names them.
 * What reads or does something falls to the default.
 */
const HOUSEKEEPING = new Set([
  'initialize',
  'ping',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'logging/setLevel',
  'completion/complete',
  // About calls that were judged when they were made.
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/cancel',
]);

/**
 * What went before, as far as rules ask: which sequence rules a session has armed, how often its caller did what a
 * rule counts. Memory stays flat.
 */
export interface History {
  armed(rule: McpRule): boolean;
  /** Counts this request; asked once for each that the rule selects. */
  tooOften(rule: McpRule, caller: string): boolean;
  note(facts: McpFacts): void;
}

export function sessionHistory(rules: readonly McpRule[], rates: RateLimiter): History {
  const armed = new Set<string>();
  return {
    armed: (rule) => armed.has(rule.name),
    tooOften: (rule, caller) => !rates.take(`${rule.name} ${caller}`, rule.above_per_minute),
    note: (facts) => {
      for (const rule of rules) if (rule.after && selects(rule.after, facts)) armed.add(rule.name);
    },
  };
}

export function judgeByRules(
  rules: readonly McpRule[],
  otherwise: 'allow' | 'deny',
  facts: McpFacts,
  history: History,
): Evaluation {
  const holds = (r: McpRule) =>
    selects(r, facts) &&
    (r.after === undefined || history.armed(r)) &&
    (r.above_per_minute === undefined || history.tooOften(r, facts.caller));
  const rule = strictest(rules.filter(holds));
  if (rule !== undefined) return spoken(rule);
  return HOUSEKEEPING.has(facts.method)
    ? say('allow', 'protocol', 'the protocol itself')
    : say(otherwise, 'default', `no rule speaks of this call: ${otherwise}`);
}

/** An answer no rule speaks of passes: what led to it was judged before. */
export function judgeAnswerByRules(
  rules: readonly McpRule[],
  facts: McpFacts,
  bytes: number,
  texts: () => string,
): Evaluation {
  let lower: string | undefined;
  const holds = ({ contains }: McpRule) => {
    if (contains === undefined) return true;
    lower ??= texts().toLowerCase();
    return contains.some((words) => lower?.includes(words.toLowerCase()));
  };
  const rule = strictest(rules.filter((r) => selects(r, { ...facts, bytes }) && holds(r)));
  return rule === undefined ? say('allow', 'default', 'no rule speaks of this answer') : spoken(rule);
}

function strictest(rules: readonly McpRule[]): McpRule | undefined {
  return rules.reduce<McpRule | undefined>(
    (worst, next) =>
      worst === undefined || severityOf(next.verdict) > severityOf(worst.verdict) ? next : worst,
    undefined,
  );
}

function say(verdict: Evaluation['verdict'], rule: string, reason: string): Evaluation {
  return { evaluator: 'mcp.rules', verdict, rule, reason };
}

function spoken(rule: McpRule): Evaluation {
  return {
    ...say(rule.verdict, rule.name, rule.reason ?? `the rule ${rule.name} says ${rule.verdict}`),
    ...(rule.role !== undefined && rule.verdict === 'require_approval' ? { requiredRole: rule.role } : {}),
  };
}

type Selector = Partial<
  Pick<McpRule, 'callers' | 'servers' | 'methods' | 'names' | 'arguments' | 'larger_than_bytes'>
>;

/** Every part a selector names must hold. */
function selects(selector: Selector, facts: McpFacts): boolean {
  const fits = (patterns: readonly string[] | undefined, value: string) =>
    patterns === undefined || anyMatches(patterns, value);
  return (
    fits(selector.callers, facts.caller) &&
    fits(selector.servers, facts.server) &&
    fits(selector.methods, facts.method) &&
    fits(selector.names, facts.name) &&
    (selector.larger_than_bytes === undefined || facts.bytes > selector.larger_than_bytes) &&
    (selector.arguments === undefined || meets(selector.arguments, facts.arguments))
  );
}

function meets(conditions: Conditions, args: JsonObject): boolean {
  return Object.entries(conditions).every(([path, condition]) => {
    const holds = valuesAt(args, path).some((value) => holdsFor(condition, value));
    return condition.not ? !holds : holds;
  });
}

function holdsFor(condition: Condition, value: Json): boolean {
  const { equals, one_of, matches, contains, above, below, longer_than } = condition;
  const text = typeof value === 'string' ? value : undefined;
  const lower = text?.toLowerCase() ?? '';
  if (equals !== undefined && value !== equals) return false;
  if (one_of !== undefined && !one_of.some((one) => one === value)) return false;
  if (matches !== undefined && (text === undefined || !matches.some((p) => nameMatches(p, text))))
    return false;
  if (contains !== undefined && !contains.some((c) => lower.includes(c.toLowerCase()))) return false;
  if (above !== undefined && !(typeof value === 'number' && value > above)) return false;
  if (below !== undefined && !(typeof value === 'number' && value < below)) return false;
  if (longer_than !== undefined && !(text !== undefined && text.length > longer_than)) return false;
  return true;
}

const MAX_VALUES = 10_000;

/** The values at a dotted path; `*` is any member. Bounded: a huge argument is not walked for ever. */
export function valuesAt(root: Json, path: string): readonly Json[] {
  let found: readonly Json[] = [root];
  for (const step of path.split('.')) {
    const next: Json[] = [];
    for (const value of found) {
      if (next.length >= MAX_VALUES) break;
      if (Array.isArray(value)) {
        if (step === '*') next.push(...(value as readonly Json[]).slice(0, MAX_VALUES));
        else if (/^\d+$/.test(step) && value[Number(step)] !== undefined)
          next.push(value[Number(step)] as Json);
      } else if (isJsonObject(value)) {
        if (step === '*') next.push(...Object.values(value).slice(0, MAX_VALUES));
        else if (Object.hasOwn(value, step)) next.push(value[step] as Json);
      }
    }
    found = next;
  }
  return found;
}
