import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type Clock,
  CODES,
  canonicalJson,
  EXIT,
  type Ids,
  type Json,
  sha256,
  WritError,
} from '../../core/index.ts';
import { databaseError, type Ledger, openDatabase } from '../../ledger/index.ts';
import { anchorPath, writeAnchor } from './anchor.ts';
import { CheckpointFile, checkpointPath, readCheckpoint } from './checkpoint.ts';
import {
  type Cell,
  CHAINED,
  type ChainedTable,
  genesis,
  INLINE_CHARS,
  payloadReference,
  RUN_COLUMNS,
  rowHash,
} from './format-v1.ts';
import type { CallRow, ResultRow, RunEvent, RunRow } from './rows.ts';
import { RUN_STORE } from './schema.ts';

/**
 * Writes runs. Rows are only ever added; a run's own row is the one exception and follows its events.
 *
 * S1 What is added stays in one open transaction until `commit`, which makes it durable and signs for it.
 * S2 The end of the chain is read under the write lock, so that two processes never fork it.
 */
export interface RunStore {
  readonly path: string;
  beginRun(run: RunRow): void;
  addCall(call: CallRow): void;
  addResult(result: ResultRow): void;
  /** Notes what happened to a run; `change` also changes its row. */
  addEvent(runId: string, event: RunEvent, detail: Json, change?: Partial<RunRow>): void;
  commit(): void;
  /** Rows added since the last commit. */
  readonly pending: number;
  /** Says in the ledger how far the store has come, so that an older copy put back is noticed. */
  anchor(runId: string, event: RunEvent): Promise<void>;
  close(): void;
}

export interface RunStoreOptions {
  readonly dbPath: string;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Ids;
}

interface Head {
  seq: number;
  hash: string;
  runs: number;
  events: number;
  calls: number;
  results: number;
}

const COUNTERS: Record<ChainedTable, 'events' | 'calls' | 'results'> = {
  run_events: 'events',
  tool_calls: 'calls',
  tool_results: 'results',
};

export function openRunStore(options: RunStoreOptions): RunStore {
  const { dbPath } = options;
  const db = openDatabase(dbPath, RUN_STORE);
  // Moving the log into the database costs flushes of its own: after 128 MB, and when the store is closed.
  db.exec('PRAGMA wal_autocheckpoint = 32000');
  try {
    return new SqliteRunStore(db, options);
  } catch (error) {
    db.close();
    throw databaseError(dbPath, error);
  }
}

class SqliteRunStore implements RunStore {
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #options: RunStoreOptions;
  readonly #storeId: string;
  readonly #checkpoints: CheckpointFile;
  readonly #insert: Record<ChainedTable, StatementSync>;
  readonly #insertRun: StatementSync;
  readonly #updateRun: StatementSync;
  readonly #insertPayload: StatementSync;
  readonly #readHead: StatementSync;
  readonly #writeHead: StatementSync;
  /** Cells of the rows of runs being written, by run id. */
  readonly #runs = new Map<string, Cell[]>();
  #head: Head | undefined;
  #pending = 0;
  #wrote = false;

