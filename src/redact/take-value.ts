import { BASE64, is, isEol, skip } from './chars.ts';
import type { KeyMeaning } from './key-names.ts';
import { HEAD, isProse, isWordy, plausible } from './plausible.ts';
import type { Scan } from './scan.ts';
import { farEnd, quotedEnd, type Value, valueAt } from './value.ts';

/** Takes a value if it may be the secret that its name promises. `json` is the quote that a bare value needs. */
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
export function schemeless(text: string, value: Value): Value {
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
export function parametersEnd(
  text: string,
  name: number,
  value: Value,
): readonly [number, number] | undefined {
  const scheme = /^(?:digest|aws4-[\w-]+|hawk|signature|oauth|mac)[ \t]+(?=[A-Za-z]+=|\[REDACTED:)/i.exec(
    text.slice(value.start, value.start + 48),
  );
  if (scheme === null) return undefined;
  const start = value.start + scheme[0].length;
  const limit = Math.min(text.length, start + 4096);
  const outer = value.quoted ? value : openQuoteBefore(text, name);
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

/** A key that a terminal or an editor has broken over lines goes on as long as whole lines are base64. */
function wrappedEnd(text: string, value: Value, end: number): number {
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
