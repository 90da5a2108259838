import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PathSubject } from '../policy/index.ts';

export type PathState = 'file' | 'directory' | 'other' | 'missing' | 'loop';

/** A path as asked for and as the disk resolves it, links followed at every depth, also where they dangle. */
export interface ResolvedPath extends PathSubject {
  readonly state: PathState;
  readonly size: number;
  readonly links: number;
}

const MAX_LINKS = 40;

/**
 * R1 `..` is taken away as text before anything is looked up, so it can never climb out of a link's target.
 * R2 A link to nothing is followed to the nothing it names.
 * R3 A loop, or more links than a kernel would follow, is an answer and not an error.
 */
export function resolvePath(asked: string, base: string): ResolvedPath {
  const lexical = asked.includes('\0') ? join(base, '\ufffd') : resolve(base, asked);
  const waiting = lexical
    .split('/')
    .filter((name) => name !== '')
    .reverse();
  let real = '/';
  let stat: Stats | undefined = lstatSync('/');
  let links = 0;
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === '.') continue;
    if (name === '..') {
      real = dirname(real);
      continue;
    }
    const next = join(real, name);
    stat = stat === undefined ? undefined : look(next);
    if (stat?.isSymbolicLink()) {
      if (++links > MAX_LINKS) return { asked, lexical, real: lexical, state: 'loop', size: 0, links };
      const target = readlinkSync(next);
      waiting.push(
        ...target
          .split('/')
          .filter((part) => part !== '')
          .reverse(),
      );
      if (target.startsWith('/')) real = '/';
      stat = look(real);
      continue;
    }
    real = next;
  }
  // A link may have ended in `..`: the last thing looked at is then not the place itself.
  stat = look(real);
  return { asked, lexical, real, state: stateOf(stat), size: stat?.size ?? 0, links };
}

/** Exists, is a folder or file but not the root, and has no link in it: only such a path can be bound. */
export function isPlain(path: string): boolean {
  try {
    const stat = statSync(path);
    return path !== '/' && realpathSync(path) === path && (stat.isDirectory() || stat.isFile());
  } catch {
    return false;
  }
}

/** Writ's own records and keys are no plan's to read or write, whatever its policy allows: why, or undefined. */
export function protectedFrom(masked: readonly string[]): (path: string) => string | undefined {
  const own = [...new Set(masked.flatMap((path) => [path, resolvePath(path, '/').real]))];
  return (path) =>
    own.some((place) => path === place || path.startsWith(`${place}/`))
      ? `${path} belongs to Writ's own records, keys or process, which no plan may touch`
      : undefined;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

function stateOf(stat: Stats | undefined): PathState {
  if (stat === undefined) return 'missing';
  if (stat.isFile()) return 'file';
  return stat.isDirectory() ? 'directory' : 'other';
}
