import type { FileVerdict, VerifyStatus } from '../types.ts';
import type { Vouched } from './checkpoint-check.ts';
import { baseOf, checkpointName, lastSegment, segmentName } from './names.ts';
import { diskEvidence, type Evidence } from './source.ts';
import { examineSegment, type SegmentFindings, type VerifyOptions } from './verify-file.ts';

/** What is known of a journal as a whole. */
export interface JournalFindings {
  readonly base: string;
  readonly verdicts: readonly FileVerdict[];
  /** Its id, and whether it is in a catalogue, when a checkpoint could be believed. */
  readonly id: string | null;
  readonly listed: boolean;
  /** The last good record. */
  readonly count: number;
  readonly head: string;
  readonly present: boolean;
}

/** All segments of the journal that `path` belongs to, each by itself and as a continuation of the one before. */
export async function verifyJournal(path: string, options: VerifyOptions): Promise<JournalFindings> {
  const evidence = options.evidence ?? diskEvidence;
  const base = baseOf(path);
  const found: SegmentFindings[] = [];
  const examine = async (segment: number) =>
    examineSegment(segmentName(base, segment), options, found[segment - 1]?.end ?? null);
  for (let segment = 0; segment <= lastToExamine(evidence, base, found); segment++) {
    const next = await examine(segment);
    // A writer may have written more to the segment before, and finished it, after we looked at it.
    const previous = found[segment - 1];
    if (previous && vouchedBy(previous)?.sealed === false && next.present)
      found[segment - 1] = await examine(segment - 1);
    found.push(next);
  }
  const verdicts = found.map((segment, i) => linked(segment, found[i - 1] ?? null, i));
  const last = found.at(-1);
  if (last && vouchedBy(last)?.sealed) verdicts.push(missingNext(segmentName(base, found.length), last));
  const known = found.findLast((segment) => vouchedBy(segment) !== null);
  return {
    base,
    verdicts,
    id: (known && vouchedBy(known)?.journal) ?? null,
    listed: (known && vouchedBy(known)?.listed) ?? false,
    count: last?.end.sequence ?? 0,
    head: last?.end.head ?? '',
    present: found.some((segment) => segment.present),
  };
}

/** The next segment as long as there is one; where one is missing, the folder says whether more follow. */
function lastToExamine(evidence: Evidence, base: string, found: readonly SegmentFindings[]): number {
  const next = segmentName(base, found.length);
  if (found.length === 0 || evidence.exists(next) || evidence.exists(checkpointName(next)))
    return found.length;
  const last = found.at(-1);
  const robbed = last !== undefined && (!last.present || vouchedBy(last)?.sealed !== false);
  return robbed ? lastSegment(evidence, base) : found.length - 1;
}

function vouchedBy(found: SegmentFindings): Vouched | null {
  return found.checkpoint.kind === 'good' ? found.checkpoint.vouched : null;
}

const INTERRUPTED = 'a change of segment was interrupted; opening the journal finishes it';

/** A segment must begin where the one before ended, which must have been finished. */
function linked(found: SegmentFindings, previous: SegmentFindings | null, segment: number): FileVerdict {
  const mine = vouchedBy(found);
  const its = previous && vouchedBy(previous);
  if (mine && mine.segment !== segment)
    return worsen(found, 'tampered', `its checkpoint is that of segment ${mine.segment}`);
  // Between making this file and finishing the one before there is nothing in it to be lost.
  if (its && !its.sealed && found.present && found.empty && found.checkpoint.kind === 'none')
    return { ...found.verdict, status: 'intact', notes: [INTERRUPTED] };
  if (!previous || !mine) return found.verdict;
  if (its && its.journal !== mine.journal) return worsen(found, 'tampered', 'it belongs to another journal');
  if (its && (its.count + 1 !== mine.first || its.head !== mine.before))
    return worsen(found, 'tampered', 'it does not continue the segment before');
  if (its && !its.sealed) {
    if (!found.empty) return worsen(found, 'tampered', 'the segment before was not finished');
    return { ...found.verdict, notes: [...found.verdict.notes, INTERRUPTED] };
  }
  return found.verdict;
}

const ORDER: readonly VerifyStatus[] = ['intact', 'not_established', 'incomplete', 'tampered'];

/** The worst of many; nothing at all establishes nothing. */
export function worstStatus(statuses: readonly VerifyStatus[]): VerifyStatus {
  const worst = Math.max(...statuses.map((status) => ORDER.indexOf(status)));
  return ORDER[worst] ?? 'not_established';
}

function worsen(found: SegmentFindings, status: VerifyStatus, what: string): FileVerdict {
  const { verdict } = found;
  if (ORDER.indexOf(verdict.status) >= ORDER.indexOf(status))
    return { ...verdict, notes: [...verdict.notes, what] };
  return { ...verdict, status, first_bad: { line: 1, sequence: null, byte: 0, what } };
}

function missingNext(path: string, previous: SegmentFindings): FileVerdict {
  const sequence = previous.end.sequence + 1;
  const what = 'the file is gone: the segment before says that it was begun';
  return {
    path,
    status: 'incomplete',
    records: 0,
    first_bad: { line: 1, sequence, byte: 0, what },
    notes: [],
  };
}
