import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { openForReading, statePaths } from '../../ledger/index.ts';
import { anchoredStores } from './anchor.ts';

/**
 * The run stores a state folder knows of: its own database when it holds runs, and every database that was
 * ever anchored in its ledger, also one that is gone, unless it was retired.
 */
export function findRunStores(stateDir: string): readonly string[] {
  const { database } = statePaths(stateDir);
  const found = new Set<string>();
  for (const [path, expected] of anchoredStores(stateDir)) if (expected || existsSync(path)) found.add(path);
  if (existsSync(database) && holdsRuns(database)) found.add(database);
  return [...found];
}

/** True when a database has the tables of runs, and when it cannot be told. */
export function holdsRuns(path: string): boolean {
  let db: DatabaseSync | undefined;
  try {
    db = openForReading(path);
    return (
      db.prepare("SELECT 1 FROM sqlite_schema WHERE name IN ('run_store', 'runs', 'tool_calls')").get() !==
      undefined
    );
  } catch {
    // Not readable as a database: the verifier will say what is wrong with it.
    return true;
  } finally {
    db?.close();
  }
}
