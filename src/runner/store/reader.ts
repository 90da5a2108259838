import type { DatabaseSync } from 'node:sqlite';
import { CODES, EXIT, type Json, parseJson, WritError } from '../../core/index.ts';
import { databaseError, openDatabase } from '../../ledger/index.ts';
import { type Cell, CHAINED, payloadReference, RUN_COLUMNS, referredPayload } from './format-v1.ts';
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

const REFERENCE_CHARS = payloadReference('0'.repeat(64)).length;

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
    // Without their texts: a list is for looking, and a plan can be long.
    const columns = RUN_COLUMNS.map((column) => (column.endsWith('_json') ? `'' AS ${column}` : column));
    return this.#guard(() =>
      this.#db
        .prepare(`SELECT ${columns.join(', ')} FROM runs ORDER BY created_at DESC, rowid DESC LIMIT ?`)
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
      const row = first as unknown as RunRow;
      return { ...row, plan_json: this.#text(row.plan_json), policy_json: this.#text(row.policy_json) };
    });
  }

  *steps(runId: string): Iterable<StepRecord> {
    // Both tables lie in the order of their ids: two walks side by side cost less than a join.
    const results = this.#rowsOf('tool_results', runId);
    try {
      let next = results.next();
      for (const cells of this.#rowsOf('tool_calls', runId)) {
        while (!next.done && String(next.value[0]) < String(cells[0])) next = results.next();
        const mine = !next.done && next.value[0] === cells[0] ? next.value : undefined;
        yield { call: this.#call(cells), result: mine && this.#result(mine) };
      }
    } finally {
      // A walk that is left open would hold the log of the database.
      results.return?.();
    }
  }

  /** Rows of a run by their ids, which lie between `run.` and `run/` in the order of the steps. */
  #rowsOf(table: 'tool_calls' | 'tool_results', runId: string): IterableIterator<readonly Cell[]> {
    const statement = this.#db.prepare(
      `SELECT ${CHAINED[table].join(', ')} FROM ${table} WHERE call_id > ? AND call_id < ? ORDER BY call_id`,
    );
    statement.setReturnArrays(true);
    return statement.iterate(`${runId}.`, `${runId}/`) as IterableIterator<unknown> as IterableIterator<
      readonly Cell[]
    >;
  }

  #call(cells: readonly Cell[]): CallRow {
    return {
      call_id: cells[0],
      run_id: cells[1],
      step_index: cells[2],
      tool_name: cells[3],
      args_json: this.#text(cells[4] as string),
      created_at: cells[5],
      step_id: cells[6],
      facts_json: this.#text(cells[7] as string),
      approval_id: cells[8],
      redactions: cells[9],
    } as CallRow;
  }

  #result(cells: readonly Cell[]): ResultRow {
    return {
      call_id: cells[0],
      run_id: cells[1],
      status: cells[2],
      output_json: this.#text(cells[3] as string | null),
      error: cells[4],
      policy_decision_json: this.#text(cells[5] as string),
      started_at: cells[6],
      ended_at: cells[7],
      input_hash: cells[8],
      output_hash: cells[9],
      redactions: cells[10],
    } as ResultRow;
  }

  events(runId: string): readonly EventRow[] {
    return this.#guard(() =>
      this.#db
        .prepare('SELECT event, at, detail_json FROM run_events WHERE run_id = ? ORDER BY chain_seq')
        .all(runId)
        .map((row) => ({
          run_id: runId,
          event: row.event as RunEvent,
          at: String(row.at),
          detail: json(String(row.detail_json)),
        })),
    );
  }

  /** The text itself, wherever it is kept. */
  #text<T extends string | null>(text: T): T | string {
    const hash = text !== null && text.length === REFERENCE_CHARS ? referredPayload(text) : undefined;
    return hash === undefined ? text : this.#payload(hash);
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
