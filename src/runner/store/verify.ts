import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { CODES, messageOf, WritError } from '../../core/index.ts';
import {
  databaseError,
  type FileVerdict,
  loadPublicKeys,
  openDatabase,
  type PublicKeys,
  statePaths,
  type VerifyStatus,
} from '../../ledger/index.ts';
import { type Anchors, anchoredStores, readAnchors } from './anchor.ts';
import { checkpointPath, type ReadCheckpoint, readCheckpoint } from './checkpoint.ts';
import { holdsRuns } from './locate.ts';
import { type Bad, readIdentity, type Scan, scanStore } from './scan.ts';
import { RUN_STORE } from './schema.ts';

/**
 * Checks a run store without the code that writes it: every link of the chain, every hash of inputs, outputs
 * and long texts, the row of every run, the counts, the signed checkpoint beside the file, and the ledger.
 */
export interface VerifyOptions {
  /** Keys whose signatures count; by default those of the state folder the store was made in. */
  readonly publicKeys?: PublicKeys;
}

export async function verifyRunStore(dbPath: string, options: VerifyOptions = {}): Promise<FileVerdict> {
  const path = resolve(dbPath);
  if (!existsSync(path)) return fault(path, 'incomplete', 0, { seq: 0, what: 'the database is missing' });
  let db: DatabaseSync | undefined;
  try {
    if (!holdsRuns(path)) return unborn(path);
    db = openDatabase(path, RUN_STORE, { readonly: true });
    const identity = readIdentity(db);
    if (identity === undefined)
      return db.prepare('SELECT 1 FROM run_events').get() === undefined ? unborn(path) : nameless(path);
    const journal = resolve(dirname(path), identity.anchor);
    const keys = options.publicKeys ?? loadPublicKeys(statePaths(resolve(dirname(journal), '..')).keys);
    const told = await readAnchors(journal, identity.storeId, path);
    const read = () => readCheckpoint(checkpointPath(path), keys);
    const first = read();
    const signed = new Set(told.anchors.map((anchor) => anchor.seq));
    if (first.kind === 'good') signed.add(first.checkpoint.seq);
    const scan = scanStore(db, identity, signed);
    const verdict = judge(path, scan, identity.storeId, told, first, read);
    return told.replaced && verdict.status !== 'tampered' ? replaced(verdict, told.replaced.runs) : verdict;
  } catch (error) {
    const known = databaseError(path, error);
    const out = known instanceof WritError && OUT_OF_REACH.has(known.code);
    const what = `the database cannot be ${out ? 'checked now' : 'read'}: ${messageOf(known)}`;
    return fault(path, out ? 'not_established' : 'tampered', 0, { seq: 0, what });
  } finally {
    db?.close();
  }
}

/** Held by another process, or newer than this program: that says nothing about what is in it. */
const OUT_OF_REACH: ReadonlySet<number> = new Set([CODES.storage_locked, CODES.storage_newer]);

/** Nothing was recorded yet: a first run was cut off while the store was being made. */
function unborn(path: string): FileVerdict {
  if (anchoredStores(dirname(path)).get(path)) return nameless(path);
  return fault(path, 'not_established', 0, { seq: 0, what: 'no run was ever recorded here' });
}

function nameless(path: string): FileVerdict {
  return fault(path, 'tampered', 0, { seq: 0, what: 'the store does not say which store it is' });
}

/** A store that begins afresh where another was removed would hide the removal. */
function replaced({ path, records }: FileVerdict, runs: number): FileVerdict {
  const what = `another store stood here, with ${runs} runs, and is gone: put it back, or say that it may be missing: writ audit retire`;
  return fault(path, 'incomplete', records, { seq: 0, what });
}

/** The chain against those who vouch for it: the ledger, then the signed checkpoint. */
function judge(
  path: string,
  scan: Scan,
  storeId: string,
  told: Anchors,
  first: ReadCheckpoint,
  again: () => ReadCheckpoint,
): FileVerdict {
  const { records, steps } = scan;
  // Signed for and anchored before its first step: with no step on record, it was cut off before that.
  const begun = records > 0 && steps === 0 && told.anchors.length === 0;
  const tampered = (what: string, seq = records) => fault(path, 'tampered', records, { seq, what });
  if (scan.bad) return fault(path, 'tampered', records, scan.bad);
  if (told.problem !== undefined)
    return tampered(`the ledger that vouches for the store is damaged: ${told.problem}`);
  for (const { seq, hash } of told.anchors)
    if (seq > records || (seq > 0 && scan.hashes.get(seq) !== hash))
      return tampered(
        `the ledger knows row ${seq} of this store as another: an older copy was put back, or rows were removed`,
        Math.min(seq, records),
      );
  if (first.kind === 'bad') return tampered(first.what);
  if (first.kind === 'missing') {
    if (begun) return cutOff(path, records);
    const what = 'the checkpoint beside the database is missing';
    return records === 0 ? intact(path, 0) : fault(path, 'incomplete', records, { seq: records, what });
  }
  const { seq, head, store } = first.checkpoint;
  if (store !== storeId) return tampered('the checkpoint is of another store');
  if (seq > records) return tampered(`the checkpoint knows ${seq} rows, ${records} are left`);
  if (seq > 0 && scan.hashes.get(seq) !== head) return tampered('the checkpoint signs for other rows', seq);
  if (seq < records) {
    // Signed for since we looked: a run is going on, and what it had done then is accounted for.
    const now = again();
    if (now.kind === 'good' && now.checkpoint.seq > seq) return intact(path, records, ['a run is going on']);
    const what = `no signature covers the last ${records - seq} rows: a run was cut off`;
    return fault(path, 'not_established', records, { seq: seq + 1, what });
  }
  if (begun) return cutOff(path, records);
  if (told.anchors.length === 0 && records > 0)
    return fault(path, 'incomplete', records, {
      seq: records,
      what: 'the ledger has no word about this store',
    });
  return intact(path, records);
}

function cutOff(path: string, records: number): FileVerdict {
  const what = 'the first run was cut off before the ledger vouched for the store';
  return fault(path, 'not_established', records, { seq: records, what });
}

function intact(path: string, records: number, notes: readonly string[] = []): FileVerdict {
  return { path, status: 'intact', records, first_bad: null, notes };
}

function fault(path: string, status: VerifyStatus, records: number, bad: Bad): FileVerdict {
  const first_bad = { line: Math.max(1, bad.seq), sequence: bad.seq, byte: 0, what: bad.what };
  return { path, status, records, first_bad, notes: [] };
}
