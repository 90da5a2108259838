import * as fs from 'node:fs';
import { CODES, messageOf, quoteArgv, WritError } from '../core/index.ts';

/**
 * A folder for state, journals or keys: made 0700 when missing, refused when another user could change
 * what is in it. A link is refused too: its target could be anyone's.
 */
export function ensureStateDir(path: string): void {
  try {
    fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unsafe(path, `cannot be made: ${messageOf(error)}`, `mkdir -m 700 -p ${quoteArgv([path])}`, error);
  }
  checkPrivateDir(path);
}

export function checkPrivateDir(path: string): void {
  let found: fs.Stats;
  try {
    found = fs.lstatSync(path);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const type = missing ? `mkdir -m 700 -p ${quoteArgv([path])}` : `ls -ld ${quoteArgv([path])}`;
    throw unsafe(path, missing ? 'is missing' : `cannot be read: ${messageOf(error)}`, type, error);
  }
  if (found.isSymbolicLink())
    throw unsafe(path, 'is a symbolic link', `name the folder itself: ${realOf(path)}`);
  if (!found.isDirectory())
    throw unsafe(path, 'is not a folder', `mv ${quoteArgv([path])} ${quoteArgv([`${path}.old`])}`);
  const me = process.getuid?.();
  if (me === undefined) return;
  if (found.uid !== me)
    throw unsafe(
      path,
      `belongs to user ${found.uid}, not to you (${me})`,
      `sudo chown -R ${me} ${quoteArgv([path])}`,
    );
  if ((found.mode & 0o022) !== 0)
    throw unsafe(
      path,
      `can be written by others (mode ${octal(found.mode)})`,
      `chmod go-w ${quoteArgv([path])}`,
    );
}

export function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

function realOf(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch {
    return `${path} (its target is missing)`;
  }
}

function unsafe(path: string, what: string, type: string, cause?: unknown): WritError {
  return new WritError(CODES.unsafe_state_dir, `${path}: the state folder ${what}`, {
    suggestion: type,
    context: { path },
    cause,
  });
}
