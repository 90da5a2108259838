import type { Clock, Digest, Json } from '../core/index.ts';

/** What a caller hands over. `sequence`, `prev_hash` and `hash` are the journal's own and refused here. */
export type JournalEntry = { readonly [key: string]: Json };

/** A record as it lies on disk: the entry's fields at top level, and the journal's own. */
export interface JournalRecord {
  readonly sequence: number;
  readonly timestamp?: string;
  readonly prev_hash: string;
  readonly hash: string;
  readonly [key: string]: Json | undefined;
}

/** Where a record landed. The promise that carries it resolves only once the record is on disk. */
export interface Appended {
  readonly sequence: number;
  readonly hash: Digest;
  readonly timestamp: string;
}

export interface OpenJournalOptions {
  /** The first segment, `name.jsonl`. Created (0600) when missing; its folder must exist. */
  readonly path: string;
  readonly clock: Clock;
  /** Signs checkpoints. Without one the chain protects against accidents only. */
  readonly signer?: Signer;
  /** `group`: appends that meet share one flush. `each`: every record has a flush of its own. Default `group`. */
  readonly flush?: 'group' | 'each';
  /**
   * Few records are flushed on the calling thread as long as the disk is quick: sooner durable than another
   * thread could be told, for a pause of well under a millisecond. Default false.
   */
  readonly inlineFlush?: boolean;
  /** Sign a checkpoint once this many records came since the last. Default 1: with every flush, before it is acknowledged. */
  readonly checkpointEvery?: number;
  /** Start a new segment once the current one holds this many bytes. Default 256 MiB. */
  readonly rotateBytes?: number;
  /** `add` (default): an entry without `timestamp` gets the clock's. `require`: such an entry is refused. */
  readonly timestamps?: 'add' | 'require';
  /**
   * `all` (default): opening follows the chain from the segment's first record. `since_checkpoint`: from where
   * the last signature says all was well; for journals that are opened often and verified elsewhere.
   */
  readonly check?: 'all' | 'since_checkpoint';
  /** How long to wait for another writer to finish before refusing. Default 0. */
  readonly lockWaitMs?: number;
  /** Where the journal is listed, so that its removal is noticed. */
  readonly catalog?: JournalCatalog;
  /** Other keys whose checkpoints are accepted when opening, by key id: keys used before the present one. */
  readonly trustedKeys?: PublicKeys;
}

export interface Journal {
  readonly path: string;
  /** Number of durable records, and the hash of the last (ZERO_DIGEST when empty). */
  readonly count: number;
  readonly head: Digest;
  /** What opening had to mend, or null after a clean start. */
  readonly recovery: Recovery | null;
  /**
   * Appends one record; resolves when it is durable. Concurrent appends share one flush in `group` mode.
   * `soon` is for what nobody waits for: such a record shares the flush of what is appended next, or has one
   * of its own a few milliseconds later.
   */
  append(entry: JournalEntry, when?: 'now' | 'soon'): Promise<Appended>;
  /** Writes a signed checkpoint of count and head now and flushes it (also done on close and every `checkpointEvery`). */
  checkpoint(): Promise<void>;
  /** Waits for what was appended, seals with a checkpoint, lets go of the lock. Safe to call twice. */
  close(): Promise<void>;
}

/** What a crash left behind and opening put right. */
export interface Recovery {
  /** The torn last line, set aside in `file`, recorded in the journal; null when there was none. */
  readonly torn: { readonly bytes: number; readonly sha256: Digest; readonly file: string } | null;
  /** Whole, well-chained records after the last signed checkpoint, now covered by a new one. */
  readonly adopted: number;
}

/** Signs digests. `keyId` is the fingerprint of the public key. */
export interface Signer {
  readonly keyId: string;
  readonly publicKeyPem: string;
  sign(data: Uint8Array): Uint8Array;
}

/** Public keys in PEM by key id. */
export type PublicKeys = ReadonlyMap<string, string>;

/** A list of journals that is itself a journal. */
export interface JournalCatalog {
  /** Makes it durable that this journal exists. Rejects when another one is listed in its place. */
  opened(journal: { readonly id: string; readonly path: string }): Promise<void>;
  /** Makes durable how far it had come. */
  closed(journal: {
    readonly id: string;
    readonly path: string;
    readonly count: number;
    readonly head: Digest;
  }): Promise<void>;
}

/**
 * intact: every byte is accounted for by the chain and by a signed checkpoint of the very end.
 * tampered: something contradicts the chain, a signature or the catalogue.
 * incomplete: what is there is good, but something that was there is missing, or the last line is torn.
 * not_established: nothing contradicts, but no trusted signature covers the end.
 */
export type VerifyStatus = 'intact' | 'tampered' | 'incomplete' | 'not_established';

export interface FirstBad {
  /** 1-based line in the file, and the record's sequence if it could be read. */
  readonly line: number;
  readonly sequence: number | null;
  readonly byte: number;
  readonly what: string;
}

export interface FileVerdict {
  readonly path: string;
  readonly status: VerifyStatus;
  /** Records found good, from the start up to `first_bad`. */
  readonly records: number;
  readonly first_bad: FirstBad | null;
  readonly notes: readonly string[];
}
