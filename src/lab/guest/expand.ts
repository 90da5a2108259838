/** Words of a script → the words a command gets: quotes, variables, substitutions, braces. */
import type { ParsedScript, Word, WordPart } from 'unbash';

/** Where a word stands: its variables, and how to run what is in `$( )`. */
export interface Scope {
  readonly name: string;
  readonly variables: ReadonlyMap<string, string>;
  substitute(script: ParsedScript): string;
}

const MAX_WORDS = 500;

export function expandWord(word: Word, scope: Scope): readonly string[] {
  if (!word.parts) return [word.value];
  const quoted = word.parts.some((p) => p.type === 'DoubleQuoted' || p.type === 'SingleQuoted');
  const text = word.parts.map((p) => expandPart(p, scope)).join('');
  const hasExpansion = word.parts.some(
    (p) => p.type === 'SimpleExpansion' || p.type === 'ParameterExpansion' || p.type === 'CommandExpansion',
  );
  if (word.parts.some((p) => p.type === 'BraceExpansion')) return braces(text);
  // Unquoted values are split at blanks; quoted ones stay whole, even when empty.
  return hasExpansion && !quoted ? text.split(/\s+/).filter((w) => w !== '') : [text];
}

function expandPart(part: WordPart, scope: Scope): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((p) => expandPart(p, scope)).join('');
    case 'SimpleExpansion':
      return variable(part.text.slice(1), scope);
    case 'ParameterExpansion':
      return (
        variable(part.parameter, scope) ||
        (part.operation?.type === 'Default' ? expandWord(part.operation.operand, scope).join(' ') : '')
      );
    case 'CommandExpansion':
      return part.script ? scope.substitute(part.script).replace(/\n+$/, '') : '';
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      return part.text;
  }
}

function variable(name: string, scope: Scope): string {
  const known: Record<string, string> = {
    HOSTNAME: scope.name,
    USER: 'root',
    HOME: '/root',
    PWD: '/root',
    SHELL: '/bin/bash',
    '?': '0',
  };
  return scope.variables.get(name) ?? known[name] ?? '';
}

/** `{1..5}` and `{a,b}`. */
function braces(text: string): readonly string[] {
  const match = /^(.*?)\{([^{}]+)\}(.*)$/.exec(text);
  if (!match) return [text];
  const [, before, inner, after] = match as unknown as [string, string, string, string];
  const range = /^(-?\d+)\.\.(-?\d+)$/.exec(inner);
  const items = range
    ? Array.from({ length: Math.min(MAX_WORDS, Math.abs(Number(range[2]) - Number(range[1])) + 1) }, (_, i) =>
        String(Number(range[1]) + i * Math.sign(Number(range[2]) - Number(range[1]) || 1)),
      )
    : inner.split(',');
  const words: string[] = [];
  // Three ranges in one word are millions: whoever wrote that gets the first few hundred.
  for (const item of items) {
    words.push(...braces(`${before}${item}${after}`));
    if (words.length >= MAX_WORDS) return words.slice(0, MAX_WORDS);
  }
  return words;
}
