import * as fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CODES, messageOf, WritError } from '../../core/index.ts';

/**
 * One process a run. The lock is the kernel's, held through SQLite on a small file beside the store, so it
 * ends with its process however that dies.
 */
export interface RunLock {
  release(): void;
}

export function lockRun(dbPath: string, runId: string): RunLock {
  const file = `${dbPath}.${runId}.lock`;
  try {
    fs.closeSync(fs.openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw failed(file, error);
  }
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    throw failed(file, error, runId);
  }
  const held = db;
  return {
    release: () => {
      // Removed while still held: whoever opens the name afterwards makes a new file for a run that has ended
      // or waits, and nobody can hold the old one.
      fs.rmSync(file, { force: true });
      held.close();
    },
  };
}

function failed(file: string, error: unknown, runId?: string): WritError {
  const busy = (error as { errcode?: number }).errcode === 5;
  if (busy && runId !== undefined)
    return new WritError(CODES.storage_locked, `run ${runId} is going on in another process`, {
      suggestion: 'wait until it has ended: writ show-run shows how far it is',
      context: { run_id: runId },
    });
  return new WritError(CODES.storage_failed, `${file}: cannot be locked: ${messageOf(error)}`, {
    suggestion: 'check the folder and its rights',
    cause: error,
  });
}
