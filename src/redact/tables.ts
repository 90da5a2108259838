import { BLANK, EOL, is, isEol, skip } from './chars.ts';
import type { KeyMeaning } from './key-names.ts';
import { isGuid, plausible } from './plausible.ts';
import type { Scan } from './scan.ts';

const ROWS = 2000;
const WIDTH = 8192;

interface Column {
  readonly start: number;
  readonly meaning: KeyMeaning;
  readonly guid: boolean;
}

/**
 * A table as command-line tools print it: a line of names, a line of dashes, rows. The word at `from`
 * stands in the line of names; the cells below names that own secrets are marked.
 */
export function tableBelow(scan: Scan, from: number): void {
  const { text } = scan;
  if (from < (scan.done.get('table') ?? 0)) return;
  const below = scan.lineEnd(from) + 1;
  if (text[below] !== '-' && text[skip(text, below, BLANK, below + 64)] !== '-') return;
  const header = lineAround(text, from);
  if (header === undefined) return;
  const ruler = nextLine(text, header[1]);
  if (ruler === undefined || !/^[ \t]*-{2,}[- \t]*$/.test(text.slice(ruler[0], ruler[1]))) return;
  const columns = columnsOf(scan, text.slice(...header), text.slice(...ruler));
  let row = nextLine(text, ruler[1]);
  for (let n = 0; n < ROWS && row !== undefined && row[1] > row[0]; n++) {
    for (const column of columns) markCell(scan, row, column);
    scan.done.set('table', row[1]);
    row = nextLine(text, row[1]);
  }
}

function columnsOf(scan: Scan, header: string, ruler: string): Column[] {
  const columns: Column[] = [];
  for (const dashes of ruler.matchAll(/-+/g)) {
    const start = dashes.index;
    const name = header.slice(start, start + Math.max(dashes[0].length, 1)).trim();
    const guid = /^subscription_?id$/i.test(name);
    const meaning: KeyMeaning | undefined = guid
      ? { strength: 'strong', category: 'subscription_id' }
      : scan.meaningOf(name);
    if (meaning !== undefined) columns.push({ start, meaning, guid });
  }
  return columns;
}

function markCell(scan: Scan, row: readonly [number, number], column: Column): void {
  const { text } = scan;
  const start = skip(text, row[0] + column.start, BLANK, row[1]);
  if (start >= row[1] || (column.start > 0 && !is(text, row[0] + column.start - 1, BLANK))) return;
  let end = start;
  while (end < row[1] && !(is(text, end, BLANK) && (end + 1 >= row[1] || is(text, end + 1, BLANK)))) end++;
  const cell = text.slice(start, end);
  if (column.guid ? isGuid(cell) : plausible(cell, column.meaning.strength)) {
    scan.mark(start, end, column.meaning.category);
  }
}

/** [start, end) of the line that holds `i`, if it is not too long for a table. */
function lineAround(text: string, i: number): readonly [number, number] | undefined {
  let start = i;
  while (start > 0 && i - start < 1024 && !is(text, start - 1, EOL)) start--;
  let end = i;
  while (end - i < 1024 && !isEol(text, end)) end++;
  return isEol(text, end) && (start === 0 || is(text, start - 1, EOL)) ? [start, end] : undefined;
}

function nextLine(text: string, end: number): readonly [number, number] | undefined {
  let start = end;
  if (text[start] === '\r') start++;
  if (text[start] !== '\n') return undefined;
  start++;
  let stop = start;
  while (stop - start < WIDTH && !isEol(text, stop)) stop++;
  return [start, stop];
}
