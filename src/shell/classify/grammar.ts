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

/** A verdict that ends the reading; told from words by its rule. */
function stop(rule: Rule, node: { readonly pos: number; readonly end: number }): Verdict {
  return { rule, start: node.pos, end: node.end };
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

function readWord(word: SyntaxWord): Word | Verdict {
  let glob = false;
  const { parts, text, value } = word;
  if (parts !== undefined) {
    for (const part of parts) {
      const rule = partRule(part);
      if (rule !== null) return stop(rule, part);
      if (part.type === 'Literal' && part.text.includes('!')) return stop(rules.expansion, part);
      if (part.type === 'Glob') glob = true;
    }
  }
  // A home folder, or (in an interactive shell) an earlier command.
  if (text.charCodeAt(0) === 0x7e || (parts === undefined && text.includes('!')))
    return stop(rules.expansion, word);
  if (unquote(text) !== value) return stop(rules.misread, word);
  return { value, start: word.pos, end: word.end, glob };
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

function readCommand(command: Command, silenced: Redirection[]): Word[] | Verdict {
  for (const item of command.prefix) if (item.type === 'Assignment') return stop(rules.assignment, item);
  for (const redirect of command.redirects) {
    if (!onlySilences(redirect))
      return stop(redirect.type === 'Redirect' ? rules.redirection : rules.inlineInput, redirect);
    silenced.push(redirect);
  }
  if (command.name === undefined) return stop(rules.empty, command);
  const words: Word[] = [];
  for (const item of [command.name, ...command.args]) {
    if (item.type !== 'Word') return stop(rules.assignment, item);
    const word = readWord(item);
    if ('rule' in word) return word;
    words.push(word);
  }
  return words;
}

function commandsOf(node: PipelineNode | AndOr): readonly Command[] | Verdict {
  switch (node.type) {
    case 'Command':
      return [node];
    case 'AndOr':
      return stop(rules.chain, node);
    case 'Pipeline': {
      if (node.prefixes.length > 0) return stop(rules.compound, node);
      if (node.operators.some((operator) => operator !== '|')) return stop(rules.pipe, node);
      const commands: Command[] = [];
      for (const command of node.commands) {
        if (command.type !== 'Command') return stop(rules.compound, command);
        commands.push(command);
      }
      return commands;
    }
    default:
      return stop(rules.compound, node);
  }
}

/** Everything between the words must be blanks and pipes: a comment or a stray sign is not ours to skip. */
function accountedFor(
  text: string,
  stages: readonly (readonly Word[])[],
  silenced: readonly Redirection[],
): boolean {
  const spans: { start: number; end: number }[] = stages.flat();
  if (silenced.length > 0) {
    for (const item of silenced) spans.push({ start: item.pos, end: item.end });
    spans.sort((a, b) => a.start - b.start);
  }
  let from = 0;
  let pipes = 0;
  for (let k = 0; k <= spans.length; k += 1) {
    const span = spans[k];
    const until = span?.start ?? text.length;
    for (let i = from; i < until; i += 1) {
      const code = text.charCodeAt(i);
      if (code === 0x7c) pipes += 1;
      else if (code !== 0x20 && code !== 0x0a && code !== 0x09) return false;
    }
    from = span?.end ?? from;
  }
  return pipes === stages.length - 1;
}

const notPlain = (objection: Verdict): Reading => ({ stages: null, objection });

export function readGrammar(tree: ParsedScript, text: string): Reading {
  const first = tree.commands[0];
  if (first === undefined) return notPlain(stop(rules.empty, tree));
  const second = tree.commands[1];
  if (second !== undefined) return notPlain(stop(rules.chain, second));
  if (first.background === true) return notPlain(stop(rules.chain, first));
  const commands = commandsOf(first.command);
  if ('rule' in commands) return notPlain(commands);
  const silenced: Redirection[] = [];
  const stages: Word[][] = [];
  for (const command of commands) {
    const words = readCommand(command, silenced);
    if ('rule' in words) return notPlain(words);
    stages.push(words);
  }
  if (!accountedFor(text, stages, silenced))
    return notPlain(stop(text.includes('#') ? rules.comment : rules.chain, tree));
  const quiet = silenced[0];
  return { stages, objection: quiet === undefined ? null : stop(rules.quietError, quiet) };
}
