import type { ShellClass } from '../types.ts';

export type Tier = 0 | 1 | 2 | 3;

/**
 * One reason to call a command what it is. `match` and `notMatch` are whole commands: `checkTables` runs
 * each through the classifier and compares the rule that decided, so a rule cannot quietly stop working.
 */
export interface Rule {
  readonly id: string;
  readonly tier: Tier;
  readonly class: ShellClass;
  /** For the person who is asked; says what could happen, not which table said so. */
  readonly sentence: string;
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

/** A rule and the part of the command that triggered it. */
export interface Verdict {
  readonly rule: Rule;
  readonly start: number;
  readonly end: number;
}

/** A word of the command with quotes and escapes resolved. `glob`: a shell might have expanded it. */
export interface Word {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly glob: boolean;
}

const SEVERITY: Readonly<Record<ShellClass, number>> = { SAFE: 0, RISKY: 1, FORBIDDEN: 2 };

/** The stricter of two verdicts; the first wins a tie, so that the earliest reason is the one shown. */
export function strictest(a: Verdict, b: Verdict): Verdict {
  return SEVERITY[b.rule.class] > SEVERITY[a.rule.class] ? b : a;
}

function define(cls: ShellClass) {
  return (
    id: string,
    tier: Tier,
    sentence: string,
    match: readonly string[],
    notMatch: readonly string[] = [],
  ): Rule => ({ id, tier, class: cls, sentence, match, notMatch });
}

export const safe = define('SAFE');
export const risky = define('RISKY');
export const forbidden = define('FORBIDDEN');

export function at(rule: Rule, word: Word): Verdict {
  return { rule, start: word.start, end: word.end };
}

/** A verdict about a stretch of words, first to last. */
export function over(rule: Rule, words: readonly Word[]): Verdict {
  const first = words[0];
  const last = words[words.length - 1];
  return { rule, start: first?.start ?? 0, end: last?.end ?? 0 };
}
