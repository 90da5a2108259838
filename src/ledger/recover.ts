import { randomBytes } from 'node:crypto';
import { type WritError, ZERO_DIGEST } from '../core/index.ts';
import type { CheckpointV1 } from './checkpoint-v1.ts';
import type { OpenFile } from './file-port.ts';
import { type ScanResult, scanSegment } from './scan.ts';
import {
  createSegment,
  openSegment,
  placeCheckpoint,
  type SegmentFile,
  type Standing,
} from './segment-file.ts';
import { segmentPath } from './segments.ts';
import { damage, readCheckpoint, type SidecarOptions, using } from './sidecar.ts';
import { setAside, type Tear, tearsOf } from './tears.ts';

/**
 * Opening: read what is there, mend the one thing a crash explains, refuse the rest.
 *
 * O1 Only bytes behind the last whole record, not covered by a checkpoint, may be set aside; they are
 *    copied to a file of their own and flushed before the journal is shortened by them.
 * O2 Everything else that does not fit stops the opening and changes nothing.
 * O3 Doing it again after a crash at any step leads to the same end.
 */
export interface Recovered {
  readonly segment: SegmentFile;
  readonly standing: Standing;
  /** Tears whose record is still to be written. */
  readonly tears: readonly Tear[];
  readonly adopted: number;
  readonly fresh: boolean;
}

export interface RecoverOptions extends SidecarOptions {
  readonly now: () => Date;
  readonly check: 'all' | 'since_checkpoint';
}

export function recover(options: RecoverOptions): Recovered {
  const { files, path } = options;
  let last = 0;
  while (files.exists(segmentPath(path, last + 1))) last += 1;
  const checkpoint = readCheckpoint(options, last);
  if (last === 0 && !files.exists(path)) return create(options, checkpoint);
  const file = files.open(segmentPath(path, last), 'read');
  let empty: boolean;
  try {
    empty = file.stat().size === 0;
  } finally {
    file.close();
  }
  if (last === 0 && empty && !checkpoint) return create(options, null);
  if (last > 0 && empty && (!checkpoint || checkpoint.count < checkpoint.first))
    return finishRotation(options, last);
  const start = startOf(options, last, checkpoint);
  if (checkpoint?.sealed)
    throw damage(
      segmentPath(path, last + 1),
      null,
      'this segment is missing: the one before says that it was begun',
    );
  return resume(options, last, start, checkpoint);
}

/** Where a segment's chain begins; earlier segments are held to what their checkpoints say. */
function startOf(
  options: RecoverOptions,
  last: number,
  checkpoint: CheckpointV1 | null,
): { readonly first: number; readonly before: string } {
  if (last === 0) return { first: 1, before: ZERO_DIGEST };
  const previous = readCheckpoint(options, last - 1);
  if (previous && checkpoint) {
    const path = segmentPath(options.path, last);
    if (!previous.sealed || previous.count + 1 !== checkpoint.first || previous.head !== checkpoint.before)
      throw damage(path, null, 'this segment does not continue the one before');
    if (previous.journal !== checkpoint.journal)
      throw damage(path, null, 'this segment belongs to another journal');
    return checkpoint;
  }
  let start = { first: 1, before: ZERO_DIGEST as string };
  for (let segment = 0; segment < last; segment++) {
    const scan = scanOne(options, segment, start, 0);
    if (scan.tail.kind !== 'clean') throw damageOf(segmentPath(options.path, segment), scan);
    start = { first: scan.count + 1, before: scan.head };
  }
  return start;
}

function resume(
  options: RecoverOptions,
  last: number,
  start: { readonly first: number; readonly before: string },
  checkpoint: CheckpointV1 | null,
): Recovered {
  const { files, signer } = options;
  const path = segmentPath(options.path, last);
  const scan = scanLast(options, last, start, checkpoint);
  if (scan.tail.kind === 'damaged') throw damageOf(path, scan);
  if (checkpoint && scan.count < checkpoint.count)
    throw damage(
      path,
      scan.tail.kind === 'torn' ? scan.tail.line : null,
      `records ${scan.count + 1} to ${checkpoint.count} are missing, which the checkpoint vouches for`,
    );
  if (checkpoint && scan.watched !== checkpoint.head)
    throw damage(path, null, `record ${checkpoint.count} is not the one the checkpoint vouches for`);
  const tears = setAside(files, path, scan);
  const adopted = checkpoint ? scan.count - checkpoint.count : 0;
  const standing: Standing = {
    journal: checkpoint?.journal ?? randomBytes(16).toString('hex'),
    segment: last,
    first: start.first,
    before: start.before,
    count: scan.count,
    head: scan.head,
    bytes: scan.goodBytes,
    adopted: (checkpoint?.adopted ?? 0) + adopted,
    sealed: false,
    listed: checkpoint?.listed ?? false,
  };
  return { segment: openSegment(files, path, signer), standing, tears, adopted, fresh: false };
}

