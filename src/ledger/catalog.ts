import { dirname, relative, resolve, sep } from 'node:path';
import { type Clock, CODES, EXIT, WritError } from '../core/index.ts';
import { openJournal } from './journal.ts';
import { readRecords } from './read.ts';
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
}

const WAIT_FOR_LOCK_MS = 10_000;

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

  /** Id of the journal listed at a place, or null. */
  const holder = async (where: string): Promise<string | null> => {
    let id: string | null = null;
    for await (const record of readRecords(path)) {
      if (record.path !== where) continue;
      id = record.event === 'retired' ? null : String(record.journal);
    }
    return id;
  };

  return {
    opened: ({ id, path: file }) =>
      write({ event: 'opened', journal: id, path: place(file) }, async () => {
        const listed = await holder(place(file));
        if (listed !== null && listed !== id) throw taken(file);
      }),
    closed: ({ id, path: file, count, head }) =>
      write({ event: 'closed', journal: id, path: place(file), count, head }),
    retire: async (file, reason, by) => {
      const where = place(file);
      await write({ event: 'retired', path: where, reason, by }, async () => {
        if ((await holder(where)) === null) throw unknown(file);
      });
    },
  };
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
