/**
 * `string → Classification`: pure, total, deterministic.
 *
 * 1. Plain commands are read by the fast reader, everything else by the full grammar; both give words.
 * 2. SAFE is only possible for one plain command of an allow-listed program that objects to nothing.
 * 3. FORBIDDEN is looked for in everything that is not SAFE, through wrappers, chains and substitutions.
 * 4. Whatever cannot be read, or fails here, is RISKY and cannot be executed.
 */
import { parse } from 'unbash';
import type { Classification } from '../types.ts';
import { coarseStages } from './coarse.ts';
import { DANGERS } from './dangers.ts';
import { withoutMarks } from './forbidden/marks.ts';
import { base, couldBeForbidden, findForbidden, forbiddenStage } from './forbidden/walk.ts';
import { readGrammar } from './grammar.ts';
import { MOST_TEXT, readable } from './limits.ts';
import { readPlain } from './plain.ts';
import { PROGRAMS, trustedNames } from './programs/index.ts';
import { at, over, type Rule, strictest, type Verdict, type Word } from './rule.ts';
import * as rules from './structure-rules.ts';

const TRUSTED = trustedNames(PROGRAMS);

function result(verdict: Verdict, stages: readonly (readonly Word[])[] | null): Classification {
  const { rule } = verdict;
  return {
    classification: rule.class,
    tier: rule.tier,
    rule: rule.id,
    reason: rule.sentence,
    span: [verdict.start, verdict.end],
    pipeline:
      rule.class === 'FORBIDDEN' || stages === null
        ? null
        : stages.map((words) => words.map((word) => word.value)),
  };
}

/** One command by itself, from the allow list up; FORBIDDEN is not looked for here. */
function judgeCommand(words: readonly Word[]): Verdict {
  const name = words[0]!;
  const program = TRUSTED.get(name.value);
  if (program !== undefined && !name.glob) return program.judge(words);
  const known = base(name.value);
  const danger = DANGERS.get(known);
  if (danger !== undefined) return at(danger, name);
  if (name.value.includes('/') && TRUSTED.has(known)) return at(rules.untrusted, name);
  return at(rules.unlisted, name);
}

/** Everything but FORBIDDEN: the riskiest part of a pipeline decides. */
function judgeRisk(stages: readonly (readonly Word[])[], first: Verdict): Verdict {
  if (stages.length === 1) return first;
  let worst = first;
  for (let i = 1; i < stages.length; i += 1) worst = strictest(worst, judgeCommand(stages[i]!));
  // A pipe of harmless commands is still a chain: a person sees it.
  return worst.rule.class === 'SAFE' ? over(rules.pipe, stages.flat()) : worst;
}

function judgePlain(stages: readonly (readonly Word[])[]): Verdict {
  const first = judgeCommand(stages[0]!);
  if (stages.length === 1 && first.rule.class === 'SAFE') return first;
  if (!stages.some((words) => couldBeForbidden(words[0]!.value))) return judgeRisk(stages, first);
  const hit = forbiddenStage(stages.map((words) => words.map((word) => word.value)));
  return hit !== null ? over(hit.rule, stages[hit.stage]!) : judgeRisk(stages, first);
}

/** Offset of the first character that a person and a program may read differently. */
function oddCharacter(text: string): Verdict | null {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= 0x20 && code < 0x7f) continue;
    return { rule: code < 0x80 ? rules.control : rules.notAscii, start: i, end: i + 1 };
  }
  return null;
}

/** Texts the grammar is not given: read roughly, only to find what is forbidden. */
function judgeRoughly(text: string, rule: Rule): Classification {
  const hit = forbiddenStage(coarseStages(text, couldBeForbidden));
  return result({ rule: hit?.rule ?? rule, start: 0, end: text.length }, null);
}

function judgeFully(command: string): Classification {
  if (!readable(command)) return judgeRoughly(command, rules.tooLong);
  // NUL ends a text for some readers and vanishes for others: look at it without.
  const text = withoutMarks(command.includes('\0') ? command.replaceAll('\0', '') : command);
  const tree = parse(text);
  const hit = findForbidden(tree, text);
  if (hit !== null) return result({ rule: hit.rule, start: hit.start, end: hit.end }, null);
  const odd = oddCharacter(command);
  if (tree.errors !== undefined && tree.errors.length > 0) {
    return result(
      { rule: rules.unreadable, start: Math.min(tree.errors[0]!.pos, command.length), end: command.length },
      null,
    );
  }
  const { stages, objection } = readGrammar(tree, text);
  if (odd?.rule === rules.notAscii) return result(odd, text === command ? stages : null);
  if (stages === null)
    return result(objection ?? { rule: rules.unreadable, start: 0, end: command.length }, null);
  const executable = text === command ? stages : null;
  const verdict = judgeRisk(stages, judgeCommand(stages[0]!));
  return result(odd ?? (verdict.rule.class === 'SAFE' ? (objection ?? verdict) : verdict), executable);
}

/** A line break at the very end separates nothing. */
function withoutTrailingBreak(command: string): string {
  if (!command.endsWith('\n')) return command;
  let end = command.length;
  while (end > 0 && (command.charCodeAt(end - 1) === 0x0a || command.charCodeAt(end - 1) === 0x20)) end -= 1;
  return command.slice(0, end);
}

export function classify(command: string): Classification {
  try {
    const text = withoutTrailingBreak(command);
    if (text.length <= MOST_TEXT) {
      const stages = readPlain(text);
      if (stages !== null) return result(judgePlain(stages), stages);
    }
    return judgeFully(text);
  } catch {
    return judgeFault(command);
  }
}

/** A reader ran out of stack, or something is wrong here: RISKY, unless even a rough look finds worse. */
function judgeFault(command: string): Classification {
  try {
    return judgeRoughly(command, rules.broken);
  } catch {
    return result({ rule: rules.broken, start: 0, end: 0 }, null);
  }
}
