import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { SYSTEM_PATH } from './environment.ts';

/** A program the kernel can start, or the exit code a shell would give and why. */
export type ProgramLookup =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly exitCode: 126 | 127; readonly reason: string };

/**
 * The program a bare name means on our own fixed PATH, as an absolute path whose folder holds no symlink,
 * or undefined. The last component keeps its name: programs such as busybox act by the name they are called.
 */
export function resolveProgram(name: string, path: string = SYSTEM_PATH): string | undefined {
  if (name === '' || name.includes('/') || name.includes('\0')) return undefined;
  const found = searchPath(name, path);
  return found.ok ? join(realpathSync(dirname(found.path)), basename(found.path)) : undefined;
}

/** What `argv[0]` means for a child in `cwd`: a path when it has a slash, else a search of `path`. */
export function lookUpProgram(word: string, cwd: string, path: string = SYSTEM_PATH): ProgramLookup {
  if (word === '') return { ok: false, exitCode: 127, reason: 'the program name is empty' };
  if (word.includes('\0')) return { ok: false, exitCode: 126, reason: 'the program name holds a NUL byte' };
  return word.includes('/') ? examine(resolve(cwd, word), word) : searchPath(word, path);
}

function searchPath(name: string, path: string): ProgramLookup {
  let refused: ProgramLookup | undefined;
  for (const folder of path.split(':')) {
    // An empty or relative entry would mean the current folder: never trusted to hold programs.
    if (!isAbsolute(folder)) continue;
    const found = examine(join(folder, name), name);
    if (found.ok) return found;
    if (found.exitCode === 126) refused ??= found;
  }
  return refused ?? { ok: false, exitCode: 127, reason: `${name}: no such program` };
}

function examine(path: string, shown: string): ProgramLookup {
  const refuse = (exitCode: 126 | 127, why: string): ProgramLookup => ({
    ok: false,
    exitCode,
    reason: `${shown}: ${why}`,
  });
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return refuse(126, 'is a directory');
    if (!stat.isFile()) return refuse(126, 'is not a regular file');
  } catch {
    return refuse(127, 'no such program');
  }
  try {
    accessSync(path, constants.X_OK);
  } catch {
    return refuse(126, 'is not executable');
  }
  // execvp(3) hands a file without a known header to /bin/sh. No shell is ever started here, so refuse it.
  return hasProgramHeader(path) ? { ok: true, path } : refuse(126, 'is neither a binary nor a #! script');
}

function hasProgramHeader(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    // Executable but not readable: nobody can look, and the kernel only runs real binaries that way.
    return true;
  }
  try {
    const head = Buffer.alloc(4);
    const read = readSync(fd, head, 0, 4, 0);
    if (read >= 2 && head[0] === 0x23 && head[1] === 0x21) return true;
    return read === 4 && head.toString('latin1') === '\x7fELF';
  } finally {
    closeSync(fd);
  }
}
