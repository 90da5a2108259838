import type { Digest, Json } from '../core/index.ts';

/** What a caller hands over. `sequence`, `timestamp`, `prev_hash` and `hash` are the journal's own. */
export type JournalEntry = { readonly [key: string]: Json };

/** Where a record landed. The promise that carries it resolves only once the record is on disk. */
export interface Appended {
  readonly sequence: number;
  readonly hash: Digest;
  readonly timestamp: string;
}

export interface Journal {
  readonly path: string;
  /** Number of records so far, and the hash of the last (ZERO_DIGEST when empty). */
  readonly count: number;
  readonly head: Digest;
  /** Appends one record; resolves when it is durable. Concurrent appends share one flush in `group` mode. */
  append(entry: JournalEntry): Promise<Appended>;
  /** Writes a signed checkpoint of count and head now (also done on close and every `checkpointEvery`). */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}

/** Signs digests. `keyId` is the fingerprint of the public key. */
export interface Signer {
  readonly keyId: string;
  readonly publicKeyPem: string;
  sign(data: Uint8Array): Uint8Array;
}

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
  readonly records: number;
  readonly first_bad: FirstBad | null;
  readonly notes: readonly string[];
}
