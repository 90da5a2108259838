import { BASE64, flagsAt, IDENT, is, isEol, skip, skipBack, skipGap, startsLine, TOKEN } from './chars.ts';
import type { KeyMeaning } from './key-names.ts';
import { nestedValues } from './nested.ts';
import { valueBefore } from './objects.ts';
import { HEAD, isProse, isWordy, plausible } from './plausible.ts';
import type { Detector, Scan } from './scan.ts';
import { spacedSecret } from './spaced.ts';
import { tableBelow } from './tables.ts';
import { farEnd, quoteAt, quotedEnd, type Style, type Value, valueAt } from './value.ts';

/** A name and where its value begins. */
interface Separator {
  readonly at: number;
  readonly sign: ':' | '=' | '>' | '|' | '%';
}

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
  const parameters = parametersEnd(text, named, value);
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

export function takeValue(scan: Scan, value: Value, meaning: KeyMeaning, json: string): boolean {
  const { text } = scan;
  const head = text.slice(value.start, Math.min(value.end ?? value.start + HEAD, value.start + HEAD));
  const chosen = value.quoted || !head.includes(' ') ? value : firstWord(value, head);
  const judged = chosen === value ? head : text.slice(chosen.start, chosen.end);
  if (!plausible(judged, meaning.strength, chosen.quoted)) return false;
  if (!chosen.quoted && text[chosen.start - 1] === ' ' && beginsSentence(text, chosen, judged)) return false;
  const end = wrappedEnd(text, chosen, farEnd(text, chosen));
  const bare = json !== '' && !chosen.quoted && text[end] !== '"' && /^[\w.+-]+$/.test(judged);
  return scan.take(chosen.start, end, meaning.category, bare ? json : '');
}

