import type { DatabaseSync } from 'node:sqlite';
import { parseJson, sha256 } from '../../core/index.ts';
import {
  type Cell,
  CHAINED,
  type ChainedTable,
  genesis,
  PAYLOAD_COLUMNS,
  RUN_COLUMNS,
  referredPayload,
  rowHash,
} from './format-v1.ts';
import { type Replayed, readReplayed, sameSteps } from './format-v2.ts';
import { sumSteps } from './stored-steps.ts';

/** The first thing that is wrong, by its place in the chain. */
export interface Bad {
  readonly seq: number;
  readonly what: string;
}

export interface Scan {
  records: number;
  /** Calls and results among them. */
  steps: number;
  head: string;
  /** Hashes of the links that somebody signed for. */
  readonly hashes: Map<number, string>;
  bad: Bad | undefined;
}

/** Which store this is, and where in the ledger it is vouched for. */
export interface Identity {
  readonly storeId: string;
  readonly createdAt: string;
  readonly anchor: string;
}

export function readIdentity(db: DatabaseSync): Identity | undefined {
  const stores = db.prepare('SELECT store_id, created_at, anchor FROM run_store').all() as unknown as Row[];
  const [store] = stores;
  if (stores.length !== 1 || store === undefined) return undefined;
  return {
    storeId: String(store.store_id),
    createdAt: String(store.created_at),
    anchor: String(store.anchor),
  };
}

type Row = Record<string, Cell>;

/** Walks the chain from its first link, then checks what hangs on it. */
export function scanStore(db: DatabaseSync, identity: Identity, signed: ReadonlySet<number>): Scan {
  const head = genesis(identity.storeId, identity.createdAt, identity.anchor);
  const scan: Scan = { records: 0, steps: 0, head, hashes: new Map(), bad: undefined };
  const links = new Links();
  for (const link of inOrder(db)) {
    const what = links.check(link, scan.records + 1, scan.head);
    if (what !== undefined) {
      scan.bad = { seq: scan.records + 1, what };
      return scan;
    }
    scan.records++;
    if (link.table !== 'run_events') scan.steps++;
    scan.head = String(link.cells.at(-1));
    if (signed.has(scan.records)) scan.hashes.set(scan.records, scan.head);
  }
  scan.bad =
    checkHead(db, scan, links) ??
    checkRuns(db, scan, links) ??
    checkReplays(db, links) ??
    checkPayloads(db, scan, links) ??
    checkFile(db, scan);
  return scan;
}

interface Link {
  readonly table: ChainedTable;
  /** The chained columns in order, then the place and the hash. */
  readonly cells: readonly Cell[];
}

/** The rows of the three tables in the order of the chain, one at a time. */
function* inOrder(db: DatabaseSync): Iterable<Link> {
  const fetch = (table: ChainedTable, key: string) => {
    const columns = [...CHAINED[table], 'chain_seq', 'row_hash'].join(', ');
    const statement = db.prepare(`SELECT ${columns} FROM ${table} WHERE ${key} = ?`);
    statement.setReturnArrays(true);
    return (id: Cell) => statement.get(id) as unknown as readonly Cell[];
  };
  const row = {
    run_events: fetch('run_events', 'chain_seq'),
    tool_calls: fetch('tool_calls', 'call_id'),
    tool_results: fetch('tool_results', 'call_id'),
  };
  // Only places and keys are sorted; a row is fetched when its turn comes.
  const order = db.prepare(
    `SELECT chain_seq, 'run_events', chain_seq FROM run_events
     UNION ALL SELECT chain_seq, 'tool_calls', call_id FROM tool_calls
     UNION ALL SELECT chain_seq, 'tool_results', call_id FROM tool_results
     ORDER BY 1`,
  );
  order.setReturnArrays(true);
  for (const next of order.iterate() as Iterable<unknown>) {
    const [, table, id] = next as [number, ChainedTable, Cell];
    yield { table, cells: row[table](id) };
  }
}

/** Where a column stands among the cells of its table. */
const AT = {
  event: CHAINED.run_events.indexOf('event'),
  detail_json: CHAINED.run_events.indexOf('detail_json'),
  run_json: CHAINED.run_events.indexOf('run_json'),
  args_json: CHAINED.tool_calls.indexOf('args_json'),
  output_json: CHAINED.tool_results.indexOf('output_json'),
  input_hash: CHAINED.tool_results.indexOf('input_hash'),
  output_hash: CHAINED.tool_results.indexOf('output_hash'),
} as const;
const payloadCells = (table: ChainedTable) =>
  PAYLOAD_COLUMNS[table].map((column) => (CHAINED[table] as readonly string[]).indexOf(column));
const PAYLOAD_CELLS: Record<ChainedTable, readonly number[]> = {
  run_events: payloadCells('run_events'),
  tool_calls: payloadCells('tool_calls'),
  tool_results: payloadCells('tool_results'),
};

class Links {
  readonly counts = { run_events: 0, tool_calls: 0, tool_results: 0 };
  /** Last word on each run. */
  readonly runs = new Map<string, string>();
  readonly payloads = new Set<string>();
  /** What replays say of the rows they refer to. */
  readonly replays: { readonly seq: number; readonly run: string; readonly detail: string }[] = [];
  /** Hash of the arguments of calls that have no result yet. */
  readonly #inputs = new Map<string, string>();

