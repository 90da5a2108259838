/** Character classes as bit flags, so that scanning is one table lookup a character. */
export const IDENT = 1; // A-Z a-z 0-9 _ - .
export const BASE64 = 2; // A-Z a-z 0-9 + /
export const TOKEN = 4; // A-Z a-z 0-9 _ -
export const BLANK = 8; // space, tab
export const EOL = 16;
export const DIGIT = 32;
export const UPPER = 64;
export const LOWER = 128;
export const ALNUM = DIGIT | UPPER | LOWER;

const table = new Uint8Array(256);
for (let c = 0; c < 128; c++) {
  const ch = String.fromCharCode(c);
  let flags = 0;
  if (/[A-Za-z0-9_.-]/.test(ch)) flags |= IDENT;
  if (/[A-Za-z0-9+/]/.test(ch)) flags |= BASE64;
  if (/[A-Za-z0-9_-]/.test(ch)) flags |= TOKEN;
  if (ch === ' ' || ch === '\t') flags |= BLANK;
  if (ch === '\n' || ch === '\r') flags |= EOL;
  if (/[0-9]/.test(ch)) flags |= DIGIT;
  if (/[A-Z]/.test(ch)) flags |= UPPER;
  if (/[a-z]/.test(ch)) flags |= LOWER;
  table[c] = flags;
}

/** Flags of the character at `i`; 0 outside the text and for everything that is not ASCII. */
export function flagsAt(text: string, i: number): number {
  const c = text.charCodeAt(i);
  return c < 256 ? table[c]! : 0;
}

export function is(text: string, i: number, flags: number): boolean {
  return (flagsAt(text, i) & flags) !== 0;
}

/** First position at or after `i` (but at most `limit`) whose character has none of the flags. */
export function skip(text: string, i: number, flags: number, limit: number = text.length): number {
  while (i < limit && (flagsAt(text, i) & flags) !== 0) i++;
  return i;
}

/** First position such that everything from it up to `i` has the flags, looking back at most to `floor`. */
export function skipBack(text: string, i: number, flags: number, floor: number): number {
  while (i > floor && (flagsAt(text, i - 1) & flags) !== 0) i--;
  return i;
}

/** End of a terminal colour sequence that starts at `i`, or `i` when there is none. */
export function skipAnsi(text: string, i: number): number {
  if (text.charCodeAt(i) !== 27 || text.charCodeAt(i + 1) !== 91) return i;
  for (let j = i + 2; j < i + 24; j++) {
    const c = text.charCodeAt(j);
    if (c >= 64 && c <= 126) return j + 1;
    if (!(c >= 32 && c < 64)) return i;
  }
  return i;
}

/** Skips blanks and colour sequences, at most 64 characters. */
export function skipGap(text: string, i: number): number {
  const limit = i + 64;
  for (;;) {
    let j = skip(text, i, BLANK, limit);
    j = skipAnsi(text, j);
    if (j === i || j >= limit) return j;
    i = j;
  }
}

export function isEol(text: string, i: number): boolean {
  return i >= text.length || is(text, i, EOL);
}

/** True when nothing but blanks stands between the start of the line and `i`. */
export function startsLine(text: string, i: number): boolean {
  const j = skipBack(text, i, BLANK, Math.max(0, i - 64));
  return j === 0 || is(text, j - 1, EOL);
}

/** True when what stands directly before `i` is an escape that only looks like letters: `\\n`, `%22`, `\\u0022`, a colour. */
export function afterEscape(text: string, i: number): boolean {
  return escapeBefore(text, i) > 0;
}

const ESCAPE = /(?:^|[^\\])(?:\\\\)*(\\[nrtbf]|\\u[0-9a-f]{4})$|(%[0-9a-f]{2})$|(\u001b\[[0-9;]{0,12}m)$/i;

/** Length of the escape that ends just before `i`, 0 when there is none. */
export function escapeBefore(text: string, i: number): number {
  const found = ESCAPE.exec(text.slice(Math.max(0, i - 16), i));
  return (found?.[1] ?? found?.[2] ?? found?.[3] ?? '').length;
}

/**
 * Start of the run of characters with the flags that ends at `end`. Escapes before a run look like part of
 * it: of all places in the first characters, the last one behind an escape is where it begins.
 */
export function runStart(text: string, end: number, flags: number, floor: number): number {
  const start = skipBack(text, end, flags, floor);
  for (let i = Math.min(start + 6, end); i > start; i--) if (afterEscape(text, i)) return i;
  return start;
}
