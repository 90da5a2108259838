import { dirname, relative, sep } from 'node:path';
import type { Clock } from '../core/index.ts';
import { openJournal } from './journal.ts';
import type { JournalCatalog, JournalEntry, PublicKeys, Signer } from './types.ts';

/**
 * The catalogue of a state folder: a journal of its own that says which journals exist and how far each had
 * come when it was closed. A journal that vanishes with its checkpoint is missed here; one that is put back
 * to an earlier state contradicts it.
 *
 * K1 Many processes write it, so it is opened for one record at a time, waiting for the lock.
 * K2 Paths are relative to the catalogue's folder: the whole project can be moved.
 */
export const CATALOG_WAIT_MS = 10_000;

export function openCatalog(options: {
  /** `<state dir>/ledger/catalog.jsonl` */
  readonly path: string;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly trustedKeys?: PublicKeys;
}): JournalCatalog {
  const { path } = options;
  const write = async (entry: JournalEntry) => {
    const journal = await openJournal({ ...options, flush: 'each' }, { lockWaitMs: CATALOG_WAIT_MS });
    try {
      await journal.append(entry);
    } finally {
      await journal.close();
    }
  };
  const place = (file: string) => relative(dirname(path), file).split(sep).join('/');
  return {
    opened: (journal) => write({ event: 'opened', journal: journal.id, path: place(journal.path) }),
    closed: ({ id, path: file, count, head }) =>
      write({ event: 'closed', journal: id, path: place(file), count, head }),
  };
}
