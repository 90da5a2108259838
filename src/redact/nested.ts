import { skipGap } from './chars.ts';
import type { KeyMeaning } from './key-names.ts';
import { plausible } from './plausible.ts';
import type { Scan } from './scan.ts';

const WINDOW = 4096;

/** `"functionKeys": {"default": "…"}`, `"passwords": ["…", "…"]`: the strings inside that are not keys. */
export function nestedValues(scan: Scan, open: number, meaning: KeyMeaning): boolean {
  const { text } = scan;
  if (open < (scan.done.get('nested') ?? 0)) return false;
  const stop = Math.min(text.length, open + WINDOW);
  scan.done.set('nested', stop);
  let depth = 0;
  let took = false;
  for (let i = open; i < stop; i++) {
    const c = text[i];
    if (c === '{' || c === '[') depth++;
    else if (c === '}' || c === ']') depth--;
    else if (c === '"') {
      const end = stringEnd(text, i + 1, stop);
      if (end < 0) break;
      const isKey = text[skipGap(text, end + 1)] === ':';
      if (isKey && depth > 1) break; // An object of its own: its members speak for themselves.
      if (!isKey && plausible(text.slice(i + 1, end), meaning.strength))
        took = scan.take(i + 1, end, meaning.category) || took;
      i = end;
    }
    if (depth === 0) {
      scan.done.set('nested', i);
      break;
    }
  }
  return took;
}

function stringEnd(text: string, from: number, stop: number): number {
  for (let i = from; i < stop; i++) {
    const c = text[i];
    if (c === '\\') i++;
    else if (c === '"') return i;
    else if (c === '\n') return -1;
  }
  return -1;
}
