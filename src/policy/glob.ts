/**
 * Globs over absolute paths.
 *
 * G1 `*` and `?` never cross `/`; only `**` as a whole segment does.
 * G2 The literal front of a pattern is a folder, compared as text: glob characters in the names of folders
 *    above it mean nothing.
 * G3 A deny pattern covers what lies below its match, ignores case and Unicode form, and without a folder in
 *    front (`**` first, or no slash at all) it holds under every root.
 * G4 A pattern that has no clear meaning is refused when it is loaded, never skipped when it is used.
 */
import { resolve } from 'node:path';
import picomatch from 'picomatch';

export interface AllowGlob {
  readonly text: string;
  /** Everything the pattern can match lies in this folder or is it. */
  readonly folder: string;
  /** Matches without reaching into hidden names that the pattern does not spell out. */
  matches(path: string): boolean;
  /** Would match if hidden names were allowed. */
  matchesHidden(path: string): boolean;
}

export interface DenyGlob {
  readonly text: string;
  /** `folded` is the path through `fold`. */
  matches(folded: string): boolean;
}

const MAX_PATTERN = 1024;
/** Each wildcard is a place to backtrack to: enough for people, too few to blow up on a hostile path. */
const MAX_WILDCARDS = 8;
const SPECIAL = /[*?[\]{}()\\]/;

/** What is wrong with a pattern, in words for its author; undefined when it can be used. */
export function globMistake(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'an empty pattern matches nothing: remove it';
  if (pattern.length > MAX_PATTERN) return `a pattern may have ${MAX_PATTERN} characters`;
  if (/[\u0000-\u001f\u007f]/.test(pattern)) return 'a pattern may not hold control characters';
  if (pattern.startsWith('!')) return 'negation is not a pattern: put it in the deny list without the "!"';
  if (pattern.startsWith('~')) return '"~" is not expanded: write the whole path';
  if ((pattern.match(/\*+|\?|\[|\{/g) ?? []).length > MAX_WILDCARDS)
    return `a pattern may have ${MAX_WILDCARDS} wildcards: write several patterns`;
  const { glob } = split(pattern, '/');
  if (glob.split('/').includes('..')) return '".." may only stand at the start of a pattern';
  try {
    if (glob !== '') toRegExp(glob, { dot: true, below: true });
    return undefined;
  } catch {
    return 'this is not a glob';
  }
}

export function compileAllow(pattern: string, base: string): AllowGlob {
  const { folder, glob } = split(pattern, base);
  const text = pattern;
  if (glob === '') {
    const exact = (path: string) => path === folder;
    return { text, folder, matches: exact, matchesHidden: exact };
  }
  const front = folder === '/' ? '/' : `${folder}/`;
  const tail = literalTail(glob);
  const visible = toRegExp(glob, { dot: false, below: false });
  const all = toRegExp(glob, { dot: true, below: false });
  const test = (regexp: RegExp) => (path: string) => {
    if (path === folder) return regexp.test('');
    return path.startsWith(front) && path.endsWith(tail) && regexp.test(path.slice(front.length));
  };
  return { text, folder, matches: test(visible), matchesHidden: test(all) };
}

export function compileDeny(pattern: string, base: string): DenyGlob {
  const text = pattern;
  const anywhere = pattern.startsWith('**/') || !pattern.replace(/\/+$/, '').includes('/');
  const { folder, glob } = anywhere
    ? { folder: '/', glob: pattern.replace(/\/+$/, '') }
    : split(pattern, base);
  const home = fold(folder);
  const front = home === '/' ? '/' : `${home}/`;
  if (glob === '') return { text, matches: (path) => path === home || path.startsWith(front) };
  const inner = fold(literalTail(glob));
  const regexp = toRegExp(anywhere && !glob.includes('/') ? `**/${glob}` : glob, { dot: true, below: true });
  return {
    text,
    matches: (path) =>
      path.startsWith(front) && path.includes(inner) && regexp.test(path.slice(front.length)),
  };
}

/** One spelling for names that a file system may take for the same: letter case and Unicode form. */
export function fold(path: string): string {
  // Pure ASCII, the usual case, has one form only.
  return /^[\x00-\x7f]*$/.test(path)
    ? path.toLowerCase()
    : path.normalize('NFC').toLowerCase().normalize('NFC');
}

/** The folder in front of a pattern: everything the pattern can match lies in it or is it. */
export function patternFolder(pattern: string, base: string): string {
  return split(pattern, base).folder;
}

/** The folder that a pattern covers with all it holds; undefined when it picks some names out of one. */
export function wholeFolder(pattern: string, base: string): string | undefined {
  const { folder, glob } = split(pattern, base);
  return /^\*\*(\/\*)?$/.test(glob) ? folder : undefined;
}

/** The one path that a pattern without wildcards names. */
export function exactPath(pattern: string, base: string): string | undefined {
  const { folder, glob } = split(pattern, base);
  return glob === '' ? folder : undefined;
}

/** Splits the folder in front, which has no glob characters, from the glob after it. */
function split(pattern: string, base: string): { folder: string; glob: string } {
  const segments = pattern.split('/').filter((segment, i) => segment !== '' || i === 0);
  const at = segments.findIndex((segment) => SPECIAL.test(segment));
  const literal = at === -1 ? segments : segments.slice(0, at);
  const absolute = pattern.startsWith('/');
  return {
    folder: resolve(absolute ? '/' : base, ...literal.filter((segment) => segment !== '')),
    glob: at === -1 ? '' : segments.slice(at).join('/'),
  };
}

/** The letters after the last special character: a cheap test before the expression. */
function literalTail(glob: string): string {
  let end = glob.length;
  while (end > 0 && !SPECIAL.test(glob[end - 1] as string)) end--;
  const tail = glob.slice(end);
  // `**` + `/x` also matches plain `x`, so the slash is no part of what must be there.
  return tail.startsWith('/') ? tail.slice(1) : tail;
}

function toRegExp(glob: string, how: { readonly dot: boolean; readonly below: boolean }): RegExp {
  // A shell writes the negated class with "!", picomatch with "^".
  const options = {
    dot: how.dot,
    nonegate: true,
    noextglob: true,
    windows: false,
    maxLength: MAX_PATTERN * 2,
  };
  const source = picomatch.parse(glob.replaceAll('[!', '[^'), options).output;
  // `s`: a newline is a character like any other in a file name. `i` for deny lists only.
  return how.below ? new RegExp(`^(?:${source})(?:/.*)?$`, 'si') : new RegExp(`^(?:${source})$`, 's');
}
