/** What changes in a file, for people to read: one hunk from the first line that differs to the last. */
const AROUND = 3;

/** The bytes as text, or null when they are none. */
export function asText(bytes: Buffer | null): string | null {
  if (bytes === null) return '';
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

export function unified(path: string, old: Buffer | null, now: Buffer | null): string {
  const head = `--- ${old === null ? '/dev/null' : `a/${path}`}\n+++ ${now === null ? '/dev/null' : `b/${path}`}\n`;
  const [before, after] = [asText(old), asText(now)];
  if (before === null || after === null)
    return `${head}Binary content: ${old?.length ?? 0} bytes before, ${now?.length ?? 0} bytes after\n`;
  if (before === after) return '';
  const [a, b] = [lines(before), lines(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let tail = 0;
  while (tail < a.length - start && tail < b.length - start && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const from = Math.max(0, start - AROUND);
  const [endA, endB] = [
    Math.min(a.length, a.length - tail + AROUND),
    Math.min(b.length, b.length - tail + AROUND),
  ];
  const hunk = [
    ...a.slice(from, start).map((l) => ` ${l}`),
    ...a.slice(start, a.length - tail).map((l) => `-${l}`),
    ...b.slice(start, b.length - tail).map((l) => `+${l}`),
    ...a.slice(a.length - tail, endA).map((l) => ` ${l}`),
  ];
  const at = (length: number) => `${length === 0 ? 0 : from + 1},${length}`;
  return `${head}@@ -${at(endA - from)} +${at(endB - from)} @@\n${hunk.join('\n')}\n`;
}

/** Lines, the last one marked when no newline ends it: that is a difference too. */
function lines(text: string): readonly string[] {
  if (text === '') return [];
  const all = text.split('\n');
  if (all.at(-1) === '') return all.slice(0, -1);
  return [...all.slice(0, -1), `${all.at(-1)}\n\\ No newline at end of file`];
}