/** `token: The file where …`: a plain word with another behind it that is no name of a value. */
function beginsSentence(text: string, value: Value, word: string): boolean {
  if (value.style !== 'word' || value.end === undefined || !isWordy(word) || text[value.end] !== ' ')
    return false;
  const next = /^ +[A-Za-z][\w'-]*(.?)/.exec(text.slice(value.end, value.end + 48));
  return next !== null && next[1] !== ':' && next[1] !== '=';
}

/** Of an unquoted value with blanks: all of it if it may be a passphrase, else its first word, else nothing. */
function firstWord(value: Value, head: string): Value {
  const word = head.slice(0, head.indexOf(' '));
  const rest = head
    .slice(word.length)
    .replace(/\s#.*$/, '')
    .trim();
  const only: Value = { ...value, end: value.start + word.length };
  const nothing: Value = { ...value, end: value.start };
  if (rest === '') return only;
  // What follows speaks of something else: another name, a remark, a sentence.
  const elsewhere = /[\w"']\s*[:=]/.test(rest) || /[([]/.test(rest) || isProse(rest);
  if (isWordy(word)) return elsewhere ? nothing : value;
  if (/^[\d.,]+$/.test(word)) return nothing;
  return elsewhere ? only : value;
}

/** `Bearer abc`, `Basic abc`: the scheme stays. Schemes with parameters lose them all. */
function schemeless(text: string, value: Value): Value {
  const scheme =
    /^(?:bearer|basic|token|apikey|api-key|negotiate|ntlm|sharedkey|sharedkeylite|key|jwt|dpop|splunk|hmac|plain|otp)\b[ ,]+/i.exec(
      text.slice(value.start, value.start + 24),
    );
  if (scheme === null) return value;
  const start = value.start + scheme[0].length;
  if (value.quoted) return { ...value, start };
  return valueAt(text, start, 'word') ?? value;
}

/** `Digest …, response="…"`, `AWS4-HMAC-SHA256 Credential=…, Signature=…`: all parameters of the scheme. */
function parametersEnd(text: string, named: Named, value: Value): readonly [number, number] | undefined {
  if (named.meaning.category !== 'bearer_token') return undefined;
  const scheme = /^(?:digest|aws4-[\w-]+|hawk|signature|oauth|mac)[ \t]+(?=[A-Za-z]+=|\[REDACTED:)/i.exec(
    text.slice(value.start, value.start + 48),
  );
  if (scheme === null) return undefined;
  const start = value.start + scheme[0].length;
  const limit = Math.min(text.length, start + 4096);
  const outer = value.quoted ? value : openQuoteBefore(text, named.from);
  const closed = outer === undefined ? undefined : quotedEnd(text, { ...outer, start }, limit);
  let end = start;
  while (end < (closed ?? limit) && !isEol(text, end)) end++;
  return [start, end];
}

/** The quote that stands directly before `i`: `-H "Authorization: …"`. */
function openQuoteBefore(
  text: string,
  i: number,
): { readonly escapes: number; readonly quote: number } | undefined {
  const quote = text.charCodeAt(i - 1);
  if (quote !== 34 && quote !== 39) return undefined;
  let escapes = 0;
  while (escapes < 16 && text[i - 2 - escapes] === '\\') escapes++;
  return { escapes, quote };
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

function separatorAt(text: string, from: number, after: number): Separator | undefined {
  const at = skipGap(text, text[after] === ']' ? after + 1 : after);
  switch (text[at]) {
    case '=':
      return { at: at + (text[at + 1] === '>' || text[at + 1] === '=' ? 2 : 1), sign: '=' };
    case ':':
      if (text[at + 1] === '=') return { at: at + 2, sign: '=' };
      // LDIF doubles the colon before base64; elsewhere two colons are a scope.
      if (text.startsWith(':: ', at)) return { at: at + 3, sign: ':' };
      if (text[at + 1] === ':' || text.startsWith('://', at)) return undefined;
      return { at: at + 1, sign: ':' };
    case '>':
      return text[from - 1] === '<' || text[from - 1] === ':' ? { at: at + 1, sign: '>' } : undefined;
    case '|':
      return at > after && text[at + 1] === ' ' && opensCell(text, from)
        ? { at: at + 1, sign: '|' }
        : undefined;
    case '%':
      return /^%3[ad]/i.test(text.slice(at, at + 3)) ? { at: at + 3, sign: '%' } : undefined;
    case '\\':
      return /^\\+u003[ad]/i.test(text.slice(at, at + 10))
        ? { at: text.indexOf('u003', at) + 5, sign: '=' }
        : undefined;
    default:
      return text[from - 1] === '<' || text[from - 1] === ':' ? tagEnd(text, from, after) : undefined;
  }
}

/** A table's row: the name is the first thing in a cell. */
function opensCell(text: string, from: number): boolean {
  const before = skipBack(text, from, 8, Math.max(0, from - 64));
  return text[before - 1] === '|' && (startsLine(text, before - 1) || text[before - 2] === ' ');
}

/** `<Password Type="x">`: the element's text begins behind its attributes. */
function tagEnd(text: string, from: number, after: number): Separator | undefined {
  if (!is(text, after, 8) || !/<[\w-]{0,24}:?$/.test(text.slice(Math.max(0, from - 26), from)))
    return undefined;
  const close = text.slice(after, after + 160).search(/[<>]/);
  return close > 0 && text[after + close] === '>' ? { at: after + close + 1, sign: '>' } : undefined;
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

/** A key that a terminal or an editor has broken over lines goes on as long as whole lines are base64. */
export function wrappedEnd(text: string, value: Value, end: number): number {
  if (value.quoted || end - value.start < 24 || !is(text, end - 1, BASE64)) return end;
  if (skip(text, value.start, BASE64, end) !== end) return end;
  for (let lines = 0; lines < 128; lines++) {
    let next = end;
    if (text[next] === '\r') next++;
    if (text[next] !== '\n') return end;
    next = skip(text, next + 1, 8, next + 17);
    let stop = skip(text, next, BASE64);
    if (stop - next < 16) return end;
    while (text[stop] === '=' && stop - next < 4096) stop++;
    if (!isEol(text, stop) && !'"\';,'.includes(text[stop]!)) return end;
    end = stop;
    if (text[stop - 1] === '=') return end;
  }
  return end;
}

function flagValue(scan: Scan, to: number, meaning: KeyMeaning): boolean {
  const { text } = scan;
  if (!is(text, to, 8) || text[skipGap(text, to)] === '-') return false;
  const value = valueAt(text, to, 'word');
  return value !== undefined && takeValue(scan, value, meaning, '');
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
