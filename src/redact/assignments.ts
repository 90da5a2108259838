import { BASE64, flagsAt, IDENT, is, isEol, skip, skipBack, skipGap, startsLine, TOKEN } from './chars.ts';
import type { KeyMeaning } from './key-names.ts';
import { nestedValues } from './nested.ts';
import { valueBefore } from './objects.ts';
import type { Detector, Scan } from './scan.ts';
import { type Separator, separatorAt } from './separator.ts';
import { spacedSecret } from './spaced.ts';
import { tableBelow } from './tables.ts';
import { parametersEnd, schemeless, takeValue } from './take-value.ts';
import { quoteAt, type Style, valueAt } from './value.ts';

/** A word that may name a secret: `password=…`, `"apiKey": "…"`, `--client-secret …`, `<pwd>…`. */
export const detectNamed: Detector = (scan, start, end) => {
  const { text } = scan;
  if (start < scan.judged) return false;
  const from = skipBack(text, start, IDENT, Math.max(scan.floor, start - 64));
  const to = trimEnd(text, skip(text, end, IDENT, end + 64), end);
  scan.judged = to;
  const quote = quoteAt(text, to);
  const separator = separatorAt(text, from, quote?.[0] ?? to);
  const flag = text[from] === '-' && is(text, from - 1, 8 | 16) !== (from === 0);
  if (separator === undefined && text[from] === '-' && listedValue(scan, from, to)) return true;
  if (separator === undefined && !flag) {
    if (noteName(scan, from, to)) return false;
    if (isEol(text, to) || is(text, to, 8)) tableBelow(scan, from);
    return quote === undefined && spacedSecret(scan, from, to);
  }
  const meaning = scan.meaningOf(fullName(text, from, to, scan.floor));
  if (meaning === undefined) return false;
  if (separator === undefined) return quote === undefined && flagValue(scan, to, meaning);
  // Test reports count with this name.
  if (/^pass$/i.test(text.slice(from, to)) && /^\s*\d+\b/.test(text.slice(separator.at, separator.at + 12)))
    return false;
  return secretBehind(scan, {
    from,
    separator,
    meaning,
    json: jsonQuote(quote),
    closed: quote !== undefined,
  });
};

export interface Named {
  readonly from: number;
  readonly separator: Separator;
  readonly meaning: KeyMeaning;
  /** The double quote, escaped as it is, that the name stands in: what replaces a bare value needs it too. */
  readonly json: string;
  /** The name is in quotes of its own. */
  readonly closed: boolean;
}

/** Takes the value behind a name if it may be a secret. */
export function secretBehind(scan: Scan, named: Named): boolean {
  const { text } = scan;
  const { separator, meaning } = named;
  const start = skipGap(text, separator.at);
  const opener = text[start];
  // `'password:', value`: the quote closes what it stands in, there is no value.
  if (
    !named.closed &&
    start === separator.at &&
    opener === text[named.from - 1] &&
    isQuoteSign(text.charCodeAt(start))
  )
    return false;
  if (separator.sign === '|' && (opener === '[' || opener === '!' || opener === '<')) return false;
  if (named.json !== '' && (opener === '{' || opener === '[')) return nestedValues(scan, start, meaning);
  if (meaning.strength === 'weak' && !longEnough(text, start)) return false;
  const at = blockScalar(text, start) ?? separator.at;
  const value = valueAt(text, at, styleOf(text, named));
  if (value === undefined) return false;
  const parameters = meaning.category === 'bearer_token' ? parametersEnd(text, named.from, value) : undefined;
  if (parameters !== undefined) return scan.take(parameters[0], parameters[1], meaning.category);
  return takeValue(scan, schemeless(text, value), meaning, named.json);
}

/** What a weak name owns must look random, and that takes sixteen characters in a row. */
function longEnough(text: string, start: number): boolean {
  const from = quoteAt(text, start)?.[0] ?? start;
  for (let i = from; i < from + 16; i++)
    if (!is(text, i, BASE64 | TOKEN) && !'.~%= \t'.includes(text[i] ?? ';')) return false;
  return true;
}

function trimEnd(text: string, end: number, floor: number): number {
  while (end > floor && (text[end - 1] === '.' || text[end - 1] === '-')) end--;
  return end;
}

