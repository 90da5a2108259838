import type { Source } from './source.ts';

const CHUNK = 1024 * 1024;
const LF = 0x0a;

/** Finds a line by its number, with the one before. Only used when something is wrong, so it need not be quick. */
export function locateLine(
  source: Source,
  line: number,
  end: number,
): { readonly byte: number; readonly text: string; readonly previous: string } | null {
  const starts: number[] = [0];
  const chunk = Buffer.allocUnsafe(CHUNK);
  let seen = 1;
  for (let position = 0; position < end && seen <= line; ) {
    const n = source.read(chunk.subarray(0, Math.min(CHUNK, end - position)), position);
    if (n === 0) break;
    const view = chunk.subarray(0, n);
    for (let at = view.indexOf(LF); at !== -1 && seen <= line; at = view.indexOf(LF, at + 1)) {
      seen += 1;
      starts.push(position + at + 1);
      // The starts of the line before, of the line, and of the line after are all that is wanted.
      if (starts.length > 3) starts.shift();
    }
    position += n;
  }
  if (seen <= line) return null;
  const [before, from, after] = starts.length === 3 ? starts : [0, 0, starts[1]];
  if (before === undefined || from === undefined || after === undefined) return null;
  return { byte: from, text: textOf(source, from, after - 1), previous: textOf(source, before, from - 1) };
}

function textOf(source: Source, from: number, to: number): string {
  if (to <= from) return '';
  const bytes = Buffer.alloc(to - from);
  return bytes.subarray(0, source.read(bytes, from)).toString('latin1');
}