  check({ table, cells: row }: Link, seq: number, prev: string): string | undefined {
    const cells = row.slice(0, -2);
    const [place, hash] = row.slice(-2);
    if (place !== seq) return `link ${seq} is missing (the next one is ${place} in ${table})`;
    if (rowHash(table, seq, prev, cells) !== hash)
      return `a row of ${table} was changed, or the row before it was`;
    this.counts[table]++;
    for (const at of PAYLOAD_CELLS[table]) this.#refer(cells[at] as string | null);
    return this.#meaning(table, seq, cells);
  }

  #meaning(table: ChainedTable, seq: number, cells: readonly Cell[]): string | undefined {
    switch (table) {
      case 'run_events':
        this.runs.set(String(cells[0]), String(cells[AT.run_json]));
        if (cells[AT.event] === 'replayed')
          this.replays.push({ seq, run: String(cells[0]), detail: String(cells[AT.detail_json]) });
        return undefined;
      case 'tool_calls':
        this.#inputs.set(String(cells[0]), hashOf(cells[AT.args_json] as string));
        return undefined;
      case 'tool_results': {
        const call = String(cells[0]);
        const input = this.#inputs.get(call);
        this.#inputs.delete(call);
        if (input === undefined) return `the result of ${call} has no call`;
        if (input !== cells[AT.input_hash]) return `the input hash of ${call} is wrong`;
        const output = cells[AT.output_json] as string | null;
        return (output === null ? null : hashOf(output)) === cells[AT.output_hash]
          ? undefined
          : `the output hash of ${call} is wrong`;
      }
    }
  }

  #refer(text: string | null): void {
    const hash = referredPayload(text);
    if (hash !== undefined) this.payloads.add(hash);
  }

  referRun(cells: readonly Cell[]): void {
    for (const column of PAYLOAD_COLUMNS.runs)
      this.#refer(cells[RUN_COLUMNS.indexOf(column as 'plan_json')] as string);
  }
}

function hashOf(text: string): string {
  return referredPayload(text) ?? sha256(text);
}

function checkHead(db: DatabaseSync, scan: Scan, links: Links): Bad | undefined {
  const heads = db.prepare('SELECT * FROM run_store_head').all() as unknown as Row[];
  const [head] = heads;
  const { run_events: events, tool_calls: calls, tool_results: results } = links.counts;
  const fits =
    heads.length === 1 &&
    head?.one === 1 &&
    head.seq === scan.records &&
    head.hash === scan.head &&
    head.events === events &&
    head.calls === calls &&
    head.results === results &&
    head.runs === links.runs.size;
  return fits
    ? undefined
    : { seq: scan.records, what: 'rows at the end, or the count of rows, were changed' };
}

function checkRuns(db: DatabaseSync, scan: Scan, links: Links): Bad | undefined {
  let seen = 0;
  for (const row of db.prepare('SELECT * FROM runs').iterate() as Iterable<unknown>) {
    const cells = RUN_COLUMNS.map((column) => (row as Row)[column] as Cell);
    const id = String(cells[0]);
    const last = links.runs.get(id);
    if (last === undefined) return { seq: scan.records, what: `run ${id} was added without the chain` };
    if (last !== JSON.stringify(cells))
      return { seq: scan.records, what: `the row of run ${id} was changed` };
    links.referRun(cells);
    const [plan, policy] = [cells[5], cells[6]].map((text) => hashOf(String(text)));
    if (plan !== cells[3] || policy !== cells[4])
      return { seq: scan.records, what: `the plan or policy hash of run ${id} is wrong` };
    seen++;
  }
  return seen === links.runs.size ? undefined : { seq: scan.records, what: 'the row of a run was removed' };
}

/** The rows every replay refers to are still those it replayed. */
function checkReplays(db: DatabaseSync, links: Links): Bad | undefined {
  // Most replays are of the same few runs: their rows are walked once.
  const sums = new Map<string, Replayed>();
  for (const { seq, run, detail } of links.replays) {
    const told = parseJson(detail);
    const replayed = told.ok ? readReplayed(told.value) : undefined;
    if (!replayed) return { seq, what: `what run ${run} replays cannot be read` };
    const key = `${replayed.of} ${replayed.through}`;
    const sum = sums.get(key) ?? sumSteps(db, replayed);
    sums.set(key, sum);
    if (replayed.through >= seq || !sameSteps(sum, replayed))
      return { seq, what: `the steps of ${replayed.of} are not those that run ${run} replayed` };
  }
  return undefined;
}

function checkPayloads(db: DatabaseSync, scan: Scan, links: Links): Bad | undefined {
  for (const row of db.prepare('SELECT hash, body FROM payloads').iterate() as Iterable<unknown>) {
    const { hash, body } = row as { hash: string; body: string };
    if (sha256(body) !== hash)
      return { seq: scan.records, what: `the text ${hash.slice(0, 12)}… was changed` };
    if (!links.payloads.delete(hash))
      return { seq: scan.records, what: `the text ${hash.slice(0, 12)}… belongs to no row` };
  }
  const [missing] = links.payloads;
  return missing === undefined
    ? undefined
    : { seq: scan.records, what: `the text ${missing.slice(0, 12)}… is missing` };
}

/** What the rows do not show: indexes and pages that lead a reader elsewhere than they led us. */
function checkFile(db: DatabaseSync, scan: Scan): Bad | undefined {
  const found = String(Object.values(db.prepare('PRAGMA integrity_check(1)').get() ?? {})[0]);
  return found === 'ok' ? undefined : { seq: scan.records, what: `the database file is damaged: ${found}` };
}
