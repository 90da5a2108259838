/**
 * The full reader: what the shell grammar makes of a text, reduced to what can be executed without a shell.
 *
 * 1. A command is plain only if every character of it is accounted for by plain words and single pipes.
 * 2. Each word is read twice, by the grammar and by `unquote`; if they differ it is not plain.
 * 3. The first thing that makes a text not plain is named, with its place.
 */
import type {
  AndOr,
  Command,
  ParsedScript,
  PipelineNode,
  Redirection,
  Word as SyntaxWord,
  WordPart,
} from 'unbash';
import type { Rule, Verdict, Word } from './rule.ts';
import * as rules from './structure-rules.ts';
import { unquote } from './unquote.ts';

export interface Reading {
  /** Commands joined by pipes, or null when the text is something else. */
  readonly stages: readonly (readonly Word[])[] | null;
  /** Why it is not one plain command; null when it is. */
  readonly objection: Verdict | null;
}

class NotPlain extends Error {
  readonly verdict: Verdict;
  constructor(rule: Rule, node: { readonly pos: number; readonly end: number }) {
    super(rule.id);
    this.verdict = { rule, start: node.pos, end: node.end };
  }
}

function partRule(part: WordPart): Rule | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'Glob':
      return null;
    case 'DoubleQuoted': {
      for (const child of part.parts) {
        if (child.type === 'CommandExpansion') return rules.substitution;
        if (child.type !== 'Literal') return rules.variable;
      }
      return null;
    }
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return rules.substitution;
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'ArithmeticExpansion':
      return rules.variable;
    case 'BraceExpansion':
    case 'AnsiCQuoted':
    case 'LocaleString':
    case 'ExtendedGlob':
      return rules.expansion;
  }
}

function readWord(word: SyntaxWord): Word {
  let glob = false;
  for (const part of word.parts ?? []) {
    const rule = partRule(part);
    if (rule !== null) throw new NotPlain(rule, part);
    if (part.type === 'Glob') glob = true;
  }
  if (word.text.startsWith('~')) throw new NotPlain(rules.expansion, word);
  if (unquote(word.text) !== word.value) throw new NotPlain(rules.misread, word);
  return { value: word.value, start: word.pos, end: word.end, glob };
}

/** `2>/dev/null` and `2>&1`: both streams are captured apart, so leaving them out changes nothing. */
function onlySilences(redirect: Redirection): boolean {
  if (
    redirect.type !== 'Redirect' ||
    redirect.descriptor?.type !== 'FileDescriptor' ||
    redirect.descriptor.value !== 2
  )
    return false;
  const target = redirect.target?.text;
  return (
    (redirect.operator === '>' && target === '/dev/null') || (redirect.operator === '>&' && target === '1')
  );
}

function readCommand(command: Command, silenced: Redirection[]): Word[] {
  for (const item of command.prefix) {
    if (item.type === 'Assignment') throw new NotPlain(rules.assignment, item);
  }
  for (const redirect of command.redirects) {
    if (onlySilences(redirect)) silenced.push(redirect);
    else throw new NotPlain(redirect.type === 'Redirect' ? rules.redirection : rules.inlineInput, redirect);
  }
  if (command.name === undefined) throw new NotPlain(rules.empty, command);
  const words = [readWord(command.name)];
  for (const arg of command.args) {
    if (arg.type !== 'Word') throw new NotPlain(rules.assignment, arg);
    words.push(readWord(arg));
  }
  return words;
}

function commandsOf(node: PipelineNode | AndOr): readonly Command[] {
  switch (node.type) {
    case 'Command':
      return [node];
    case 'AndOr':
      throw new NotPlain(rules.chain, node);
    case 'Pipeline': {
      if (node.prefixes.length > 0) throw new NotPlain(rules.compound, node);
      if (node.operators.some((operator) => operator !== '|')) throw new NotPlain(rules.pipe, node);
      return node.commands.map((command) => {
        if (command.type !== 'Command') throw new NotPlain(rules.compound, command);
        return command;
      });
    }
    default:
      throw new NotPlain(rules.compound, node);
  }
}

/** Everything between the words must be blanks and pipes: a comment or a stray sign is not ours to skip. */
function accountedFor(
  text: string,
  stages: readonly (readonly Word[])[],
  silenced: readonly Redirection[],
): boolean {
  const spans = [...stages.flat(), ...silenced.map((item) => ({ start: item.pos, end: item.end }))];
  spans.sort((a, b) => a.start - b.start);
  let from = 0;
  let pipes = 0;
  for (const span of [...spans, { start: text.length, end: text.length }]) {
    const gap = text.slice(from, span.start);
    if (!/^[ |\n\t]*$/.test(gap)) return false;
    pipes += gap.split('|').length - 1;
    from = span.end;
  }
  return pipes === stages.length - 1;
}

export function readGrammar(tree: ParsedScript, text: string): Reading {
  try {
    const first = tree.commands[0];
    if (first === undefined) throw new NotPlain(rules.empty, tree);
    const second = tree.commands[1];
    if (second !== undefined) throw new NotPlain(rules.chain, second);
    if (first.background === true) throw new NotPlain(rules.chain, first);
    const silenced: Redirection[] = [];
    const stages = commandsOf(first.command).map((command) => readCommand(command, silenced));
    if (!accountedFor(text, stages, silenced))
      throw new NotPlain(text.includes('#') ? rules.comment : rules.chain, tree);
    const quiet = silenced[0];
    if (quiet === undefined) return { stages, objection: null };
    return { stages, objection: { rule: rules.quietError, start: quiet.pos, end: quiet.end } };
  } catch (error) {
    if (error instanceof NotPlain) return { stages: null, objection: error.verdict };
    throw error;
  }
}
