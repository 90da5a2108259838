/** The ledger: what happened, in order, hash-chained and signed. */
export { type BundledFile, writeBundle } from './bundle.ts';
export type { Catalog, CatalogMemory } from './catalog.ts';
export {
  type DatabaseOptions,
  databaseError,
  openDatabase,
  type RoomMigrations,
  transaction,
} from './database.ts';
export { type FoundKeys, findKeys } from './find-keys.ts';
export { journalInUse } from './in-use.ts';
export {
  intent,
  type OpenIntent,
  OUTCOMES,
  type Outcome,
  type OutcomeEntry,
  openIntents,
  outcome,
} from './intents.ts';
export { openJournal } from './journal.ts';
export { type Ledger, openLedger, statePaths } from './ledger.ts';
export { type FileLock, lockFile } from './lock.ts';
export { isJournalEvent, type JournalItem, type ReadOptions, readJournal, readRecords } from './read.ts';
export { openForReading } from './read-database.ts';
export {
  generateSigner,
  loadExistingSigner,
  loadOrCreateSigner,
  loadPublicKeys,
  readPublicKey,
} from './signer.ts';
export { checkPrivateDir, ensureStateDir } from './state-dir.ts';
export type {
  Appended,
  FileVerdict,
  FirstBad,
  Journal,
  JournalCatalog,
  JournalEntry,
  JournalRecord,
  OpenJournalOptions,
  PublicKeys,
  Recovery,
  Signer,
  VerifyStatus,
} from './types.ts';
export {
  type JournalFindings,
  journalsIn,
  looksLikeTar,
  type OtherFormats,
  usualDirs,
  type VerifyOptions,
  verifyBundle,
  verifyFile,
  verifyJournal,
  verifyNamed,
  verifyState,
  worstStatus,
} from './verify/index.ts';
export { openWalFlush, type WalFlush } from './wal-flush.ts';
