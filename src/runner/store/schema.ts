import type { RoomMigrations } from '../../ledger/index.ts';

/**
 * Tables of the run store. The columns of runs, tool_calls and tool_results are a contract with readers.
 * A call's id begins with its run's and goes on with the step, so one tree a table serves every question:
 * a row by its id, the rows of a run in order, and appending at the end.
 */
export const RUN_STORE: RoomMigrations = {
  room: 'runner',
  steps: [
    `
    CREATE TABLE run_store (
      store_id TEXT PRIMARY KEY,
      created_at TEXT NOT NULL,
      anchor TEXT NOT NULL
    ) STRICT;
    CREATE TABLE run_store_head (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      seq INTEGER NOT NULL,
      hash TEXT NOT NULL,
      runs INTEGER NOT NULL,
      events INTEGER NOT NULL,
      calls INTEGER NOT NULL,
      results INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE payloads (
      hash TEXT PRIMARY KEY,
      body TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE runs (
      run_id TEXT PRIMARY KEY,
      created_at TEXT NOT NULL,
      completed_at TEXT,
      plan_hash TEXT NOT NULL,
      policy_hash TEXT NOT NULL,
      plan_json TEXT NOT NULL,
      policy_json TEXT NOT NULL,
      mode TEXT NOT NULL,
      status TEXT NOT NULL,
      total_steps INTEGER NOT NULL,
      completed_steps INTEGER NOT NULL,
      denied_steps INTEGER NOT NULL,
      failed_steps INTEGER NOT NULL,
      replay_of TEXT,
      working_dir TEXT NOT NULL,
      plan_file TEXT,
      policy_file TEXT,
      redactions INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_time ON runs (created_at);
    CREATE TABLE run_events (
      run_id TEXT NOT NULL,
      event TEXT NOT NULL,
      at TEXT NOT NULL,
      detail_json TEXT NOT NULL,
      run_json TEXT NOT NULL,
      chain_seq INTEGER PRIMARY KEY,
      row_hash TEXT NOT NULL
    ) STRICT;
    CREATE INDEX run_events_by_run ON run_events (run_id, chain_seq);
    CREATE TABLE tool_calls (
      call_id TEXT PRIMARY KEY,
      run_id TEXT NOT NULL,
      step_index INTEGER NOT NULL,
      tool_name TEXT NOT NULL,
      args_json TEXT NOT NULL,
      created_at TEXT NOT NULL,
      step_id TEXT,
      facts_json TEXT NOT NULL,
      approval_id TEXT,
      redactions INTEGER NOT NULL,
      chain_seq INTEGER NOT NULL,
      row_hash TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tool_results (
      call_id TEXT PRIMARY KEY,
      run_id TEXT NOT NULL,
      status TEXT NOT NULL,
      output_json TEXT,
      error TEXT,
      policy_decision_json TEXT NOT NULL,
      started_at TEXT NOT NULL,
      ended_at TEXT NOT NULL,
      input_hash TEXT NOT NULL,
      output_hash TEXT,
      redactions INTEGER NOT NULL,
      chain_seq INTEGER NOT NULL,
      row_hash TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    `,
    // Since version 2 a replay refers to the rows it replayed (format-v2.ts). The view puts them under its
    // own run for whoever looks with SQL; our own readers do not use it.
    `
    CREATE VIEW run_steps AS
      WITH source AS (
        SELECT
          run.run_id AS run_id,
          COALESCE(event.detail_json ->> 'of', run.run_id) AS of,
          COALESCE(event.detail_json ->> 'through', 9223372036854775807) AS through
        FROM runs AS run
        LEFT JOIN run_events AS event ON event.run_id = run.run_id AND event.event = 'replayed'
      )
      SELECT
        source.run_id, call.call_id, call.step_index, call.step_id, call.tool_name, call.args_json,
        result.status, result.output_json, result.error, result.policy_decision_json,
        result.started_at, result.ended_at, result.input_hash, result.output_hash
      FROM source
      JOIN tool_calls AS call
        ON call.call_id > source.of || '.' AND call.call_id < source.of || '/'
        AND call.chain_seq <= source.through
      LEFT JOIN tool_results AS result
        ON result.call_id = call.call_id AND result.chain_seq <= source.through;
    `,
  ],
  // A store of version 1 has no replays that refer to rows elsewhere: it reads as it is.
  readsFrom: 1,
};
