import { dirname } from 'node:path';
import { CODES, messageOf, WritError } from './errors.ts';
import { quoteArgv } from './quote.ts';

/** What the operating system says about files that only a person can put right, and where to look. */
const KNOWN: Readonly<Record<string, readonly [string, (path: string) => string]>> = {
  ENOSPC: ['the disk is full', freeSpace],
  EDQUOT: ['the quota of the disk is used up', freeSpace],
  EROFS: ['the file system is read-only', rights],
  EACCES: ['permission is denied', rights],
  EPERM: ['it is not permitted', rights],
  ENOENT: ['there is no such file', rights],
  ENOTDIR: ['a part of the path is not a folder', rights],
  EISDIR: ['it is a folder', rights],
  ELOOP: ['it is a symbolic link, or links in a circle', rights],
  ENAMETOOLONG: ['its name is too long', () => 'choose a shorter name'],
  EMFILE: ['too many files are open', () => 'ulimit -n 4096'],
  ENFILE: ['too many files are open', () => 'close other programs, then try again'],
  EIO: ['the disk failed', () => 'check the disk, then try again'],
};

/** Errors of the file system as ours, by what to do about them. Others pass through. */
export function fileError(error: unknown, where?: string): unknown {
  if (!(error instanceof Error) || error instanceof WritError) return error;
  const { code, path: named } = error as NodeJS.ErrnoException;
  const known = code !== undefined && Object.hasOwn(KNOWN, code) ? KNOWN[code] : undefined;
  const path = named ?? where;
  if (known === undefined || path === undefined) return error;
  const [what, look] = known;
  return new WritError(CODES.storage_failed, `${path}: ${what} (${messageOf(error)})`, {
    suggestion: look(path),
    context: { path },
    cause: error,
  });
}

function freeSpace(path: string): string {
  return `df -h ${quoteArgv([dirname(path)])}`;
}

function rights(path: string): string {
  return `ls -ld ${quoteArgv([dirname(path), path])}`;
}
