import { type Digest, sha256 } from '../../core/index.ts';

/**
 * What the run store promises about its rows, version 1. Frozen: a change is a new version beside this one.
 *
 * V1 Every row of `run_events`, `tool_calls` and `tool_results` is a link: `chain_seq` counts from 1 without a
 *    gap over all three, and `row_hash` covers the link before, the table's name and every column.
 * V2 A row of `runs` changes while a run goes on; its columns are those of the run's last event.
 * V3 A long text is kept once in `payloads` under its SHA-256; the column then holds a reference to it.
 */
export const CHAINED = {
  run_events: ['run_id', 'event', 'at', 'detail_json', 'run_json'],
  tool_calls: [
    'call_id',
    'run_id',
    'step_index',
    'tool_name',
    'args_json',
    'created_at',
    'step_id',
    'facts_json',
    'approval_id',
    'redactions',
  ],
  tool_results: [
    'call_id',
    'run_id',
    'status',
    'output_json',
    'error',
    'policy_decision_json',
    'started_at',
    'ended_at',
    'input_hash',
    'output_hash',
    'redactions',
  ],
} as const;
export type ChainedTable = keyof typeof CHAINED;

/** Columns of `runs`, in the order in which `run_json` lists them. */
export const RUN_COLUMNS = [
  'run_id',
  'created_at',
  'completed_at',
  'plan_hash',
  'policy_hash',
  'plan_json',
  'policy_json',
  'mode',
  'status',
  'total_steps',
  'completed_steps',
  'denied_steps',
  'failed_steps',
  'replay_of',
  'working_dir',
  'plan_file',
  'policy_file',
  'redactions',
] as const;

/** Ids sort like the steps they belong to, and a step tried again after its first try. */
export function callIdOf(runId: string, index: number, retry = 0): string {
  return `${runId}.${String(index).padStart(6, '0')}${retry === 0 ? '' : `.r${retry}`}`;
}

/** The id that a call of one run has as a call of its replay. */
export function callIdUnder(runId: string, of: string, callId: string): string {
  return `${runId}${callId.slice(of.length)}`;
}

export type Cell = string | number | null;

/**
 * Hash of a link: the table's name, the place, the link before, then every column in order. Each column is
 * written with its kind and, for text, its length, so that no two rows can look the same.
 */
export function rowHash(table: ChainedTable, seq: number, prev: string, cells: readonly Cell[]): Digest {
  return sha256(`writ row v1 ${table} ${seq} ${prev}${cellsText(cells)}`);
}

export function cellsText(cells: readonly Cell[]): string {
  let text = '';
  for (const cell of cells) {
    if (cell === null) text += ' -';
    else if (typeof cell === 'number') text += ` #${cell}`;
    else text += ` ${cell.length}:${cell}`;
  }
  return text;
}

/** What the first link follows: the store itself, so that rows of one store do not fit another. */
export function genesis(storeId: string, createdAt: string, anchor: string): Digest {
  return sha256(JSON.stringify(['writ run store v1', storeId, createdAt, anchor]));
}

/** Texts up to this many characters stay in their column, where anyone with SQLite can read them. */
export const INLINE_CHARS = 4096;

const REFERENCE = /^\{"\$payload":"([0-9a-f]{64})"\}$/;

export function payloadReference(hash: string): string {
  return `{"$payload":"${hash}"}`;
}

/** The hash a column refers to, or undefined when it holds the text itself. */
export function referredPayload(text: string | null): string | undefined {
  return text === null ? undefined : REFERENCE.exec(text)?.[1];
}

/** Columns that may hold a reference. */
export const PAYLOAD_COLUMNS: Record<ChainedTable | 'runs', readonly string[]> = {
  runs: ['plan_json', 'policy_json'],
  run_events: [],
  tool_calls: ['args_json', 'facts_json'],
  tool_results: ['output_json', 'policy_decision_json'],
};
