import type { OpenFile } from './file-port.ts';
import { LineSplitter, type RawLine } from './line-splitter.ts';
import { decodeRecordV1 } from './record-v1.ts';

/** Name of the records in which a journal speaks about itself. */
export const TORN_TAIL_EVENT = 'journal.torn_tail';

export interface ScanResult {
  /** Sequence and hash of the last good record, and the length of the file up to its LF. */
  readonly count: number;
  readonly head: string;
  readonly goodBytes: number;
  /** Hash of the record with sequence `watch`. */
  readonly watched: string | null;
  /** Torn tails that are already recorded, by the name of the file that keeps them. */
  readonly recordedTears: ReadonlySet<string>;
  readonly tail: Tail;
}

export type Tail =
  | { readonly kind: 'clean' }
  | { readonly kind: 'torn'; readonly bytes: number; readonly line: number }
  | {
      readonly kind: 'damaged';
      readonly line: number;
      readonly byte: number;
      readonly sequence: number | null;
      readonly what: string;
    };

const CHUNK = 1024 * 1024;

/** The sequence and `prev_hash` the next record must have, and where it begins. */
export interface ScanStart {
  readonly first: number;
  readonly before: string;
  readonly byte?: number;
  readonly line?: number;
}

/** Reads a segment from a place and follows the chain until the end or the first thing that is wrong. */
export function scanSegment(file: OpenFile, start: ScanStart, watch: number): ScanResult {
  const size = file.stat().size;
  const splitter = new LineSplitter(start.byte ?? 0, start.line ?? 1);
  const chunk = Buffer.allocUnsafe(CHUNK);
  const recordedTears = new Set<string>();
  let count = start.first - 1;
  let head = start.before;
  let goodBytes = start.byte ?? 0;
  let watched = watch === count ? head : null;
  let bad: Tail | null = null;

  const take = (raw: RawLine): Tail | null => {
    const problem = judge(raw, count + 1, head, size);
    if (problem.kind !== 'good') return problem.tail;
    count += 1;
    head = problem.hash;
    goodBytes = raw.byte + raw.bytes.length + 1;
    if (count === watch) watched = head;
    if (problem.tear !== null) recordedTears.add(problem.tear);
    return null;
  };

  for (let position = goodBytes; position < size && bad === null; ) {
    const n = file.read(chunk.subarray(0, Math.min(CHUNK, size - position)), position);
    if (n === 0) break;
    position += n;
    for (const raw of splitter.push(chunk.subarray(0, n))) {
      bad = take(raw);
      if (bad) break;
    }
  }
  const rest = bad === null ? splitter.end() : null;
  if (rest) bad = take(rest);
  return { count, head, goodBytes, watched, recordedTears, tail: bad ?? { kind: 'clean' } };
}

type Judged =
  | { readonly kind: 'good'; readonly hash: string; readonly tear: string | null }
  | { readonly kind: 'bad'; readonly tail: Tail };

/**
 * The last line may be torn by a crash: unterminated, or terminated but not JSON. A line that is a whole
 * record with the wrong content was not torn, it was changed.
 */
function judge(raw: RawLine, sequence: number, before: string, size: number): Judged {
  const last = !raw.terminated || raw.byte + raw.bytes.length + 1 === size;
  if (raw.overlong) return damaged(raw, null, 'the line is longer than a record can be');
  if (!raw.terminated) return torn(raw, size);
  const decoded = decodeRecordV1(raw.bytes);
  if (!decoded.ok) {
    if (last && decoded.kind === 'unreadable') return torn(raw, size);
    return damaged(raw, decoded.sequence, decoded.what);
  }
  const { record } = decoded;
  if (record.sequence !== sequence)
    return damaged(raw, record.sequence, `record ${record.sequence} where ${sequence} should be`);
  if (record.prev_hash !== before)
    return damaged(raw, sequence, 'prev_hash is not the hash of the record before');
  const tear = record.event === TORN_TAIL_EVENT ? String(record.torn_file) : null;
  return { kind: 'good', hash: record.hash, tear };
}

function torn(raw: RawLine, size: number): Judged {
  return { kind: 'bad', tail: { kind: 'torn', bytes: size - raw.byte, line: raw.line } };
}

function damaged(raw: RawLine, sequence: number | null, what: string): Judged {
  return { kind: 'bad', tail: { kind: 'damaged', line: raw.line, byte: raw.byte, sequence, what } };
}
