import { basename } from 'node:path';
import { ZERO_DIGEST } from '../../core/index.ts';
import type { FileVerdict, FirstBad, PublicKeys, VerifyStatus } from '../types.ts';
import { type CheckpointState, readCheckpoint, type Vouched } from './checkpoint-check.ts';
import { checkpointName } from './names.ts';
import { SegmentScan } from './segment-scan.ts';
import { diskEvidence, type Evidence } from './source.ts';

export interface VerifyOptions {
  /** Keys whose signatures count, by key id. */
  readonly publicKeys: PublicKeys;
  /** Where to read; the disk when left out. */
  readonly evidence?: Evidence;
  /** How long to wait before looking again at a journal that seems unfinished: it may be growing. 0: do not. */
  readonly lookAgainMs?: number;
}

/** A verdict and what was learned on the way, for comparing segments with each other. */
export interface SegmentFindings {
  readonly verdict: FileVerdict;
  readonly present: boolean;
  readonly empty: boolean;
  readonly checkpoint: CheckpointState;
  /** Sequence and hash of the last good record. */
  readonly end: { readonly sequence: number; readonly head: string };
}

/** Judges one segment by itself: its bytes, its chain, its own checkpoint. */
export async function verifyFile(path: string, options: VerifyOptions): Promise<FileVerdict> {
  return (await examineSegment(path, options, null)).verdict;
}

export async function examineSegment(
  path: string,
  options: VerifyOptions,
  /** Where the segment before ended, when that is known. */
  after: { readonly sequence: number; readonly head: string } | null,
): Promise<SegmentFindings> {
  const { publicKeys, evidence = diskEvidence, lookAgainMs = 20 } = options;
  let checkpoint = readCheckpoint(evidence, path, publicKeys);
  const start = startOf(path, checkpoint, after);
  const source = evidence.open(path);
  if (!source) return absent(path, checkpoint, start);
  try {
    let scan = new SegmentScan(source, start);
    await scan.advance(vouchedCount(checkpoint));
    // A writer may be at work: as long as something moves, look again before judging what is unfinished.
    for (
      let look = lookAgainMs > 0 ? 0 : MAX_LOOKS;
      look < MAX_LOOKS && unsettled(scan, checkpoint);
      look++
    ) {
      const size = source.size();
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
      const again = readCheckpoint(evidence, path, publicKeys);
      const still = JSON.stringify(again) === JSON.stringify(checkpoint) && source.size() === size;
      checkpoint = again;
      if (still) break;
      // What is signed for now may lie where nothing was remembered: read again from the start.
      if (scan.sequence >= vouchedCount(checkpoint) && scan.hashAt(vouchedCount(checkpoint)) === undefined)
        scan = new SegmentScan(source, start);
      await scan.advance(vouchedCount(checkpoint));
    }
    const empty = source.size() === 0;
    const end = { sequence: scan.sequence, head: scan.head };
    return { verdict: judge(path, scan, checkpoint), present: true, empty, checkpoint, end };
  } finally {
    source.close();
  }
}

const MAX_LOOKS = 20;

function unsettled(scan: SegmentScan, checkpoint: CheckpointState): boolean {
  if (checkpoint.kind === 'broken') return true;
  if (checkpoint.kind !== 'good' || scan.bad?.kind === 'wrong') return false;
  return scan.bad !== null || checkpoint.vouched.count !== scan.sequence;
}

function vouchedCount(checkpoint: CheckpointState): number {
  return checkpoint.kind === 'good' ? checkpoint.vouched.count : Number.POSITIVE_INFINITY;
}

function startOf(
  path: string,
  checkpoint: CheckpointState,
  after: { readonly sequence: number; readonly head: string } | null,
): { readonly first: number; readonly before: string } {
  const later = /\.\d{4,9}\.jsonl$/.test(path);
  if (!later) return { first: 1, before: ZERO_DIGEST };
  if (checkpoint.kind === 'good') return checkpoint.vouched;
  return after ? { first: after.sequence + 1, before: after.head } : { first: 1, before: ZERO_DIGEST };
}

