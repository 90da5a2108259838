import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../core/index.ts';
import {
  type FileVerdict,
  loadPublicKeys,
  openDatabase,
  type PublicKeys,
  statePaths,
  type VerifyStatus,
} from '../../ledger/index.ts';
import { readAnchors } from './anchor.ts';
import { checkpointPath, readCheckpoint } from './checkpoint.ts';
import { type Bad, type Scan, scanStore } from './scan.ts';
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
  if (!existsSync(path))
    return verdict(path, 'incomplete', 0, ['the database is missing'], {
      seq: 0,
      what: 'the database is missing',
    });
  let db: DatabaseSync | undefined;
  try {
    db = openDatabase(path, RUN_STORE, { readonly: true });
    const scan = scanStore(db);
    if (scan.bad) return verdict(path, 'tampered', scan.records, [], scan.bad);
    return await againstSignatures(path, scan, options);
  } catch (error) {
    return verdict(path, 'tampered', 0, [], {
      seq: 0,
      what: `the database cannot be read: ${messageOf(error)}`,
    });
  } finally {
    db?.close();
  }
}

async function againstSignatures(path: string, scan: Scan, options: VerifyOptions): Promise<FileVerdict> {
  const journal = resolve(dirname(path), scan.anchor);
  const keys = options.publicKeys ?? loadPublicKeys(statePaths(resolve(dirname(journal), '..')).keys);
  const tampered = (what: string, seq: number) =>
    verdict(path, 'tampered', scan.records, scan.notes, { seq, what });
  const { anchors, problem } = await readAnchors(journal, scan.storeId);
  if (problem !== undefined)
    return tampered(`the ledger that vouches for the store is damaged: ${problem}`, scan.records);
  for (const anchor of anchors)
    if (anchor.seq > scan.records || (anchor.seq > 0 && scan.hashAt(anchor.seq) !== anchor.hash))
      return tampered(
        `the ledger knows row ${anchor.seq} of this store as another: an older copy was put back or rows were removed`,
        Math.min(anchor.seq, scan.records),
      );
  const read = readCheckpoint(checkpointPath(path), keys);
  if (read.kind === 'bad') return tampered(read.what, scan.records);
  if (scan.records === 0) return verdict(path, 'intact', 0, scan.notes);
  if (read.kind === 'missing')
    return verdict(path, 'incomplete', scan.records, ['the checkpoint beside the database is missing'], {
      seq: scan.records,
      what: 'the checkpoint beside the database is missing',
    });
  const { checkpoint } = read;
  if (checkpoint.store !== scan.storeId) return tampered('the checkpoint is of another store', scan.records);
  if (checkpoint.seq > scan.records)
    return tampered(`the checkpoint knows ${checkpoint.seq} rows, ${scan.records} are left`, scan.records);
  if (checkpoint.seq > 0 && scan.hashAt(checkpoint.seq) !== checkpoint.head)
    return tampered('the checkpoint signs for other rows', checkpoint.seq);
  if (checkpoint.seq < scan.records)
    return verdict(
      path,
      'not_established',
      scan.records,
      [
        `${scan.records - checkpoint.seq} rows were added after the last signature: a run was cut off or is going on`,
      ],
      { seq: checkpoint.seq + 1, what: 'no signature covers the rows from here on' },
    );
  if (anchors.length === 0)
    return verdict(path, 'incomplete', scan.records, ['the ledger has no word about this store'], {
      seq: scan.records,
      what: 'the ledger has no word about this store',
    });
  return verdict(path, 'intact', scan.records, scan.notes);
}

function verdict(
  path: string,
  status: VerifyStatus,
  records: number,
  notes: readonly string[],
  bad?: Bad,
): FileVerdict {
  return {
    path,
    status,
    records,
    first_bad: bad ? { line: Math.max(1, bad.seq), sequence: bad.seq, byte: 0, what: bad.what } : null,
    notes,
  };
}
