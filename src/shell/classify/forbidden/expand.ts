/**
 * What words of a script could become when a shell runs it: enough of the shell's expansions to see
 * through disguises, and never more than a few hundred results.
 *
 * Used only to find what must be forbidden. What it cannot follow becomes UNKNOWN, and the command stays
 * RISKY: nothing is ever called harmless because of a value computed here.
 */
import type { DoubleQuotedChild, ParameterExpansionPart, ParsedScript, Word, WordPart } from 'unbash';
import { ANY, BREAK, SET, STAR, UNKNOWN } from './marks.ts';

export type Environment = Map<string, string>;
/** Evaluates a command substitution whose output can be told from its text; null when it cannot. */
export type Substitute = (script: ParsedScript) => string | null;

const MOST_FIELDS = 64;
const MOST_TEXT = 4096;

/** Variables a shell always has; their content is not ours to guess, but it begins with a slash where it is a path. */
const PATHS: ReadonlySet<string> = new Set([
  'HOME',
  'PWD',
  'OLDPWD',
  'PATH',
  'SHELL',
  'TMPDIR',
  'BASH',
  'MAIL',
]);
const ALWAYS: ReadonlySet<string> = new Set([
  ...PATHS,
  'USER',
  'LOGNAME',
  'HOSTNAME',
  'LANG',
  'TERM',
  'UID',
  'EUID',
  'PPID',
  'RANDOM',
  'SECONDS',
  'LINENO',
  'BASHPID',
  '$',
  '?',
  '!',
  '#',
  '-',
  '_',
]);

export function expandWord(word: Word, env: Environment, substitute: Substitute): string[] {
  if (word.parts === undefined) return [tilde(word.text, word.value)];
  const variants = expandParts(word, env, substitute);
  const fields: string[] = [];
  for (const variant of variants) {
    for (const field of variant.split(BREAK)) {
      if (field !== '' || !variant.includes(BREAK)) fields.push(field.slice(0, MOST_TEXT));
      if (fields.length >= MOST_FIELDS) return fields;
    }
  }
  // A word of nothing but unset variables disappears.
  return fields.length === 1 && fields[0] === '' && !/['"]/.test(word.text) ? [] : fields;
}

function expandParts(word: Word, env: Environment, substitute: Substitute): string[] {
  const parts = word.parts;
  if (parts === undefined) return [tilde(word.text, word.value)];
  let results = [''];
  parts.forEach((part, index) => {
    const pieces = expandPart(part, env, substitute, index === 0);
    const next: string[] = [];
    for (const left of results) {
      for (const right of pieces) {
        if (next.length < MOST_FIELDS && left.length < MOST_TEXT) next.push(left + right);
      }
    }
    results = next;
  });
  return results;
}

/** `~` and `~user` lead two levels down at most; where exactly does not matter here. */
function tilde(text: string, value: string): string {
  return text.charCodeAt(0) === 0x7e ? value.replace(/^~[A-Za-z0-9_-]*/, '/home/user') : value;
}

function expandPart(part: WordPart, env: Environment, substitute: Substitute, first: boolean): string[] {
  switch (part.type) {
    case 'Literal':
      return [first ? tilde(part.text, part.value) : part.value];
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [part.value];
    case 'DoubleQuoted':
    case 'LocaleString':
      return [part.parts.map((child) => quoted(child, env, substitute)).join('')];
    case 'Glob':
      return [part.kind === 'star' ? STAR : part.kind === 'question' ? ANY : SET];
    case 'ExtendedGlob':
      return [STAR];
    case 'SimpleExpansion':
      return [split(variable(part.text.slice(1), env))];
    case 'ParameterExpansion':
      return [split(parameter(part, env, substitute))];
    case 'CommandExpansion':
      return [split(part.script === undefined ? UNKNOWN : (substitute(part.script) ?? UNKNOWN))];
    case 'ArithmeticExpansion':
      return [UNKNOWN];
    case 'ProcessSubstitution':
      return ['/dev/fd/63'];
    case 'BraceExpansion':
      return braces(part.text);
  }
}

function quoted(child: DoubleQuotedChild, env: Environment, substitute: Substitute): string {
  switch (child.type) {
    case 'Literal':
      return child.value;
    case 'SimpleExpansion':
      return variable(child.text.slice(1), env);
    case 'ParameterExpansion':
      return parameter(child, env, substitute);
    case 'CommandExpansion':
      return child.script === undefined ? UNKNOWN : (substitute(child.script) ?? UNKNOWN);
    case 'ArithmeticExpansion':
      return UNKNOWN;
  }
}

function variable(name: string, env: Environment): string {
  const known = env.get(name);
  if (known !== undefined) return known;
  if (name === 'IFS') return ' ';
  return ALWAYS.has(name) ? UNKNOWN : '';
}

function parameter(part: ParameterExpansionPart, env: Environment, substitute: Substitute): string {
  const { parameter: name, operation } = part;
  if (part.prefix !== undefined || part.index !== undefined) return UNKNOWN;
  const value = variable(name, env);
  if (operation === undefined || name === 'IFS') return value;
  const set = env.has(name) || ALWAYS.has(name);
  switch (operation.type) {
    case 'Default': {
      const other = expandParts(operation.operand, env, substitute)[0] ?? '';
      return operation.operator.includes('+') ? (set ? other : '') : set ? value : other;
    }
    case 'Slice':
      // The first character of any of these is a slash: an old way to write one.
      if (
        PATHS.has(name) &&
        /^\s*0\s*$/.test(operation.offset.value) &&
        operation.length?.value.trim() === '1'
      )
        return '/';
      return env.has(name) ? slice(value, operation.offset.value, operation.length?.value) : UNKNOWN;
    case 'Remove':
    case 'Replace':
    case 'CaseModification':
    case 'Transform':
    case 'Names':
    case 'Unknown':
      return value === '' ? '' : UNKNOWN;
  }
}

function slice(value: string, offset: string, length: string | undefined): string {
  const from = Number(offset);
  const count = length === undefined ? value.length : Number(length);
  if (!Number.isInteger(from) || !Number.isInteger(count) || count < 0) return UNKNOWN;
  const start = from < 0 ? Math.max(0, value.length + from) : from;
  return value.slice(start, start + count);
}

function split(text: string): string {
  return text.replace(/[ \t\n]+/g, BREAK);
}

/** `{a,b}` with nesting; a sequence (`{1..9}`) or anything odd stands for the unknown. */
function braces(text: string): string[] {
  const inner = text.slice(1, -1);
  const pieces: string[] = [];
  let depth = 0;
  let piece = '';
  for (const char of inner) {
    if (char === ',' && depth === 0) {
      pieces.push(piece);
      piece = '';
      continue;
    }
    if (char === '{') depth += 1;
    if (char === '}') depth -= 1;
    piece += char;
  }
  pieces.push(piece);
  if (pieces.length < 2) return [UNKNOWN];
  return pieces.slice(0, MOST_FIELDS).flatMap((one) => unbrace(one));
}

function unbrace(piece: string): string[] {
  if (piece.length < 256 && /^\{.*,.*\}$/.test(piece)) return braces(piece);
  return [piece.replace(/\\(.)/g, '$1').replace(/["']/g, '').replaceAll('*', STAR)];
}