/** The strictest that applies, in this order: contradictions, losses, doubts. */
function judge(path: string, scan: SegmentScan, checkpoint: CheckpointState): FileVerdict {
  const verdict = (status: VerifyStatus, first_bad: FirstBad | null, ...notes: string[]): FileVerdict => ({
    path,
    status,
    records: scan.lines,
    first_bad,
    notes,
  });
  const at = (line: number, sequence: number | null, byte: number, what: string): FirstBad => ({
    line,
    sequence,
    byte,
    what,
  });
  const { bad } = scan;
  if (bad?.kind === 'wrong' && !bad.alike && checkpoint.kind === 'none')
    return verdict('not_established', place(bad), 'nothing in it looks like a journal of this format');
  if (bad?.kind === 'wrong') return verdict('tampered', place(bad));
  const sidecar = basename(checkpointName(path));
  if (checkpoint.kind === 'broken')
    return verdict('tampered', at(1, null, 0, `${sidecar}: ${checkpoint.what}`));
  if (checkpoint.kind !== 'good') {
    const doubt =
      checkpoint.kind === 'none'
        ? 'no signed checkpoint: the chain holds, but nothing says where it ends or who wrote it'
        : `signed by key ${checkpoint.keyId}, which is not known here: name it with --key`;
    return bad ? verdict('incomplete', place(bad), doubt) : verdict('not_established', null, doubt);
  }
  const { vouched } = checkpoint;
  const swapped = misfit(path, vouched);
  if (swapped) return verdict('tampered', at(1, null, 0, `${sidecar}: ${swapped}`));
  const notes = notesOf(vouched);
  const end = at(scan.lines + 1, scan.sequence + 1, scan.bytes, '');
  if (scan.sequence < vouched.count) {
    const gone = `records ${scan.sequence + 1} to ${vouched.count} are missing: the checkpoint vouches for ${vouched.count}`;
    return verdict('incomplete', { ...end, what: bad ? `${bad.what}; ${gone}` : gone }, ...notes);
  }
  if (scan.hashAt(vouched.count) !== vouched.head)
    return verdict(
      'tampered',
      at(
        1,
        vouched.first,
        0,
        `the chain was rewritten: record ${vouched.count} is not the one that was signed for`,
      ),
      ...notes,
    );
  if (bad) return verdict('incomplete', place(bad), ...notes);
  if (scan.sequence > vouched.count) {
    const more = `records ${vouched.count + 1} to ${scan.sequence} are not covered by a signature`;
    const first = at(vouched.count - vouched.first + 2, vouched.count + 1, vouched.bytes, more);
    if (vouched.sealed)
      return verdict('tampered', { ...first, what: `${more}, and the segment was finished` }, ...notes);
    return verdict(
      'not_established',
      first,
      ...notes,
      'the writer is at work or was killed; opening the journal again settles it',
    );
  }
  return verdict('intact', null, ...notes);
}

function misfit(path: string, vouched: Vouched): string | null {
  if (vouched.file !== basename(path))
    return `it was made for ${vouched.file}: files were renamed or swapped`;
  return null;
}

function notesOf(vouched: Vouched): string[] {
  if (vouched.adopted === 0) return [];
  return [
    `${vouched.adopted} records were signed for only after a restart, having survived a crash unsigned`,
  ];
}

function place({ line, sequence, byte, what }: FirstBad): FirstBad {
  return { line, sequence, byte, what };
}

function absent(
  path: string,
  checkpoint: CheckpointState,
  start: { readonly first: number; readonly before: string },
): SegmentFindings {
  const end = { sequence: start.first - 1, head: start.before };
  const rest = { present: false, empty: true, checkpoint, end };
  if (
    checkpoint.kind === 'good' &&
    checkpoint.vouched.count < checkpoint.vouched.first &&
    !misfit(path, checkpoint.vouched)
  ) {
    const notes = ['begun, but nothing was ever written to it'];
    return { ...rest, verdict: { path, status: 'intact', records: 0, first_bad: null, notes } };
  }
  const held =
    checkpoint.kind === 'good'
      ? `its checkpoint says it held records ${checkpoint.vouched.first} to ${checkpoint.vouched.count}`
      : checkpoint.kind === 'none'
        ? 'nothing is left of it here'
        : 'only a checkpoint is left';
  const first_bad = { line: 1, sequence: start.first, byte: 0, what: `the file is gone: ${held}` };
  return { ...rest, verdict: { path, status: 'incomplete', records: 0, first_bad, notes: [] } };
}
