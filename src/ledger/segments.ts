import { basename, dirname, join } from 'node:path';
import { CODES, EXIT, WritError } from '../core/index.ts';

/**
 * A journal is one or more segments in one folder: `name.jsonl`, `name.0001.jsonl`, `name.0002.jsonl` …
 * The first keeps its name for ever; the highest number is the one being written.
 */
export function segmentPath(base: string, segment: number): string {
  if (segment === 0) return base;
  return `${base.slice(0, -'.jsonl'.length)}.${String(segment).padStart(4, '0')}.jsonl`;
}

export function checkpointPath(segmentFile: string): string {
  return `${segmentFile}.checkpoint`;
}

/** Which journal a file belongs to, and which segment of it. */
export function segmentOf(path: string): { readonly base: string; readonly segment: number } {
  const found = /^(.+)\.(\d{4,9})\.jsonl$/.exec(basename(path));
  if (!found) return { base: path, segment: 0 };
  return { base: join(dirname(path), `${found[1]}.jsonl`), segment: Number(found[2]) };
}

const MAX_NAME = 160;

export function checkJournalName(path: string): void {
  const name = basename(path);
  const wrong = !name.endsWith('.jsonl')
    ? 'does not end in .jsonl'
    : segmentOf(path).segment !== 0 || /\.\d{4,9}\.jsonl$/.test(name)
      ? 'looks like a later segment (four or more digits before .jsonl)'
      : name.length > MAX_NAME || !/^[\x20-\x7e]+$/.test(name)
        ? `is longer than ${MAX_NAME} characters or has others than printable ASCII`
        : null;
  if (wrong)
    throw new WritError(CODES.invalid_input, `${path}: the name of a journal ${wrong}`, {
      suggestion: 'choose a name such as session_42.jsonl',
      exit: EXIT.usage,
    });
}