/** The name with up to two words before it: `Shared Access Key : …`. */
function fullName(text: string, from: number, to: number, floor: number): string {
  const low = Math.max(floor, from - 40);
  let first = from;
  for (let word = 0; word < 2; word++) {
    if (text[first - 1] !== ' ' || first - 2 < low || !is(text, first - 2, IDENT)) break;
    first = skipBack(text, first - 1, IDENT, low);
  }
  return text.slice(first, to);
}

function styleOf(text: string, named: Named): Style {
  const { from, separator } = named;
  const before = text[from - 1];
  if (separator.sign === '%' || before === '?' || before === '&' || before === '#') return 'query';
  if (text.startsWith('&amp;', from - 5) || text.startsWith('u0026', from)) return 'query';
  if (separator.sign !== ':' || named.json !== '' || !is(text, separator.at, 8)) return 'word';
  const lead = text.startsWith('- ', from - 2) ? from - 2 : from;
  return startsLine(text, lead) ? 'line' : 'word';
}

/** `password: |` or `>-`: the value is the next line. */
function blockScalar(text: string, start: number): number | undefined {
  const c = text[start];
  if (c !== '|' && c !== '>') return undefined;
  const eol = start + 1 + (text[start + 1] === '-' || text[start + 1] === '+' ? 1 : 0);
  if (!isEol(text, eol) || eol >= text.length) return undefined;
  return eol + (text[eol] === '\r' && text[eol + 1] === '\n' ? 2 : 1);
}

function flagValue(scan: Scan, to: number, meaning: KeyMeaning): boolean {
  const { text } = scan;
  if (!is(text, to, 8) || text[skipGap(text, to)] === '-') return false;
  const value = valueAt(text, to, 'word');
  return value !== undefined && takeValue(scan, value, meaning, '');
}

/** `"--password", "…"` and `- --password\n- …`: an argument list written as one. */
function listedValue(scan: Scan, from: number, to: number): boolean {
  const { text } = scan;
  const between = /^(?:\\*["'][ \t]*,\s*(?=\\*["'])|["']?[ \t]*\r?\n[ \t]*-[ \t]+)/.exec(
    text.slice(to, to + 64),
  );
  if (between === null) return false;
  const meaning = scan.meaningOf(text.slice(from, to));
  const value = meaning && valueAt(text, to + between[0].length, 'word');
  if (value === undefined || text[value.start] === '-') return false;
  return takeValue(scan, value, meaning!, '');
}

/** `"name": "DB_PASSWORD"`: the secret will be the `value` that follows. */
function noteName(scan: Scan, from: number, to: number): boolean {
  const { text } = scan;
  let at = from;
  while (at > 0 && from - at < 8 && isQuoteSign(text.charCodeAt(at - 1))) at--;
  at = skipBack(text, at, 8, Math.max(0, at - 16));
  if (text[at - 1] !== ':' && text[at - 1] !== '=') return false;
  const window = text.slice(Math.max(0, at - 24), at - 1);
  if (!/(?:^|[^A-Za-z])(?:name|key|variable|setting|field|keyName)\\*["'`]?\s*$/i.test(window)) return false;
  const meaning = scan.meaningOf(text.slice(from, to));
  if (meaning === undefined) return false;
  scan.named = { from: to, until: to + 400, meaning };
  valueBefore(scan, at, meaning);
  return true;
}

function jsonQuote(quote: ReturnType<typeof quoteAt>): string {
  return quote?.[2] === 34 ? `${'\\'.repeat(quote[1])}"` : '';
}

function isQuoteSign(c: number): boolean {
  return c === 34 || c === 39 || c === 92 || c === 96;
}

/** `value` behind a name that was noted, in the same object. */
export const detectValue: Detector = (scan, start, end) => {
  const { text, named } = scan;
  if (named === undefined || start > named.until || start < scan.judged) return false;
  if ((flagsAt(text, start - 1) & IDENT) !== 0 || (flagsAt(text, end) & IDENT) !== 0) return false;
  const quote = quoteAt(text, end);
  const separator = separatorAt(text, start, quote?.[0] ?? end);
  if (separator === undefined) return false;
  if (/(?:^|[^A-Za-z])(?:name|key)\\*["'`]?\s*[:=]/i.test(text.slice(named.from, start))) return false;
  scan.named = undefined;
  return secretBehind(scan, {
    from: start,
    separator,
    meaning: named.meaning,
    json: jsonQuote(quote),
    closed: quote !== undefined,
  });
};
