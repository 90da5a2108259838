import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type Clock, CODES, isJsonObject, type JsonObject, parseJson, WritError } from '../../core/index.ts';
import { type Journal, type Ledger, readJournal, statePaths } from '../../ledger/index.ts';

/**
 * The store's word in the ledger. The database and its checkpoint could be put back together to an earlier
 * day; the journal then still says how far they had come.
 */
export interface Anchor {
  readonly store_id: string;
  readonly seq: number;
  readonly hash: string;
  readonly runs: number;
}

/** The journal of anchors, as the store remembers it: relative to the database, so that a project can move. */
export function anchorPath(dbPath: string, stateDir: string): string {
  return relative(dirname(resolve(dbPath)), anchorJournal(stateDir))
    .split(sep)
    .join('/');
}

export function anchorJournal(stateDir: string): string {
  return join(statePaths(stateDir).ledger, 'runs.jsonl');
}

const ANCHOR_EVENT = 'run_store.anchor';
const RETIRED_EVENT = 'run_store.retired';
const WAIT_MS = 10_000;

interface AnchorOptions {
  readonly dbPath: string;
  readonly ledger: Ledger;
  readonly clock: Clock;
}

export function writeAnchor(options: AnchorOptions, entry: JsonObject): Promise<void> {
  return write(options, ANCHOR_EVENT, entry);
}

/** Says that the stores that stood at a place so far may be missing from now on, and why. */
export async function retireRunStore(options: AnchorOptions, reason: string, by: string): Promise<void> {
  await write(options, RETIRED_EVENT, { reason, by });
}

async function write(options: AnchorOptions, event_type: string, entry: JsonObject): Promise<void> {
  const path = anchorJournal(options.ledger.stateDir);
  const journal = await openWaiting(options.ledger, path, options.clock);
  try {
    const database = relative(dirname(path), resolve(options.dbPath)).split(sep).join('/');
    await journal.append({ event_type, database, ...entry });
  } finally {
    await journal.close();
  }
}

/** Another run may be writing its own anchor: that takes milliseconds, so wait. */
async function openWaiting(ledger: Ledger, path: string, clock: Clock): Promise<Journal> {
  const until = clock.monotonic() + WAIT_MS;
  for (;;) {
    try {
      return await ledger.openJournal({ path });
    } catch (error) {
      const busy = error instanceof WritError && error.code === CODES.storage_locked;
      if (!busy || clock.monotonic() > until) throw error;
      await clock.sleep(20);
    }
  }
}

/** What the ledger says of a store, in order, and what is wrong with the journal that says it. */
export interface Anchors {
  readonly anchors: readonly Anchor[];
  /** Another store that stood at the same place, was not retired, and is gone. */
  readonly replaced: { readonly store_id: string; readonly runs: number } | undefined;
  readonly problem: string | undefined;
}

export async function readAnchors(path: string, storeId: string, dbPath: string): Promise<Anchors> {
  const anchors: Anchor[] = [];
  let replaced: Anchors['replaced'];
  try {
    for await (const item of readJournal(path)) {
      if (item.kind === 'problem') return { anchors, replaced, problem: `${path}: ${item.what}` };
      const { event_type, database, store_id, seq, head: hash, runs } = item.record;
      const here = resolve(dirname(path), String(database)) === dbPath;
      if (here && event_type === RETIRED_EVENT) replaced = undefined;
      if (event_type !== ANCHOR_EVENT || typeof store_id !== 'string') continue;
      if (typeof seq !== 'number' || typeof hash !== 'string' || typeof runs !== 'number') continue;
      if (store_id === storeId) anchors.push({ store_id, seq, hash, runs });
      else if (here) replaced = { store_id, runs };
    }
  } catch (error) {
    // No journal at all: nothing was ever anchored here, or somebody took it away; the caller can tell.
    if (error instanceof WritError && error.code === CODES.invalid_input)
      return { anchors, replaced, problem: undefined };
    throw error;
  }
  return { anchors, replaced, problem: undefined };
}

/** Databases the ledger of a state folder vouches for; false: it was retired since, and may be missing. */
export function anchoredStores(stateDir: string): ReadonlyMap<string, boolean> {
  const journal = anchorJournal(stateDir);
  const found = new Map<string, boolean>();
  for (const line of existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : []) {
    const record = parseJson(line);
    if (!record.ok || !isJsonObject(record.value)) continue;
    const { event_type, database } = record.value;
    if (typeof database !== 'string') continue;
    const path = resolve(dirname(journal), database);
    if (event_type === ANCHOR_EVENT) found.set(path, true);
    if (event_type === RETIRED_EVENT) found.set(path, false);
  }
  return found;
}
