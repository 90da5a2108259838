import { verify as verifySignature } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Clock,
  canonicalJson,
  type Digest,
  isJsonObject,
  type Json,
  type JsonObject,
  sha256,
  ZERO_DIGEST,
} from '../core/index.ts';
import type { PublicKeys, Signer } from '../ledger/index.ts';
import { openAppend } from './append-file.ts';

/**
 * The write-ahead log of a flight: one entry a line, chained and signed.
 *
 * WAL1 An entry is on disk before what it announces is done.
 * WAL2 `checksum` covers everything but itself and the signature, which is over the checksum.
 * WAL3 `data` holds the published fields alone; all else rides in `detail`, with the previous checksum.
 * WAL4 A torn last line is cut off and reported; every other damage is reported and nothing is touched.
 */
export const ENTRY_TYPES = [
  'workflow_started',
  'step_started',
  'step_completed',
  'approval_requested',
  'approval_received',
  'artifact_created',
  'policy_evaluated',
  'workflow_completed',
  'workflow_failed',
] as const;
export type EntryType = (typeof ENTRY_TYPES)[number];

export interface WalEntry {
  readonly sequence: number;
  readonly timestamp: string;
  readonly workflow_id: string;
  readonly entry_type: EntryType;
  readonly data: JsonObject;
  readonly checksum: string;
  readonly detail: JsonObject;
}

export interface NewEntry {
  readonly entry_type: EntryType;
  readonly data: JsonObject;
  readonly detail?: JsonObject;
}

export interface WalRead {
  readonly entries: readonly WalEntry[];
  readonly head: Digest;
  /** Bytes of whole, good lines. */
  readonly goodBytes: number;
  readonly torn: string | null;
  readonly bad: { readonly line: number; readonly byte: number; readonly what: string } | null;
}

/** Reads and checks every line. Without keys signatures are not checked (nothing vouches for them). */
export function readWal(path: string, keys: PublicKeys): WalRead {
  const bytes = readFileSync(path);
  const entries: WalEntry[] = [];
  let head: Digest = ZERO_DIGEST;
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf(10, at);
    if (end === -1)
      return { entries, head, goodBytes: at, torn: bytes.subarray(at).toString('utf8'), bad: null };
    const line = entries.length + 1;
    const entry = readLine(bytes.subarray(at, end).toString('utf8'), entries, head, keys);
    if (typeof entry === 'string')
      return { entries, head, goodBytes: at, torn: null, bad: { line, byte: at, what: entry } };
    entries.push(entry);
    head = entry.checksum as Digest;
    at = end + 1;
  }
  return { entries, head, goodBytes: at, torn: null, bad: null };
}

function readLine(
  text: string,
  before: readonly WalEntry[],
  head: Digest,
  keys: PublicKeys,
): WalEntry | string {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return 'is not JSON';
  }
  if (!isJsonObject(value) || !isJsonObject(value.detail) || !isJsonObject(value.data))
    return 'is not a WAL entry';
  const entry = value as unknown as WalEntry;
  if (canonicalJson(value) !== text) return 'is not written the way it was';
  if (entry.sequence !== before.length) return `has sequence ${entry.sequence}, ${before.length} was next`;
  if (entry.checksum !== checksumOf(entry)) return 'does not match its checksum';
  if (entry.detail.prev !== head) return 'does not follow the entry before it';
  const first = before[0];
  if (first !== undefined && entry.workflow_id !== first.workflow_id) return 'belongs to another workflow';
  if (!ENTRY_TYPES.includes(entry.entry_type)) return `has an unknown type ${String(entry.entry_type)}`;
  const pem = keys.get(String(entry.detail.key));
  if (pem === undefined) return 'is signed with a key that is not known';
  const signature = Buffer.from(String(entry.detail.signature), 'base64');
  if (!verifySignature(null, Buffer.from(entry.checksum), pem, signature))
    return 'has a signature that is not valid';
  return entry;
}

function checksumOf(entry: Omit<WalEntry, 'checksum'>): Digest {
  const { signature: _, ...detail } = entry.detail;
  const { sequence, timestamp, workflow_id, entry_type, data } = entry;
  return sha256(canonicalJson({ sequence, timestamp, workflow_id, entry_type, data, detail }));
}

export interface Wal {
  readonly count: number;
  readonly head: Digest;
  /** Digest of the whole file once everything is written. */
  digest(): Digest;
  /** Makes the entries; they are on disk after the next `flush`. */
  append(entries: readonly NewEntry[]): readonly WalEntry[];
  /** Hands what was appended to the system: it survives this process, not yet the machine. */
  write(): void;
  /** Forces to disk all that was appended since the last. */
  flush(): void;
  close(): void;
}

export interface OpenWal {
  readonly path: string;
  readonly workflowId: string;
  readonly clock: Clock;
  readonly signer: Signer;
  /** What was read of it; a torn tail is cut off here. */
  readonly from: Pick<WalRead, 'entries' | 'head' | 'goodBytes'>;
}

export function openWal(options: OpenWal): Wal {
  const { path, workflowId, clock, signer } = options;
  const file = openAppend(path, options.from.goodBytes);
  let count = options.from.entries.length;
  let { head } = options.from;
  return {
    get count() {
      return count;
    },
    get head() {
      return head;
    },
    digest: file.digest,
    append: (added) =>
      added.map(({ entry_type, data, detail = {} }) => {
        const base = {
          sequence: count++,
          timestamp: clock.now().toISOString(),
          workflow_id: workflowId,
          entry_type,
          data,
          detail: { ...detail, prev: head, key: signer.keyId },
        };
        const checksum = checksumOf(base);
        const signature = Buffer.from(signer.sign(Buffer.from(checksum))).toString('base64');
        const entry = { ...base, checksum, detail: { ...base.detail, signature } };
        file.add(`${canonicalJson(entry)}\n`);
        head = checksum;
        return entry;
      }),
    write: file.write,
    flush: file.flush,
    close: file.close,
  };
}
