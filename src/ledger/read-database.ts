import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/**
 * A database for reading only. Beside one in WAL mode SQLite makes files of its own, also to read; in a folder
 * that is read-only it cannot. With nothing left in its log, it is read there as a file that nobody changes.
 */
export function openForReading(path: string, busyTimeoutMs = 5000): DatabaseSync {
  const options = { readOnly: true, timeout: busyTimeoutMs, enableForeignKeyConstraints: true };
  if (!isAtRest(path)) return new DatabaseSync(path, options);
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, options);
}

function isAtRest(path: string): boolean {
  if (fs.existsSync(`${path}-shm`)) return false;
  if ((fs.statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return false;
  try {
    fs.accessSync(dirname(path), fs.constants.W_OK);
    return false;
  } catch {
    return true;
  }
}
