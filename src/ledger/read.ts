import * as fs from 'node:fs';
import { CODES, EXIT, messageOf, quoteArgv, WritError, ZERO_DIGEST } from '../core/index.ts';
import { LineSplitter, type RawLine } from './line-splitter.ts';
import { decodeRecordV1 } from './record-v1.ts';
import { TORN_TAIL_EVENT } from './scan.ts';
import { segmentPath } from './segments.ts';
import type { JournalRecord } from './types.ts';

export { type OpenIntent, openIntents } from './intents.ts';
/**
 * The reading door: for everyone who may look at a journal and never write it. Streams with bounded memory
 * and reports what is wrong instead of throwing, so that a damaged trail can still be read. It follows the
 * chain but knows no keys: whether the trail is whole is for `writ audit verify` to say.
 */
export type {
  FileVerdict,
  FirstBad,
  JournalEntry,
  JournalRecord,
  PublicKeys,
  VerifyStatus,
} from './types.ts';
export { type VerifyOptions, verifyFile, verifyJournal, verifyState, worstStatus } from './verify/index.ts';

export type JournalItem =
  | {
      readonly kind: 'record';
      readonly file: string;
      readonly line: number;
      readonly byte: number;
      readonly record: JournalRecord;
    }
  | {
      readonly kind: 'problem';
      readonly file: string;
      readonly line: number;
      readonly byte: number;
      readonly sequence: number | null;
      readonly what: string;
      /** Present when the line is a record all the same, only not the one that should follow. */
      readonly record?: JournalRecord;
    };

export interface ReadOptions {
  /** Keep waiting for more at the end, until the signal fires. */
  readonly follow?: AbortSignal;
  readonly pollMs?: number;
}

const CHUNK = 256 * 1024;

/** All records of a journal in order, through all its segments. A missing first file throws. */
export async function* readJournal(path: string, options: ReadOptions = {}): AsyncGenerator<JournalItem> {
  const chain: Chain = { sequence: 0, hash: ZERO_DIGEST };
  for (let segment = 0; ; segment++) {
    const next = segmentPath(path, segment + 1);
    yield* readSegment(segmentPath(path, segment), chain, options, () => fs.existsSync(next));
    if (!fs.existsSync(next)) return;
  }
}

/** Only the records, for callers that have no use for what is wrong: check the journal elsewhere. */
export async function* readRecords(path: string, options: ReadOptions = {}): AsyncGenerator<JournalRecord> {
  for await (const item of readJournal(path, options)) if (item.kind === 'record') yield item.record;
}

/** True for records in which the journal speaks of itself, such as a torn tail that was found. */
export function isJournalEvent(record: JournalRecord): boolean {
  return record.event === TORN_TAIL_EVENT;
}

interface Chain {
  sequence: number;
  hash: string;
}

async function* readSegment(
  path: string,
  chain: Chain,
  options: ReadOptions,
  superseded: () => boolean,
): AsyncGenerator<JournalItem> {
  const file = await open(path);
  try {
    const splitter = new LineSplitter();
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (let position = 0; ; ) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK, position);
      if (bytesRead === 0) {
        if (!options.follow || options.follow.aborted || superseded()) break;
        await pause(options.pollMs ?? 200, options.follow);
        continue;
      }
      position += bytesRead;
      for (const raw of splitter.push(chunk.subarray(0, bytesRead))) yield judge(path, raw, chain);
    }
    const rest = splitter.end();
    if (rest && !options.follow) yield judge(path, rest, chain);
  } finally {
    await file.close();
  }
}

function judge(file: string, raw: RawLine, chain: Chain): JournalItem {
  const place = { file, line: raw.line, byte: raw.byte };
  if (raw.overlong)
    return { kind: 'problem', ...place, sequence: null, what: 'the line is longer than a record can be' };
  if (!raw.terminated)
    return { kind: 'problem', ...place, sequence: null, what: 'the last line is torn (it has no line feed)' };
  const decoded = decodeRecordV1(raw.bytes);
  if (!decoded.ok) return { kind: 'problem', ...place, sequence: decoded.sequence, what: decoded.what };
  const record = decoded.record as JournalRecord;
  const expected = chain.sequence + 1;
  const fits = record.sequence === expected && record.prev_hash === chain.hash;
  chain.sequence = record.sequence;
  chain.hash = record.hash;
  if (fits) return { kind: 'record', ...place, record };
  const what =
    record.sequence === expected
      ? 'prev_hash is not the hash of the record before'
      : `record ${record.sequence} where ${expected} should be`;
  return { kind: 'problem', ...place, sequence: record.sequence, what, record };
}

async function open(path: string): Promise<fs.promises.FileHandle> {
  try {
    return await fs.promises.open(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new WritError(
      missing ? CODES.invalid_input : CODES.storage_failed,
      missing ? `${path}: there is no such journal` : `${path}: cannot be read: ${messageOf(error)}`,
      {
        suggestion: `ls -l ${quoteArgv([path])}`,
        context: { path },
        cause: error,
        exit: missing ? EXIT.usage : EXIT.failed,
      },
    );
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
