import { basename, dirname, join } from 'node:path';
import type { Evidence } from './source.ts';

/** Names of a journal's files, worked out here a second time: the verifier takes nothing from the writer. */
export function segmentName(base: string, segment: number): string {
  return segment === 0 ? base : base.replace(/\.jsonl$/, `.${String(segment).padStart(4, '0')}.jsonl`);
}

export function checkpointName(file: string): string {
  return `${file}.checkpoint`;
}

/** The first segment of the journal that a file belongs to. */
export function baseOf(path: string): string {
  return path.replace(/\.\d{4,9}\.jsonl$/, '.jsonl');
}

/** Highest segment of which a file or a checkpoint is there: gaps below it are losses. */
export function lastSegment(evidence: Evidence, base: string): number {
  const stem = basename(base).replace(/\.jsonl$/, '');
  let last = 0;
  for (const name of evidence.list(dirname(base))) {
    const found = /^(.+)\.(\d{4,9})\.jsonl(?:\.checkpoint)?$/.exec(name);
    if (found?.[1] === stem) last = Math.max(last, Number(found[2]));
  }
  return last;
}

/** First segments of all journals in a folder: also of those of which only later parts or checkpoints are left. */
export function journalsIn(evidence: Evidence, dir: string): string[] {
  const bases = new Set<string>();
  for (const name of evidence.list(dir)) {
    const found = /^(.+\.jsonl)(?:\.checkpoint)?$/.exec(name);
    if (found?.[1]) bases.add(baseOf(join(dir, found[1])));
  }
  return [...bases].sort();
}
