import { dirname, join, relative, resolve, sep } from 'node:path';
import { type Clock, CODES, type JsonObject, WritError } from '../../core/index.ts';
import { type Journal, type Ledger, readJournal } from '../../ledger/index.ts';

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
  return relative(dirname(resolve(dbPath)), join(stateDir, 'ledger', 'runs.jsonl'))
    .split(sep)
    .join('/');
}

export const ANCHOR_EVENT = 'run_store.anchor';
const WAIT_MS = 10_000;

export async function writeAnchor(
  options: { readonly dbPath: string; readonly ledger: Ledger; readonly clock: Clock },
  entry: JsonObject,
): Promise<void> {
  const path = join(options.ledger.stateDir, 'ledger', 'runs.jsonl');
  const journal = await openWaiting(options.ledger, path, options.clock);
  try {
    const database = relative(dirname(path), resolve(options.dbPath)).split(sep).join('/');
    await journal.append({ event_type: ANCHOR_EVENT, database, ...entry });
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
  readonly problem: string | undefined;
}

export async function readAnchors(path: string, storeId: string): Promise<Anchors> {
  const anchors: Anchor[] = [];
  try {
    for await (const item of readJournal(path)) {
      if (item.kind === 'problem') return { anchors, problem: `${path}: ${item.what}` };
      const { store_id, seq, head: hash, runs } = item.record;
      if (item.record.event_type !== ANCHOR_EVENT || store_id !== storeId) continue;
      if (typeof seq === 'number' && typeof hash === 'string' && typeof runs === 'number')
        anchors.push({ store_id: storeId, seq, hash, runs });
    }
  } catch (error) {
    // No journal at all: nothing was ever anchored here, or somebody took it away; the caller can tell.
    if (error instanceof WritError && error.code === CODES.invalid_input)
      return { anchors, problem: undefined };
    throw error;
  }
  return { anchors, problem: undefined };
}
