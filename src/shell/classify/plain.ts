/**
 * The fast reader: a strict, total lexer for the plain subset of the shell language.
 *
 * 1. It accepts only what every POSIX shell reads the same way: printable ASCII, bare words, quoted text
 *    without expansions or escapes, blanks, and single `|` between commands.
 * 2. Everything else is `null`, never a guess: the full grammar reads it.
 * 3. What it accepts it reads exactly as the full grammar does (held by differential property tests).
 * 4. One pass, no backtracking: linear in the length of the text.
 */
import type { Word } from './rule.ts';

const REFUSE = 0;
const BARE = 1;
const BLANK = 2;
const SINGLE = 3;
const DOUBLE = 4;
const PIPE = 5;
const HASH = 6;

const KIND = new Uint8Array(128);
for (let code = 0x21; code < 0x7f; code += 1) KIND[code] = BARE;
for (const char of '$`\\(){}[]*?~!<>&;') KIND[char.charCodeAt(0)] = REFUSE;
KIND[0x20] = BLANK;
KIND[0x27] = SINGLE;
KIND[0x22] = DOUBLE;
KIND[0x7c] = PIPE;
KIND[0x23] = HASH;

/** In double quotes a shell still looks at these. */
const LIVE_IN_DOUBLE = new Uint8Array(128);
for (const char of '$`\\!') LIVE_IN_DOUBLE[char.charCodeAt(0)] = 1;

/** Words that are grammar, not programs, where a command begins. */
export const RESERVED: ReadonlySet<string> = new Set(
  '! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while'.split(
    ' ',
  ),
);

/** Index of the closing quote, or -1 when the text ends first or holds something the quote does not hide. */
function closing(text: string, from: number, quote: number): number {
  for (let i = from; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === quote) return i;
    if (code < 0x20 || code > 0x7e) return -1;
    if (quote === 0x22 && LIVE_IN_DOUBLE[code] === 1) return -1;
  }
  return -1;
}

/** Stages of a pipeline, each with at least one word; or null when the text is not plain. */
export function readPlain(text: string): Word[][] | null {
  const end = text.length;
  const stages: Word[][] = [];
  let words: Word[] = [];
  let i = 0;
  for (;;) {
    while (i < end && text.charCodeAt(i) === 0x20) i += 1;
    if (i === end) break;
    const first = text.charCodeAt(i);
    if (first > 0x7e) return null;
    if (first === 0x7c) {
      // `||` and `|&` are other operators; a pipe needs a command on its left.
      const next = i + 1 < end ? text.charCodeAt(i + 1) : 0;
      if (words.length === 0 || next === 0x7c || next === 0x26) return null;
      stages.push(words);
      words = [];
      i += 1;
      continue;
    }
    if (first === 0x23) return null; // a comment
    const start = i;
    let value = '';
    let chunk = i;
    let quoted = false;
    let equals = false;
    for (; i < end; i += 1) {
      const code = text.charCodeAt(i);
      if (code > 0x7e) return null;
      const kind = KIND[code];
      if (kind === BARE) {
        if (code === 0x3d) equals = true;
        continue;
      }
      if (kind === HASH) {
        // After a quote some readers take it for a comment.
        if (i === chunk && quoted) return null;
        continue;
      }
      if (kind === BLANK || kind === PIPE) break;
      if (kind === REFUSE) return null;
      const close = closing(text, i + 1, code);
      if (close === -1) return null;
      value += text.slice(chunk, i) + text.slice(i + 1, close);
      quoted = true;
      i = close;
      chunk = close + 1;
    }
    value = quoted ? value + text.slice(chunk, i) : text.slice(start, i);
    // Where a command begins, `A=b` is an assignment and a reserved word is grammar: not for us.
    if (words.length === 0 && (equals || (!quoted && RESERVED.has(value)))) return null;
    words.push({ value, start, end: i, glob: false });
  }
  if (words.length === 0) return null;
  stages.push(words);
  return stages;
}
