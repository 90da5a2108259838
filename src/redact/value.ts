import { BLANK, flagsAt, IDENT, is, isEol, skip, skipAnsi, skipGap } from './chars.ts';
import { placeholderEnd } from './placeholder.ts';
import { HEAD } from './plausible.ts';

/** Where a value lies. `end` is undefined when the end is further than HEAD: ask `farEnd` once it is wanted. */
export interface Value {
  readonly start: number;
  readonly end: number | undefined;
  readonly quoted: boolean;
  /** Backslashes before the opening quote: JSON inside JSON. */
  readonly escapes: number;
  readonly quote: number;
  readonly style: Style;
}

/** How an unquoted value ends: `query` at `&`; `word` at blanks; `line` at the end of the line. */
export type Style = 'query' | 'word' | 'line';

const QUOTES = '"\'`';

/** The run of backslashes and the quote at `i`: [position after it, backslashes, quote], or undefined. */
export function quoteAt(text: string, i: number): readonly [number, number, number] | undefined {
  let escapes = 0;
  while (escapes < 16 && text.charCodeAt(i + escapes) === 92) escapes++;
  const c = text.charCodeAt(i + escapes);
  if (c === 34 || c === 39 || c === 96) return [i + escapes + 1, escapes, c];
  if (text.startsWith('&quot;', i)) return [i + 6, 0, 38];
  if (text.startsWith('%22', i)) return [i + 3, 0, 37];
  return undefined;
}

export function valueAt(text: string, at: number, style: Style): Value | undefined {
  const start = skipGap(text, at);
  if (isEol(text, start)) return undefined;
  const quote = quoteAt(text, start);
  if (quote === undefined) {
    const value = { start, quoted: false, escapes: 0, quote: 0, style, end: undefined };
    return { ...value, end: endOf(text, value, start + HEAD) };
  }
  const value = {
    start: quote[0],
    quoted: true,
    escapes: quote[1],
    quote: quote[2],
    style,
    end: undefined,
  };
  const end = endOf(text, value, value.start + HEAD);
  // `"abc"def` is one word that has quotes in it.
  if (end !== undefined && quote[1] === 0 && quote[2] !== 37 && quote[2] !== 38 && goesOn(text, end + 1)) {
    const bare = { start, quoted: false, escapes: 0, quote: 0, style, end: undefined };
    return { ...bare, end: endOf(text, bare, start + HEAD) };
  }
  return { ...value, end };
}

function goesOn(text: string, i: number): boolean {
  return is(text, i, IDENT) && text[i] !== '.' && text[i] !== '-';
}

/** The end of a value however long it is. Only for values that will be taken. */
export function farEnd(text: string, value: Value): number {
  return value.end ?? endOf(text, value, text.length) ?? text.length;
}

/** End of the value, or undefined when it is not before `limit`. */
function endOf(text: string, value: Value, limit: number): number | undefined {
  const end = value.quoted ? quotedEnd(text, value, limit) : bareEnd(text, value.start, value.style, limit);
  return end === undefined && limit >= text.length ? text.length : end;
}

/** Closing quote of the same depth of escaping; a line that ends before it ends the value. */
export function quotedEnd(
  text: string,
  value: Pick<Value, 'start' | 'escapes' | 'quote'>,
  limit: number,
): number | undefined {
  const stop = Math.min(limit, text.length);
  let backslashes = 0;
  for (let i = value.start; i < stop; i++) {
    const c = text.charCodeAt(i);
    if (c === 10 || c === 13) return i;
    if (c === 92) {
      backslashes++;
      continue;
    }
    // An apostrophe inside a JSON string opens nothing that outlives the string.
    if (c === 34 && value.quote !== 34 && ',}]:'.includes(text[i + 1] ?? ' ')) return i - backslashes;
    if (value.quote === 38 && c === 38 && text.startsWith('&quot;', i)) return i;
    if (value.quote === 37 && c === 37 && text.startsWith('%22', i)) return i;
    if (c === value.quote && value.quote !== 38 && value.quote !== 37) {
      const period = 2 * (value.escapes + 1);
      const over = backslashes - value.escapes;
      if (over <= 0 || over % period === 0) return i - Math.min(backslashes, value.escapes);
    }
    backslashes = 0;
  }
  return undefined;
}

function bareEnd(text: string, start: number, style: Style, limit: number): number | undefined {
  const inner = placeholderEnd(text, start);
  const stop = Math.min(limit, text.length);
  let opened = 0;
  for (let i = inner < 0 ? start : inner; i < stop; i++) {
    const c = text.charCodeAt(i);
    if (c < 32) {
      const after = skipAnsi(text, i);
      if (after === i || endsHere(text, after)) return i;
      i = after - 1;
      continue;
    }
    switch (c) {
      case 32:
        if (style !== 'line') return i;
        break;
      case 34: // " ' `
      case 39:
      case 96:
        if (endsHere(text, i + 1)) return i;
        break;
      case 92: // an escape that stands for a blank, a line end or a quote
        if ('nrt"\'`u/'.includes(text[i + 1] ?? 'n')) return i;
        if (text.charCodeAt(i + 1) === 92) {
          const far = skipBackslashes(text, i);
          if ('nrt"\'`'.includes(text[far] ?? 'n')) return i;
          i = far - 1;
        }
        break;
      case 38: // &
        if (style === 'query' || text.startsWith('&amp;', i) || text.startsWith('&quot;', i)) return i;
        if (assigns(text, i + 1, IDENT)) return i;
        break;
      case 37: // % of an encoded & or quote
        if (style === 'query' && (text.startsWith('%26', i) || text.startsWith('%22', i))) return i;
        break;
      case 59: // ;
      case 44: // ,
        if (endsHere(text, i + 1) || assigns(text, skip(text, i + 1, BLANK, i + 4), IDENT | BLANK)) return i;
        break;
      case 60: // <
        if (text[i + 1] === '/' || is(text, i + 1, 64 | 128)) return i;
        break;
      case 40:
      case 91:
      case 123:
        opened++;
        break;
      case 41: // ) ] }
      case 93:
      case 125:
        if (opened > 0) opened--;
        else if (endsHere(text, i + 1)) return i;
        break;
      case 0x2028:
      case 0x2029:
      case 0xa0:
        return i;
    }
  }
  return stop === text.length ? stop : undefined;
}

function skipBackslashes(text: string, i: number): number {
  while (text.charCodeAt(i) === 92) i++;
  return i;
}

/** Nothing of a value can go on at `i`: the line ends, or a blank, a quote or a closing sign follows. */
function endsHere(text: string, i: number): boolean {
  if (i >= text.length || (flagsAt(text, i) & (BLANK | 16)) !== 0) return true;
  const c = text[i]!;
  return QUOTES.includes(c) || ',;)]}>:&|\\'.includes(c) || c === '\u001b';
}

/** `name=` or `name:` stands at `i`. */
function assigns(text: string, i: number, name: number): boolean {
  const quote = quoteAt(text, i);
  const from = quote === undefined ? i : quote[0];
  const end = skip(text, from, name, from + 40);
  return (
    end > from && (text[end] === '=' || text[end] === ':' || (quote !== undefined && text[end] !== undefined))
  );
}
