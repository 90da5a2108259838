import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { type Clock, CODES, EXIT, WritError, ZERO_DIGEST } from '../core/index.ts';
import { openJournal } from './journal.ts';
import { readRecords } from './read.ts';
import { segmentPath } from './segments.ts';
import type { JournalCatalog, JournalEntry, PublicKeys, Signer } from './types.ts';

/**
 * The catalogue of a state folder: a journal of its own that says which journals exist and how far each had
 * come when it was closed. A journal that vanishes with its checkpoint is missed here; one that is put back
 * to an earlier state contradicts it.
 *
 * K1 Many processes write it, so it is opened for one record at a time, waiting for the lock.
 * K2 Paths are relative to the catalogue's folder: the whole project can be moved.
 * K3 A place that is taken by one journal is not given to another, unless the first was retired: beginning
 *    afresh over a journal that was removed would hide the removal.
 */
export interface Catalog extends JournalCatalog {
  /** Says that a journal may be missing from now on, and why. */
  retire(path: string, reason: string, by: string): Promise<void>;
  /** What it remembers, by absolute path. For decisions that must not go wrong, verify it first. */
  remembered(): Promise<ReadonlyMap<string, CatalogMemory>>;
}

export interface CatalogMemory {
  readonly id: string;
  /** How far it had come when it was last closed; 0 when it never was. */
  readonly count: number;
  readonly head: string;
  readonly retired: { readonly reason: string; readonly by: string } | null;
}

const WAIT_FOR_LOCK_MS = 10_000;
const CHUNK = 1024 * 1024;

export function openCatalog(options: {
  /** `<state dir>/ledger/catalog.jsonl` */
  readonly path: string;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly trustedKeys?: PublicKeys;
}): Catalog {
  const { path } = options;
  const place = (file: string) => relative(dirname(path), resolve(file)).split(sep).join('/');

  /** `check` runs under the lock, before anything is written. */
  const write = async (entry: JournalEntry, check?: () => Promise<void>) => {
    const journal = await openJournal({
      ...options,
      flush: 'each',
      check: 'since_checkpoint',
      lockWaitMs: WAIT_FOR_LOCK_MS,
    });
    try {
      await check?.();
      await journal.append(entry);
    } finally {
      await journal.close();
    }
  };

  const remembered = async () => {
    const journals = new Map<string, CatalogMemory>();
    if (!existsSync(path)) return journals;
    for await (const { event, path: where, journal, count, head, reason, by } of readRecords(path)) {
      const file = resolve(dirname(path), String(where));
      const known = journals.get(file);
      const fresh = { id: String(journal), count: 0, head: ZERO_DIGEST, retired: null };
      if (event === 'opened' && (known?.id !== fresh.id || known.retired)) journals.set(file, fresh);
      if (event === 'closed')
        journals.set(file, { ...(known ?? fresh), count: Number(count), head: String(head) });
      if (event === 'retired' && known !== undefined)
        journals.set(file, { ...known, retired: { reason: String(reason), by: String(by) } });
    }
    return journals;
  };

  /** Id of the journal listed at a place, or null. */
  const holder = async (file: string): Promise<string | null> => {
    if (!mentions(path, JSON.stringify(place(file)))) return null;
    const known = (await remembered()).get(resolve(file));
    return known === undefined || known.retired !== null ? null : known.id;
  };

  return {
    opened: ({ id, path: file }) =>
      write({ event: 'opened', journal: id, path: place(file) }, async () => {
        const listed = await holder(file);
        if (listed !== null && listed !== id) throw taken(file);
      }),
    closed: ({ id, path: file, count, head }) =>
      write({ event: 'closed', journal: id, path: place(file), count, head }),
    retire: (file, reason, by) =>
      write({ event: 'retired', path: place(file), reason, by }, async () => {
        if ((await holder(file)) === null) throw unknown(file);
      }),
    remembered,
  };
}

/** Whether a text is anywhere in a journal: far quicker than reading its records, which are many. */
function mentions(path: string, text: string): boolean {
  for (let segment = 0; existsSync(segmentPath(path, segment)); segment++) {
    const fd = openSync(segmentPath(path, segment), 'r');
    try {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const overlap = Buffer.byteLength(text);
      for (let at = 0; ; at += CHUNK - overlap) {
        const n = readSync(fd, chunk, 0, CHUNK, at);
        if (chunk.subarray(0, n).includes(text)) return true;
        if (n < CHUNK) break;
      }
    } finally {
      closeSync(fd);
    }
  }
  return false;
}

function taken(file: string): WritError {
  return new WritError(CODES.integrity_broken, `${file}: the catalogue lists a journal here that is gone`, {
    suggestion: `put it back, or say that it may be missing: writ audit retire ${file} --reason "…"; or use another name`,
    context: { path: file },
    exit: EXIT.integrity,
  });
}

function unknown(file: string): WritError {
  return new WritError(CODES.invalid_input, `${file}: the catalogue lists no such journal`, {
    suggestion: 'writ audit verify lists what it knows',
    exit: EXIT.usage,
  });
}
