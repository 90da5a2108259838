import { basename, dirname } from 'node:path';
import { type Clock, CODES, type Digest, EXIT, messageOf, WritError } from '../core/index.ts';
import { FastEncoderV1, roomFor, writeRecord } from './encode-fast.ts';
import { type FilePort, systemFiles } from './file-port.ts';
import { type Batch, GroupCommit } from './group-commit.ts';
import { type FileLock, lockFile } from './lock.ts';
import { MAX_LINE_BYTES, RESERVED_V1 } from './record-v1.ts';
import { type Recovered, recover } from './recover.ts';
import { TORN_TAIL_EVENT } from './scan.ts';
import { createSegment, type SegmentFile, type Standing } from './segment-file.ts';
import { checkJournalName, segmentPath } from './segments.ts';
import { checkPrivateDir } from './state-dir.ts';
import type { Tear } from './tears.ts';
import type { Appended, Journal, JournalEntry, OpenJournalOptions, Recovery } from './types.ts';

/** For tests and for the catalogue: another disk, a longer wait for the lock. */
export interface JournalInternals {
  readonly files?: FilePort;
  readonly lockWaitMs?: number;
}

const INLINE_LINES = 8;
/** A disk that takes longer than this on average is waited for on another thread. */
const SLOW_MS = 1;
/** How much the last flush counts in the average: one that was held up does not make the disk slow. */
const NEWS = 1 / 8;
const DEFAULT_ROTATE_BYTES = 256 * 1024 * 1024;

export async function openJournal(
  options: OpenJournalOptions,
  internals: JournalInternals = {},
): Promise<Journal> {
  const { path, clock } = options;
  const files = internals.files ?? systemFiles;
  checkJournalName(path);
  checkPrivateDir(dirname(path));
  const lock = await lockFile(path, options.lockWaitMs ?? internals.lockWaitMs ?? 0);
  let found: Recovered | undefined;
  try {
    found = recover({
      files,
      path,
      signer: options.signer ?? null,
      trusted: options.trustedKeys ?? new Map(),
      now: () => clock.now(),
      check: options.check ?? 'all',
    });
    const journal = new FileJournal(options, files, lock, found);
    await journal.begin(found.tears);
    return journal;
  } catch (error) {
    found?.segment.close();
    lock.release();
    throw asWritError(path, error);
  }
}

/**
 * J1 A record's place in the chain is fixed when `append` is called, in the order of the calls.
 * J2 `append` resolves after the record is on disk and, with `checkpointEvery` 1, signed for.
 * J3 After any failure to write, flush or sign, nothing is appended any more.
 */
class FileJournal implements Journal {
  readonly path: string;
  readonly #options: OpenJournalOptions;
  readonly #files: FilePort;
  readonly #clock: Clock;
  readonly #lock: FileLock;
  readonly #queue: GroupCommit;
  readonly #encoder = new FastEncoderV1();
  readonly #checkpointEvery: number;
  readonly #rotateBytes: number;
  #segment: SegmentFile;
  /** The durable end. */
  #standing: Standing;
  /** The end once all that is queued is durable. */
  #nextSequence: number;
  #lastHash: string;
  #sinceCheckpoint = 0;
  /** How long flushes took lately. */
  #flushMs = 0;
  readonly #openedAt: number;
  #nowMs = Number.NaN;
  #nowText = '';
  #recovery: Recovery | null = null;
  /** A tear is recorded in the segment it was found in, so that opening knows it from one scan. */
  #begun = false;
  #closing: Promise<void> | null = null;

