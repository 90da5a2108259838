import type { DatabaseSync } from 'node:sqlite';
import { CODES, EXIT, type Json, parseJson, WritError } from '../../core/index.ts';
import { databaseError, openDatabase } from '../../ledger/index.ts';
import { PAYLOAD_COLUMNS, RUN_COLUMNS, referredPayload } from './format-v1.ts';
import type { CallRow, EventRow, ResultRow, RunEvent, RunRow } from './rows.ts';
import { RUN_STORE } from './schema.ts';

/** A step as it was recorded. `result` is missing while it waits, or when nobody knows how it ended. */
export interface StepRecord {
  readonly call: CallRow;
  readonly result: ResultRow | undefined;
}

/** Reads runs and changes nothing: the database is opened read-only. */
export interface RunReader {
  listRuns(limit?: number): readonly RunRow[];
  /** A run by its id, or by a front of it that fits only one. */
  getRun(id: string): RunRow | undefined;
  /** The steps of a run in order, one at a time; of a step tried twice, both. */
  steps(runId: string): Iterable<StepRecord>;
  events(runId: string): readonly EventRow[];
  close(): void;
}

export function openRunReader(dbPath: string): RunReader {
  return new SqliteRunReader(openDatabase(dbPath, RUN_STORE, { readonly: true }), dbPath);
}

/** Reads through a connection that somebody else opened and will close. */
export function readerOver(db: DatabaseSync, dbPath: string): RunReader {
  return new SqliteRunReader(db, dbPath);
}

class SqliteRunReader implements RunReader {
  readonly #db: DatabaseSync;
  readonly #path: string;

  constructor(db: DatabaseSync, path: string) {
    this.#db = db;
    this.#path = path;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw databaseError(this.#path, error);
    }
  }

  listRuns(limit = 100): readonly RunRow[] {
    return this.#guard(() =>
      // Without their texts: a list is for looking, and a plan can be long.
      this.#db
        .prepare(
          `SELECT ${RUN_COLUMNS.map((c) => (c.endsWith('_json') ? `'' AS ${c}` : c)).join(', ')} FROM runs ORDER BY created_at DESC, rowid DESC LIMIT ?`,
        )
        .all(limit)
        .map((row) => ({ ...row }) as unknown as RunRow),
    );
  }

  getRun(id: string): RunRow | undefined {
    return this.#guard(() => {
      const found = this.#db
        .prepare(
          "SELECT * FROM runs WHERE run_id = ? OR run_id LIKE ? || '%' ESCAPE '\\' ORDER BY run_id = ? DESC LIMIT 2",
        )
        .all(id, id.replace(/[\\%_]/g, '\\$&'), id);
      const [first, second] = found;
      if (first === undefined || (second !== undefined && first.run_id !== id)) return undefined;
      return this.#whole('runs', first) as unknown as RunRow;
    });
  }

  *steps(runId: string): Iterable<StepRecord> {
    const calls = this.#db.prepare(
      'SELECT * FROM tool_calls WHERE run_id = ? ORDER BY step_index, chain_seq',
    );
    const result = this.#db.prepare('SELECT * FROM tool_results WHERE call_id = ?');
    for (const row of calls.iterate(runId)) {
      const found = result.get(String(row.call_id));
      yield {
        call: this.#whole('tool_calls', row) as unknown as CallRow,
        result: found && (this.#whole('tool_results', found) as unknown as ResultRow),
      };
    }
  }

  events(runId: string): readonly EventRow[] {
    return this.#guard(() =>
      this.#db
        .prepare('SELECT run_id, event, at, detail_json FROM run_events WHERE run_id = ? ORDER BY chain_seq')
        .all(runId)
        .map((row) => ({
          run_id: runId,
          event: row.event as RunEvent,
          at: String(row.at),
          detail: json(String(row.detail_json)),
        })),
    );
  }

  /** The row with its long texts fetched. */
  #whole(table: keyof typeof PAYLOAD_COLUMNS, row: Record<string, unknown>): Record<string, unknown> {
    const whole = { ...row };
    for (const column of PAYLOAD_COLUMNS[table]) {
      const hash = referredPayload(whole[column] as string | null);
      if (hash !== undefined) whole[column] = this.#payload(hash);
    }
    return whole;
  }

  #payload(hash: string): string {
    const row = this.#db.prepare('SELECT body FROM payloads WHERE hash = ?').get(hash);
    if (row) return String(row.body);
    throw new WritError(CODES.integrity_broken, `${this.#path}: the text ${hash.slice(0, 12)}… is missing`, {
      suggestion: 'see what else is wrong: writ audit verify',
      exit: EXIT.integrity,
    });
  }

  close(): void {
    this.#db.close();
  }
}

export function json(text: string | null): Json {
  if (text === null) return null;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : null;
}
