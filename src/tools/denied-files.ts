import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Which files of the folders a command sees are not for it. A command can walk a folder by itself, so what it is
 * given by name says nothing about what it reads: denied files must not be there when it looks.
 *
 * N1 A folder is closed as a whole. A file is closed under every name it has in these folders.
 * N2 Links are not followed: what they lead to is found under its own name, or lies outside.
 * N3 A folder that cannot be looked through is closed: names in it could still be opened.
 * N4 More to look at or to close than the bounds is a problem, never a shorter answer.
 */
export interface Closing {
  /** May the command not see this path? */
  hidden(path: string): boolean;
  /** May it see, but not change it? */
  fixed(path: string): boolean;
}

export interface Closed {
  readonly masked: readonly string[];
  readonly readonly: readonly string[];
}

const MAX_ENTRIES = 200_000;
/** Each is a mount, and a mount costs a third of a millisecond. */
const MAX_CLOSED = 256;

class TooMuch extends Error {}

export function findClosed(
  roots: readonly string[],
  closing: Closing,
): Closed | { readonly problem: string } {
  try {
    return find(topmost(roots), closing);
  } catch (error) {
    if (error instanceof TooMuch) return { problem: error.message };
    throw error;
  }
}

function find(roots: readonly string[], closing: Closing): Closed {
  const masked = new Set<string>();
  const readonly: string[] = [];
  const counter = { seen: 0 };
  const add = (path: string) => {
    masked.add(path);
    if (masked.size + readonly.length > MAX_CLOSED)
      throw new TooMuch(`more than ${MAX_CLOSED} files and folders are denied one by one`);
  };
  walk(
    roots,
    counter,
    (path) => {
      if (closing.hidden(path)) add(path);
      else if (closing.fixed(path)) readonly.push(path);
      else return true;
      return false;
    },
    add,
  );
  const linked = new Set<string>();
  walk([...masked], counter, (path) => {
    const inode = sharedInode(path);
    if (inode !== undefined) linked.add(inode);
    return true;
  });
  if (linked.size > 0)
    walk(roots, counter, (path) => {
      if (masked.has(path)) return false;
      if (linked.has(sharedInode(path) ?? '')) add(path);
      return true;
    });
  return { masked: [...masked], readonly };
}

/** Shows every folder and file below the roots, and the roots; `visit` says whether to look below. */
function walk(
  roots: readonly string[],
  counter: { seen: number },
  visit: (path: string) => boolean,
  unlisted: (folder: string) => void = () => {},
): void {
  const waiting = roots.filter(visit);
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = entriesOf(folder);
    if (entries === undefined) unlisted(folder);
    for (const entry of entries ?? []) {
      if (++counter.seen > MAX_ENTRIES)
        throw new TooMuch(`there are more than ${MAX_ENTRIES} files to look through for denied ones`);
      if (entry.isSymbolicLink()) continue;
      const path = join(folder, entry.name);
      if (visit(path) && entry.isDirectory()) waiting.push(path);
    }
  }
}

/** Identity of a file that has more names than one. */
function sharedInode(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() && stat.nlink > 1 ? `${stat.dev}:${stat.ino}` : undefined;
}

function topmost(roots: readonly string[]): readonly string[] {
  const unique = [...new Set(roots)];
  return unique.filter((root) => !unique.some((other) => root.startsWith(`${other}/`)));
}

/** Undefined: it is there and cannot be listed. */
function entriesOf(folder: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : undefined;
  }
}
