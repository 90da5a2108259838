import type { Finding } from './finding.ts';
import { type AllowGlob, compileAllow, compileDeny, type DenyGlob, fold } from './glob.ts';

/** A path as it was asked for, made absolute without looking at the disk, and as the disk resolves it. */
export interface PathSubject {
  readonly asked: string;
  readonly lexical: string;
  readonly real: string;
}

export interface PathLists {
  readonly allow_paths: readonly string[];
  readonly deny_paths: readonly string[];
  readonly allow_hidden: boolean;
}

export type JudgePath = (subject: PathSubject) => Finding | undefined;

const MAX_PATH = 4096;
const MAX_NAME = 255;

/**
 * P1 Both the path asked for and the one it really leads to must pass every check.
 * P2 No allow list, no path: an empty list allows nothing.
 * P3 What a path means must not depend on who expands it: NUL, control characters and `~` are refused.
 */
export function compilePaths(lists: PathLists, base: string): JudgePath {
  const allow = byFolder(lists.allow_paths.map((pattern) => compileAllow(pattern, base)));
  const deny = lists.deny_paths.map((pattern) => compileDeny(pattern, base));

  const unlisted = (path: string): Finding | undefined => {
    const listed = within(allow, path);
    if (listed.some((glob) => (lists.allow_hidden ? glob.matchesHidden(path) : glob.matches(path))))
      return undefined;
    if (listed.some((glob) => glob.matchesHidden(path)))
      return {
        verdict: 'deny',
        rule: 'allow_hidden',
        at: ['allow_hidden'],
        mend: { op: 'add', at: ['allow_paths'], value: asPattern(path, base) },
        reason: `${path} has a hidden name (one that starts with a dot) in it`,
      };
    return {
      verdict: 'deny',
      rule: 'allow_paths',
      at: ['allow_paths'],
      mend: { op: 'add', at: ['allow_paths'], value: asPattern(path, base) },
      reason:
        allow.size === 0 ? 'allow_paths is empty, so no path is allowed' : `${path} is not in allow_paths`,
    };
  };

  return (subject) => {
    const mistake = pathMistake(subject.asked);
    if (mistake !== undefined) return { verdict: 'deny', rule: 'path', at: [], reason: mistake };
    const linked = subject.real !== subject.lexical;
    const outside =
      unlisted(subject.lexical) ?? (linked ? through(subject, unlisted(subject.real)) : undefined);
    if (outside?.rule === 'allow_paths') return outside;
    // A pattern that names the file says more than that its name is hidden.
    return (
      denies(deny, subject.lexical) ??
      (linked ? through(subject, denies(deny, subject.real)) : undefined) ??
      outside
    );
  };
}

/** Patterns by the folder in front of them, so that a decision does not depend on how many there are. */
type Folders = ReadonlyMap<string, readonly AllowGlob[]>;

function byFolder(globs: readonly AllowGlob[]): Folders {
  return Map.groupBy(globs, ({ folder }) => folder);
}

/** The patterns whose folder is the path or lies above it: no other can match. */
function within(folders: Folders, path: string): readonly AllowGlob[] {
  const found: AllowGlob[] = [];
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const globs = folders.get(path.slice(0, end));
    if (globs) found.push(...globs);
  }
  const everywhere = path === '/' ? undefined : folders.get('/');
  return everywhere ? [...found, ...everywhere] : found;
}

/** Why a path can mean nothing safe, whatever the lists say. */
export function pathMistake(asked: string): string | undefined {
  if (asked === '') return 'the path is empty';
  if (asked.length > MAX_PATH) return `the path is longer than ${MAX_PATH} characters`;
  if (/[\u0000-\u001f\u007f]/.test(asked)) return 'the path holds control characters';
  if (asked.startsWith('~')) return '"~" is not expanded: write the whole path';
  if (!asked.isWellFormed()) return 'the path is not valid Unicode';
  if (asked.length > MAX_NAME && asked.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME))
    return `a name in the path is longer than ${MAX_NAME} bytes`;
  return undefined;
}

function denies(deny: readonly DenyGlob[], path: string): Finding | undefined {
  if (deny.length === 0) return undefined;
  const folded = fold(path);
  // Some file systems drop dots and spaces at the end of a name: `key.pem. ` opens `key.pem`.
  const trimmed = /[. ](\/|$)/.test(folded) ? folded.replace(/[. ]+(?=\/|$)/g, '') : folded;
  for (let i = 0; i < deny.length; i++) {
    const glob = deny[i] as DenyGlob;
    if (glob.matches(folded) || (trimmed !== folded && glob.matches(trimmed)))
      return {
        verdict: 'deny',
        rule: 'deny_paths',
        at: ['deny_paths', i],
        mend: { op: 'remove', at: ['deny_paths', i] },
        reason: `${path} is denied by "${glob.text}" in deny_paths, which wins over allow_paths`,
      };
  }
  return undefined;
}

/** A path as a pattern that matches it alone: relative to the base where it can be, glob characters escaped. */
export function asPattern(path: string, base: string): string {
  const escaped = path.replace(/[*?[\]{}()\\]/g, '\\$&');
  const front = `${base}/`;
  return path.startsWith(front) && !SPECIAL_IN_BASE.test(base) ? `./${escaped.slice(front.length)}` : escaped;
}

const SPECIAL_IN_BASE = /[*?[\]{}()\\]/;

function through(subject: PathSubject, finding: Finding | undefined): Finding | undefined {
  return finding && { ...finding, reason: `${subject.lexical} is a link: ${finding.reason}` };
}