  constructor(db: DatabaseSync, options: RunStoreOptions) {
    this.path = options.dbPath;
    this.#db = db;
    this.#options = options;
    this.#storeId = this.#meet();
    const marks = (n: number) => Array(n).fill('?').join(', ');
    const chained = (table: ChainedTable) =>
      db.prepare(
        `INSERT INTO ${table} (${CHAINED[table].join(', ')}, chain_seq, row_hash) VALUES (${marks(CHAINED[table].length + 2)})`,
      );
    this.#insert = {
      run_events: chained('run_events'),
      tool_calls: chained('tool_calls'),
      tool_results: chained('tool_results'),
    };
    this.#insertRun = db.prepare(
      `INSERT INTO runs (${RUN_COLUMNS.join(', ')}) VALUES (${marks(RUN_COLUMNS.length)})`,
    );
    this.#updateRun = db.prepare(
      `UPDATE runs SET ${RUN_COLUMNS.slice(1)
        .map((column) => `${column} = ?`)
        .join(', ')} WHERE run_id = ?`,
    );
    this.#insertPayload = db.prepare('INSERT OR IGNORE INTO payloads (hash, body) VALUES (?, ?)');
    this.#readHead = db.prepare(
      'SELECT seq, hash, runs, events, calls, results FROM run_store_head WHERE one = 1',
    );
    this.#writeHead = db.prepare(
      'UPDATE run_store_head SET seq = ?, hash = ?, runs = ?, events = ?, calls = ?, results = ? WHERE one = 1',
    );
    this.#checkRecord();
    this.#checkpoints = new CheckpointFile(options.dbPath, options.ledger.signer);
  }

  /** Never sign over damage: what the last signature vouched for must still be there. */
  #checkRecord(): void {
    const read = readCheckpoint(checkpointPath(this.path), this.#options.ledger.trustedKeys);
    const head = this.#readHead.get() as unknown as Head;
    const fail = (what: string) =>
      new WritError(CODES.integrity_broken, `${this.path}: ${what}`, {
        suggestion: 'look at the damage first: writ audit verify',
        exit: EXIT.integrity,
      });
    if (read.kind === 'bad') throw fail(read.what);
    if (read.kind === 'missing') {
      // No step is ever recorded before the first signature: without one, a run was cut off as it began.
      if (head.calls + head.results > 0) throw fail('the checkpoint beside the database is missing');
      return;
    }
    const { seq, head: hash, store } = read.checkpoint;
    if (store !== this.#storeId || seq > head.seq || (seq === head.seq && hash !== head.hash))
      throw fail('rows that were signed for are gone or changed');
  }

  get pending(): number {
    return this.#pending;
  }

  /** The identity of this store; made when it is first opened. */
  #meet(): string {
    const db = this.#db;
    const known = db.prepare('SELECT store_id FROM run_store').get();
    if (known) return String(known.store_id);
    db.exec('BEGIN IMMEDIATE');
    const meanwhile = db.prepare('SELECT store_id FROM run_store').get();
    if (meanwhile) {
      db.exec('ROLLBACK');
      return String(meanwhile.store_id);
    }
    const id = this.#options.ids.next('store');
    const at = this.#options.clock.now().toISOString();
    const anchor = anchorPath(this.#options.dbPath, this.#options.ledger.stateDir);
    db.prepare('INSERT INTO run_store VALUES (?, ?, ?)').run(id, at, anchor);
    db.prepare('INSERT INTO run_store_head VALUES (1, 0, ?, 0, 0, 0, 0)').run(genesis(id, at, anchor));
    db.exec('COMMIT');
    return id;
  }

  /** The end of the chain, in a transaction that nobody else can extend it in. */
  #open(): Head {
    if (this.#head) return this.#head;
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      this.#head = { ...(this.#readHead.get() as unknown as Head) };
      return this.#head;
    } catch (error) {
      throw databaseError(this.path, error);
    }
  }

  #add(table: ChainedTable, cells: readonly Cell[]): void {
    const head = this.#open();
    try {
      const seq = head.seq + 1;
      const hash = rowHash(table, seq, head.hash, cells);
      this.#insert[table].run(...cells, seq, hash);
      head.seq = seq;
      head.hash = hash;
      head[COUNTERS[table]]++;
      this.#pending++;
    } catch (error) {
      throw this.#abandon(error);
    }
  }

  beginRun(run: RunRow): void {
    const head = this.#open();
    const cells = RUN_COLUMNS.map((column) =>
      column === 'plan_json' || column === 'policy_json' ? this.#text(run[column]) : run[column],
    );
    try {
      this.#insertRun.run(...cells);
      head.runs++;
    } catch (error) {
      throw this.#abandon(error);
    }
    this.#runs.set(run.run_id, cells);
    this.addEvent(run.run_id, 'started', {});
  }

  addEvent(runId: string, event: RunEvent, detail: Json, change: Partial<RunRow> = {}): void {
    this.#open();
    const cells = this.#runs.get(runId) ?? this.#loadRun(runId);
    for (const [column, value] of Object.entries(change))
      cells[RUN_COLUMNS.indexOf(column as (typeof RUN_COLUMNS)[number])] = value as Cell;
    try {
      if (Object.keys(change).length > 0) this.#updateRun.run(...cells.slice(1), runId);
    } catch (error) {
      throw this.#abandon(error);
    }
    this.#add('run_events', [
      runId,
      event,
      this.#options.clock.now().toISOString(),
      canonicalJson(detail),
      JSON.stringify(cells),
    ]);
  }

  #loadRun(runId: string): Cell[] {
    const row = this.#db.prepare(`SELECT ${RUN_COLUMNS.join(', ')} FROM runs WHERE run_id = ?`).get(runId);
    if (!row) throw new Error(`there is no run ${runId}`);
    const cells = RUN_COLUMNS.map((column) => row[column] as Cell);
    this.#runs.set(runId, cells);
    return cells;
  }

  addCall(c: CallRow): void {
    this.#open();
    this.#add('tool_calls', [
      c.call_id,
      c.run_id,
      c.step_index,
      c.tool_name,
      this.#text(c.args_json),
      c.created_at,
      c.step_id,
      this.#text(c.facts_json),
      c.approval_id,
      c.redactions,
    ]);
  }

  addResult(r: ResultRow): void {
    this.#open();
    const output = r.output_json === null ? null : this.#text(r.output_json);
    this.#add('tool_results', [
      r.call_id,
      r.run_id,
      r.status,
      output,
      r.error,
      this.#text(r.policy_decision_json),
      r.started_at,
      r.ended_at,
      r.input_hash,
      r.output_hash,
      r.redactions,
    ]);
  }

  /** A long text goes where equal texts share one place. */
  #text(text: string): string {
    if (text.length <= INLINE_CHARS) return text;
    const hash = sha256(text);
    try {
      this.#insertPayload.run(hash, text);
    } catch (error) {
      throw this.#abandon(error);
    }
    return payloadReference(hash);
  }

  commit(): void {
    const head = this.#head;
    if (!head) return;
    try {
      this.#writeHead.run(head.seq, head.hash, head.runs, head.events, head.calls, head.results);
      this.#db.exec('COMMIT');
    } catch (error) {
      throw this.#abandon(error);
    }
    this.#head = undefined;
    this.#pending = 0;
    this.#wrote = true;
    this.#sign(head);
  }

  #sign({ seq, hash, runs, events, calls, results }: Head): void {
    const timestamp = this.#options.clock.now().toISOString();
    this.#checkpoints.write({
      store: this.#storeId,
      seq,
      head: hash,
      runs,
      events,
      calls,
      results,
      timestamp,
    });
  }

  /** Signs for the end of the chain while nobody can extend it: two writers' statements cannot cross. */
  #seal(): Head {
    this.commit();
    const head = this.#open();
    this.#sign(head);
    this.#db.exec('ROLLBACK');
    this.#head = undefined;
    return head;
  }

  /** Nothing of a failed transaction stays: neither rows nor what we believed about them. */
  #abandon(error: unknown): unknown {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    this.#head = undefined;
    this.#pending = 0;
    this.#runs.clear();
    return databaseError(this.path, error);
  }

  async anchor(runId: string, event: RunEvent): Promise<void> {
    const head = this.#seal();
    const { hash, ...counts } = head;
    await writeAnchor(this.#options, {
      ...counts,
      head: hash,
      store_id: this.#storeId,
      run_id: runId,
      event,
    });
  }

  close(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#head = undefined;
      if (!this.#wrote) return;
      this.#seal();
      // The database file alone then holds everything; a reader in the middle of something just delays that.
      this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // A disk that is full or gone has already been reported; the next writer signs for what is there.
    } finally {
      this.#checkpoints.close();
      this.#db.close();
    }
  }
}
