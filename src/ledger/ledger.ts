import { join, resolve } from 'node:path';
import { type Clock, systemClock } from '../core/index.ts';
import { type Catalog, openCatalog } from './catalog.ts';
import { openJournal } from './journal.ts';
import { loadOrCreateSigner, loadPublicKeys } from './signer.ts';
import { ensureStateDir } from './state-dir.ts';
import type { Journal, OpenJournalOptions, PublicKeys, Signer } from './types.ts';

/** Where things lie in a state folder. */
export function statePaths(stateDir: string) {
  const dir = resolve(stateDir);
  return {
    stateDir: dir,
    keys: join(dir, 'keys'),
    ledger: join(dir, 'ledger'),
    catalog: join(dir, 'ledger', 'catalog.jsonl'),
    flights: join(dir, 'flights'),
    database: join(dir, 'writ.db'),
  } as const;
}

/** A state folder with its key: opens journals that are signed and listed. */
export interface Ledger {
  readonly stateDir: string;
  readonly signer: Signer;
  readonly trustedKeys: PublicKeys;
  readonly catalog: Catalog;
  /** The folder of `path` is made (0700) when missing. */
  openJournal(
    options: Omit<OpenJournalOptions, 'clock' | 'signer' | 'catalog' | 'trustedKeys'>,
  ): Promise<Journal>;
}

/** The usual way in: makes what is missing, refuses what others could write. */
export function openLedger(options: { readonly stateDir: string; readonly clock?: Clock }): Ledger {
  const clock = options.clock ?? systemClock;
  const paths = statePaths(options.stateDir);
  ensureStateDir(paths.stateDir);
  ensureStateDir(paths.ledger);
  const signer = loadOrCreateSigner(paths.keys);
  const trustedKeys = loadPublicKeys(paths.keys);
  const catalog = openCatalog({ path: paths.catalog, clock, signer, trustedKeys });
  return {
    stateDir: paths.stateDir,
    signer,
    trustedKeys,
    catalog,
    async openJournal(journal) {
      const path = resolve(journal.path);
      ensureStateDir(join(path, '..'));
      return openJournal({ ...journal, path, clock, signer, catalog, trustedKeys });
    },
  };
}
