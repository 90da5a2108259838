import type { DatabaseSync } from 'node:sqlite';
import { sha256 } from '../../core/index.ts';
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

/** The first thing that is wrong, by its place in the chain. */
export interface Bad {
  readonly seq: number;
  readonly what: string;
}

export interface Scan {
  records: number;
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
  const scan: Scan = { records: 0, head, hashes: new Map(), bad: undefined };
  const links = new Links();
  for (const link of inOrder(db)) {
    const what = links.check(link, scan.records + 1, scan.head);
    if (what !== undefined) {
      scan.bad = { seq: scan.records + 1, what };
      return scan;
    }
    scan.records++;
    scan.head = String(link.row.row_hash);
    if (signed.has(scan.records)) scan.hashes.set(scan.records, scan.head);
  }
  scan.bad = checkHead(db, scan, links) ?? checkRuns(db, scan, links) ?? checkPayloads(db, scan, links);
  return scan;
}

interface Link {
  readonly table: ChainedTable;
  readonly row: Row;
}

/** The rows of the three tables in the order of the chain, one at a time. */
function* inOrder(db: DatabaseSync): Iterable<Link> {
  const row = {
    run_events: db.prepare('SELECT * FROM run_events WHERE chain_seq = ?'),
    tool_calls: db.prepare('SELECT * FROM tool_calls WHERE call_id = ?'),
    tool_results: db.prepare('SELECT * FROM tool_results WHERE call_id = ?'),
  };
  // Only places and keys are sorted; a row is fetched when its turn comes.
  const order = db.prepare(
    `SELECT chain_seq, 'run_events' AS source, chain_seq AS id FROM run_events
     UNION ALL SELECT chain_seq, 'tool_calls', call_id FROM tool_calls
     UNION ALL SELECT chain_seq, 'tool_results', call_id FROM tool_results
     ORDER BY 1`,
  );
  for (const next of order.iterate() as Iterable<unknown>) {
    const { source, id } = next as { source: ChainedTable; id: Cell };
    yield { table: source, row: row[source].get(id) as unknown as Row };
  }
}

class Links {
  readonly counts = { run_events: 0, tool_calls: 0, tool_results: 0 };
  /** Last word on each run. */
  readonly runs = new Map<string, string>();
  readonly payloads = new Set<string>();
  /** Hash of the arguments of calls that have no result yet. */
  readonly #inputs = new Map<string, string>();

  check({ table, row }: Link, seq: number, prev: string): string | undefined {
    if (row.chain_seq !== seq) return `link ${seq} is missing (the next one is ${row.chain_seq} in ${table})`;
    const cells = CHAINED[table].map((column) => row[column] as Cell);
    if (rowHash(table, seq, prev, cells) !== row.row_hash)
      return `a row of ${table} was changed, or the row before it was`;
    this.counts[table]++;
    for (const column of PAYLOAD_COLUMNS[table]) this.#refer(row[column] as string | null);
    return this.#meaning(table, row);
  }

  #meaning(table: ChainedTable, row: Row): string | undefined {
    const call = String(row.call_id);
    switch (table) {
      case 'run_events':
        this.runs.set(String(row.run_id), String(row.run_json));
        return undefined;
      case 'tool_calls':
        this.#inputs.set(call, hashOf(row.args_json as string));
        return undefined;
      case 'tool_results': {
        const input = this.#inputs.get(call);
        this.#inputs.delete(call);
        if (input === undefined) return `the result of ${call} has no call`;
        if (input !== row.input_hash) return `the input hash of ${call} is wrong`;
        const output = row.output_json === null ? null : hashOf(row.output_json as string);
        return output === row.output_hash ? undefined : `the output hash of ${call} is wrong`;
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
