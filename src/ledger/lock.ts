import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CODES, messageOf, WritError } from '../core/index.ts';

/**
 * One writer a file. The lock is the kernel's (held through SQLite on an empty file beside the journal),
 * so it ends with its process however that dies: there is no stale lock to judge, no pid to mistake.
 *
 * L1 The lock file is never removed: removing it would let two processes lock two different files.
 * L2 It is never opened except through SQLite: closing any other descriptor would drop the lock.
 */
export interface FileLock {
  release(): void;
}

export function lockPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.lock`);
}

/** Null when somebody else holds it. */
export function tryLock(path: string): FileLock | null {
  const file = lockPath(path);
  try {
    // Exclusive creation gives it our mode without ever opening an existing lock (L2).
    fs.closeSync(fs.openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotLock(file, error);
  }
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    throw cannotLock(file, error);
  }
  const held = db;
  return { release: () => held.close() };
}

const SQLITE_BUSY = 5;

/** Waits up to `waitMs` (of real time: the other process knows no other), then says who has it and what to do. */
export async function lockFile(path: string, waitMs: number): Promise<FileLock> {
  const until = performance.now() + waitMs;
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    const lock = tryLock(path);
    if (lock) return lock;
    if (performance.now() >= until) throw held(path);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function held(path: string): WritError {
  const pid = lockHolder(lockPath(path));
  const who = pid === null ? 'another writer' : pid === process.pid ? 'this process' : `process ${pid}`;
  return new WritError(CODES.storage_locked, `${path} is being written by ${who}`, {
    suggestion:
      pid === process.pid
        ? 'close the journal that is open, or share it'
        : `wait until it ends${pid === null ? '' : ` (ps ${pid})`}, or use another session id`,
    context: { path, pid },
  });
}

/** Who holds the lock, as far as the system tells. Only for the message. */
function lockHolder(file: string): number | null {
  try {
    const inode = `:${fs.statSync(file).ino}`;
    for (const line of fs.readFileSync('/proc/locks', 'utf8').split('\n')) {
      const words = line.trim().split(/\s+/);
      const pid = Number(words[4]);
      if (words[5]?.endsWith(inode) && Number.isSafeInteger(pid) && pid > 0) return pid;
    }
  } catch {
    // no /proc here: the message goes without a pid
  }
  return null;
}

function cannotLock(file: string, error: unknown): WritError {
  return new WritError(CODES.storage_failed, `${file}: cannot lock: ${messageOf(error)}`, {
    suggestion: `check that you may write the folder: ls -ld ${dirname(file)}`,
    cause: error,
  });
}
