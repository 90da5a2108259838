import type { DatabaseSync } from 'node:sqlite';
import { CODES, EXIT, type Json, parseJson, sha256, WritError } from '../../core/index.ts';
import { databaseError, openDatabase } from '../../ledger/index.ts';
import { type Cell, callIdUnder, payloadReference, RUN_COLUMNS, referredPayload } from './format-v1.ts';
import { type Replayed, readReplayed, type StoredStep, sameSteps } from './format-v2.ts';
import type { CallRow, EventRow, ResultRow, RunEvent, RunRow } from './rows.ts';
import { RUN_STORE } from './schema.ts';
import { ownSteps, sumSteps, walkSteps } from './stored-steps.ts';

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
  /**
   * The steps of a run in order, one at a time; of a step tried twice, both. Those of a replay are looked at
   * first: when they are not what was replayed, none is given.
   */
  steps(runId: string): Iterable<StepRecord>;
  /** Which rows a replay refers to; undefined for a run that has rows of its own. */
  replayed(runId: string): Replayed | undefined;
  /** The steps as they lie in the store, not looked at, and what the rows of one say. */
  storedSteps(runId: string): Iterable<StoredStep>;
  record(stored: StoredStep): StepRecord;
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

  steps(runId: string): Iterable<StepRecord> {
    const replayed = this.replayed(runId);
    if (replayed && !this.#guard(() => sameSteps(sumSteps(this.#db, replayed), replayed)))
      throw this.#broken(`the steps of ${replayed.of}, which ${runId} replays, were changed or removed`);
    return this.#records(runId, replayed);
  }

  *#records(runId: string, replayed: Replayed | undefined): Iterable<StepRecord> {
    for (const stored of this.storedSteps(runId)) {
      const record = this.record(stored);
      yield replayed ? underRun(runId, replayed.of, record) : record;
    }
  }

  replayed(runId: string): Replayed | undefined {
    const event = this.events(runId).find(({ event }) => event === 'replayed');
    const replayed = event && readReplayed(event.detail);
    if (event && !replayed) throw this.#broken(`what ${runId} replays cannot be read`);
    return replayed;
  }

  *storedSteps(runId: string): Iterable<StoredStep> {
    const source = this.replayed(runId) ?? ownSteps(runId);
    try {
      yield* walkSteps(this.#db, source);
    } catch (error) {
      throw databaseError(this.#path, error);
    }
  }

  record({ call, result }: StoredStep): StepRecord {
    return { call: this.#call(call), result: result && this.#result(result) };
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
    if (!row) throw this.#broken(`the text ${hash.slice(0, 12)}… is missing`);
    const text = String(row.body);
    if (sha256(text) !== hash) throw this.#broken(`the text ${hash.slice(0, 12)}… was changed`);
    return text;
  }

  #broken(what: string): WritError {
    return new WritError(CODES.integrity_broken, `${this.#path}: ${what}`, {
      suggestion: 'see what else is wrong: writ audit verify',
      exit: EXIT.integrity,
    });
  }

  close(): void {
    this.#db.close();
  }
}

/** A step of the run that was replayed, as the step of its replay. */
function underRun(runId: string, of: string, { call, result }: StepRecord): StepRecord {
  const own = { call_id: callIdUnder(runId, of, call.call_id), run_id: runId };
  return { call: { ...call, ...own }, result: result && { ...result, ...own } };
}

export function json(text: string | null): Json {
  if (text === null) return null;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : null;
}
