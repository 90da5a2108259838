import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isJsonObject, parseJson } from '../../core/index.ts';
import { statePaths } from '../../ledger/index.ts';
import { ANCHOR_EVENT } from './anchor.ts';

/**
 * The run stores a state folder knows of: its own database when it holds runs, and every database that was
 * ever anchored in its ledger, also one that is gone.
 */
export function findRunStores(stateDir: string): readonly string[] {
  const { database } = statePaths(stateDir);
  const found = new Set(anchoredStores(stateDir));
  if (existsSync(database) && holdsRuns(database)) found.add(database);
  return [...found];
}

/** Databases the ledger of a state folder vouches for. */
export function anchoredStores(stateDir: string): readonly string[] {
  const journal = resolve(statePaths(stateDir).ledger, 'runs.jsonl');
  const found = new Set<string>();
  for (const line of existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : []) {
    const record = parseJson(line);
    if (!record.ok || !isJsonObject(record.value)) continue;
    const { event_type, database } = record.value;
    if (event_type === ANCHOR_EVENT && typeof database === 'string')
      found.add(resolve(dirname(journal), database));
  }
  return [...found];
}

/** True when a database has the tables of runs, and when it cannot be told. */
export function holdsRuns(path: string): boolean {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
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