/**
 * The segment being written, from its start, or from where the checkpoint says all was well: what lies before
 * is then only held to end with the record that was signed for. A tear that may wait for its record needs
 * the whole.
 */
function scanLast(
  options: RecoverOptions,
  last: number,
  start: { readonly first: number; readonly before: string },
  checkpoint: CheckpointV1 | null,
): ScanResult {
  const { files } = options;
  const path = segmentPath(options.path, last);
  if (
    options.check === 'since_checkpoint' &&
    checkpoint &&
    checkpoint.count >= start.first &&
    tearsOf(files, path).length === 0
  ) {
    const { count, head, bytes } = checkpoint;
    const line = count - start.first + 2;
    const from = { first: count + 1, before: head, byte: bytes, line };
    const found = using(files.open(path, 'read'), (file) =>
      endsWith(file, bytes, head) ? scanSegment(file, from, count) : null,
    );
    if (found) return found;
  }
  return scanOne(options, last, start, checkpoint?.count ?? -1);
}

/** Whether the line that ends at `end` has this hash. */
function endsWith(file: OpenFile, end: number, hash: string): boolean {
  const expected = `"hash":"${hash}"}\n`;
  const found = Buffer.alloc(expected.length);
  return (
    end >= found.length &&
    file.read(found, end - found.length) === found.length &&
    found.toString('latin1') === expected
  );
}

/** A crash between making the next segment and sealing the one before. */
function finishRotation(options: RecoverOptions, last: number): Recovered {
  const { files, path, signer, now } = options;
  const previous = readCheckpoint(options, last - 1);
  const start = startOfRotation(options, last, previous);
  const { journal, adopted, listed } = previous ?? {
    journal: randomBytes(16).toString('hex'),
    adopted: 0,
    listed: false,
  };
  const standing: Standing = {
    journal,
    segment: last,
    first: start.count + 1,
    before: start.head,
    count: start.count,
    head: start.head,
    bytes: 0,
    adopted: adopted + start.adopted,
    sealed: false,
    listed,
  };
  const segment = createSegment(files, segmentPath(path, last), standing, now(), signer);
  if (previous && signer && !previous.sealed)
    placeCheckpoint(
      files,
      segmentPath(path, last - 1),
      {
        ...previous,
        count: start.count,
        head: start.head,
        bytes: start.bytes,
        adopted: standing.adopted,
        sealed: true,
      },
      now(),
      signer,
    );
  return { segment, standing, tears: [], adopted: start.adopted, fresh: false };
}

function startOfRotation(options: RecoverOptions, last: number, previous: CheckpointV1 | null) {
  if (previous?.sealed)
    return { count: previous.count, head: previous.head, bytes: previous.bytes, adopted: 0 };
  const start = startOf(options, last - 1, previous);
  const scan = scanOne(options, last - 1, start, previous?.count ?? -1);
  const path = segmentPath(options.path, last - 1);
  if (scan.tail.kind !== 'clean') throw damageOf(path, scan);
  if (previous && scan.watched !== previous.head)
    throw damage(path, null, `record ${previous.count} is not the one the checkpoint vouches for`);
  return {
    count: scan.count,
    head: scan.head,
    bytes: scan.goodBytes,
    adopted: previous ? scan.count - previous.count : 0,
  };
}

function create(options: RecoverOptions, checkpoint: CheckpointV1 | null): Recovered {
  const { files, path, signer, now } = options;
  if (checkpoint && (checkpoint.count > 0 || checkpoint.sealed))
    throw damage(path, null, `the file is gone; its checkpoint says it held ${checkpoint.count} records`);
  const standing: Standing = {
    journal: checkpoint?.journal ?? randomBytes(16).toString('hex'),
    segment: 0,
    first: 1,
    before: ZERO_DIGEST,
    count: 0,
    head: ZERO_DIGEST,
    bytes: 0,
    adopted: 0,
    sealed: false,
    listed: checkpoint?.listed ?? false,
  };
  return {
    segment: createSegment(files, path, standing, now(), signer),
    standing,
    tears: [],
    adopted: 0,
    fresh: true,
  };
}

function scanOne(
  options: RecoverOptions,
  segment: number,
  start: { readonly first: number; readonly before: string },
  watch: number,
): ScanResult {
  const path = segmentPath(options.path, segment);
  return using(options.files.open(path, 'read'), (file) => scanSegment(file, start, watch));
}

function damageOf(path: string, scan: ScanResult): WritError {
  switch (scan.tail.kind) {
    case 'damaged':
      return damage(path, scan.tail.line, `byte ${scan.tail.byte}: ${scan.tail.what}`);
    case 'torn':
      return damage(path, scan.tail.line, 'the last line of a finished segment is torn');
    case 'clean':
      return damage(path, null, 'unexpected end');
  }
}