  constructor(options: OpenJournalOptions, files: FilePort, lock: FileLock, found: Recovered) {
    this.path = options.path;
    this.#options = options;
    this.#files = files;
    this.#clock = options.clock;
    this.#lock = lock;
    this.#segment = found.segment;
    this.#standing = found.standing;
    this.#nextSequence = found.standing.count + 1;
    this.#openedAt = found.fresh ? -1 : found.standing.count;
    this.#lastHash = found.standing.head;
    this.#checkpointEvery = Math.max(1, options.checkpointEvery ?? 1);
    this.#rotateBytes = options.rotateBytes ?? DEFAULT_ROTATE_BYTES;
    this.#queue = new GroupCommit({
      commit: (batches) => this.#commit(batches),
      shared: options.flush !== 'each',
    });
    const tear = found.tears.at(-1);
    if (tear || found.adopted > 0) this.#recovery = { torn: tear ?? null, adopted: found.adopted };
  }

  get count(): number {
    return this.#standing.count;
  }

  get head(): Digest {
    return this.#standing.head as Digest;
  }

  get recovery(): Recovery | null {
    return this.#recovery;
  }

  /** Lists the journal, covers adopted records, records tears: all before anyone else may append. */
  async begin(tears: readonly Tear[]): Promise<void> {
    const { catalog, signer } = this.#options;
    const { journal: id, listed } = this.#standing;
    if (catalog && signer && !listed) {
      await catalog.opened({ id, path: this.path });
      this.#standing = { ...this.#standing, listed: true };
      await this.checkpoint();
    } else if (this.#recovery) await this.checkpoint();
    for (const tear of tears) {
      await this.append({
        event: TORN_TAIL_EVENT,
        torn_bytes: tear.bytes,
        torn_sha256: tear.sha256,
        torn_file: basename(tear.file),
      });
    }
    this.#begun = true;
  }

  append(entry: JournalEntry, when: 'now' | 'soon' = 'now'): Promise<Appended> {
    try {
      if (this.#closing) throw closed(this.path);
      const sequence = this.#nextSequence;
      const timestamp = this.#timestampOf(entry);
      const body = this.#bodyOf(entry, sequence, timestamp);
      const batch = this.#queue.reserve(roomFor(body));
      const { hash, bytes } = writeRecord(batch.buffer, batch.used, body);
      if (bytes > MAX_LINE_BYTES)
        throw refused(this.path, `the record is longer than ${MAX_LINE_BYTES} bytes`);
      this.#nextSequence = sequence + 1;
      this.#lastHash = hash;
      return this.#queue.push(batch, bytes, { sequence, hash: hash as Digest, timestamp }, when);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async checkpoint(): Promise<void> {
    await this.#queue.idle();
    if (this.#queue.poison) throw this.#queue.poison;
    try {
      this.#writeCheckpoint();
    } catch (error) {
      throw this.#queue.stop(error);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#queue.idle();
      if (this.#queue.poison) return;
      try {
        this.#writeCheckpoint();
      } catch (error) {
        throw this.#queue.stop(error);
      }
      const { journal: id, count, head, listed } = this.#standing;
      if (listed && count > this.#openedAt)
        await this.#options.catalog?.closed({ id, path: this.path, count, head: head as Digest });
    } finally {
      this.#segment.close();
      this.#lock.release();
    }
  }

  async #commit(batches: readonly Batch[]): Promise<void> {
    if (this.#segment.bytes >= this.#rotateBytes && this.#begun) this.#rotate();
    const pieces = batches.map(({ buffer, used }) => buffer.subarray(0, used));
    const { buffer, used } = batches.at(-1)!;
    const lines = batches.reduce((sum, batch) => sum + batch.waiters.length, 0);
    const since = this.#sinceCheckpoint + lines;
    const due = since >= this.#checkpointEvery;
    const before = this.#standing;
    const after = (bytes: number): Standing => ({
      ...before,
      count: before.count + lines,
      // Every line ends with its hash, a quotation mark, a brace and LF.
      head: buffer.toString('latin1', used - 67, used - 3),
      bytes,
    });
    const began = this.#clock.monotonic();
    const inline = this.#options.inlineFlush === true && lines <= INLINE_LINES && this.#flushMs < SLOW_MS;
    await this.#segment.append(pieces, this.#clock, (bytes) => (due ? after(bytes) : null), inline);
    this.#flushMs += (this.#clock.monotonic() - began - this.#flushMs) * NEWS;
    this.#standing = after(this.#segment.bytes);
    this.#sinceCheckpoint = due ? 0 : since;
  }

  #writeCheckpoint(): void {
    this.#segment.writeCheckpoint(this.#standing, this.#clock.now());
    this.#sinceCheckpoint = 0;
  }

  /** The next segment exists before this one is sealed, so a sealed one without a next was robbed of it. */
  #rotate(): void {
    const { segment, count, head } = this.#standing;
    const next: Standing = {
      ...this.#standing,
      segment: segment + 1,
      first: count + 1,
      before: head,
      bytes: 0,
    };
    const path = segmentPath(this.path, segment + 1);
    const opened = createSegment(this.#files, path, next, this.#clock.now(), this.#options.signer ?? null);
    try {
      this.#segment.writeCheckpoint({ ...this.#standing, sealed: true }, this.#clock.now());
    } catch (error) {
      opened.close();
      throw error;
    }
    this.#segment.close();
    this.#segment = opened;
    this.#standing = next;
  }

  /** The time as text, made once a millisecond. */
  #now(): string {
    const ms = this.#clock.now().getTime();
    if (ms !== this.#nowMs) {
      this.#nowMs = ms;
      this.#nowText = new Date(ms).toISOString();
    }
    return this.#nowText;
  }

  #bodyOf(entry: JournalEntry, sequence: number, timestamp: string): string {
    for (const name of RESERVED_V1)
      if (Object.hasOwn(entry, name)) throw refused(this.path, `"${name}" is written by the journal itself`);
    try {
      return this.#encoder.body(entry, sequence, timestamp, this.#lastHash);
    } catch (error) {
      throw refused(this.path, messageOf(error));
    }
  }

  #timestampOf(entry: JournalEntry): string {
    const given = entry.timestamp;
    if (given === undefined) {
      if (this.#options.timestamps === 'require') throw refused(this.path, 'the entry has no "timestamp"');
      return this.#now();
    }
    if (typeof given !== 'string' || !ISO.test(given) || Number.isNaN(Date.parse(given)))
      throw refused(this.path, '"timestamp" is not an ISO 8601 time such as 2026-01-15T14:30:00.000Z');
    return given;
  }
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function refused(path: string, what: string): WritError {
  return new WritError(CODES.invalid_input, `${basename(path)}: a record was refused: ${what}`, {
    suggestion:
      'records are flat JSON objects; large output belongs in a file, with its digest in the record',
    exit: EXIT.failed,
    context: { path },
  });
}

function closed(path: string): WritError {
  return new WritError(CODES.storage_failed, `${path}: the journal is closed`, {
    suggestion: 'open it again to append',
  });
}

function asWritError(path: string, error: unknown): WritError {
  if (error instanceof WritError) return error;
  return new WritError(CODES.storage_failed, `${path}: cannot open the journal: ${messageOf(error)}`, {
    suggestion: 'check that the disk has space and that you may write the folder',
    cause: error,
    context: { path },
  });
}
