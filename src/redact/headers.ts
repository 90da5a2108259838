import { BASE64, BLANK, is, isEol, skip, TOKEN } from './chars.ts';
import { looksRandom, plausible } from './plausible.ts';
import type { Detector, Scan } from './scan.ts';

function credentialEnd(text: string, from: number): number {
  let i = from;
  while (i < from + 65536 && (is(text, i, BASE64 | TOKEN) || '.~=%'.includes(text[i] ?? ' '))) i++;
  while (i > from && text[i - 1] === '.') i--;
  return i;
}

/** `Bearer …` anywhere: what follows must look like a token, for the word is also a word. */
export const detectBearer: Detector = (scan, start, end) => {
  const { text } = scan;
  if (is(text, start - 1, TOKEN)) return false;
  const sign = text[end];
  let from = end;
  if (sign === ',' || sign === ':') from++;
  else if (text.startsWith('%20', end) || sign === '+') from += sign === '+' ? 1 : 3;
  from = skip(text, from, BLANK, from + 8);
  if (from === end) return false;
  if (text[from] === '"' || text[from] === "'") from++;
  if (from < (scan.done.get('bearer') ?? 0)) return false;
  const stop = credentialEnd(text, from);
  scan.done.set('bearer', stop);
  const token = text.slice(from, Math.min(stop, from + 200));
  if (token.length < 12 || !/\d/.test(token) || !/[A-Za-z]/.test(token) || /=["\w]/.test(token)) return false;
  return scan.take(from, stop, 'bearer_token');
};

/** `Basic …`: base64 of `user:password`, or something too random to be a word. */
export const detectBasic: Detector = (scan, start, end) => {
  const { text } = scan;
  if (is(text, start - 1, TOKEN)) return false;
  const from = skip(text, end, BLANK, end + 8);
  if (from === end) return false;
  let stop = skip(text, from, BASE64, from + 4096);
  while (text[stop] === '=') stop++;
  const token = text.slice(from, stop);
  if (token.length < 8 || is(text, stop, TOKEN) || text[stop] === ':') return false;
  if (!holdsPair(token) && !looksRandom(token)) return false;
  return scan.take(from, stop, 'basic_auth_url');
};

/** True for base64 of printable text with a colon in it. */
export function holdsPair(token: string): boolean {
  if (token.length > 2048 || token.length % 4 === 1) return false;
  const decoded = Buffer.from(token, 'base64').toString('latin1');
  return decoded.length >= 3 && /^[\x20-\x7e]+$/.test(decoded) && /^[^:]*:./.test(decoded);
}

/** `"auth": "…"` of a Docker configuration, `_auth=…` of npm. */
export const detectAuthPair: Detector = (scan, start, end) => {
  const { text } = scan;
  if (is(text, end, TOKEN | BLANK) || (is(text, start - 1, TOKEN) && text[start - 1] !== '_')) return false;
  const lead = /^\\*["']?\s{0,4}[:=]\s{0,4}\\*["']?/.exec(text.slice(end, end + 16));
  if (lead === null) return false;
  const from = end + lead[0].length;
  let stop = skip(text, from, BASE64, from + 4096);
  while (text[stop] === '=') stop++;
  const token = text.slice(from, stop);
  if (token.length < 8 || is(text, stop, TOKEN) || !(holdsPair(token) || looksRandom(token))) return false;
  return scan.take(from, stop, 'basic_auth_url');
};

const ATTRIBUTES = new Set(
  'path domain expires max-age samesite httponly secure priority partitioned version comment'.split(' '),
);

/** Cookie and Set-Cookie: names and attributes stay, values that identify a session go. */
export const detectCookies: Detector = (scan, _start, end) => {
  const { text } = scan;
  const lead = /^\\*["']?\s{0,2}[:=]\s{0,4}\\*["']?/.exec(text.slice(end, end + 16));
  if (lead === null) return false;
  let i = end + lead[0].length;
  if (i < (scan.done.get('cookie') ?? 0)) return false;
  let took = false;
  for (let pairs = 0; pairs < 64 && !isEol(text, i); pairs++) {
    const equals = nameEnd(text, i);
    if (text[equals] !== '=') break;
    const stop = cookieEnd(text, equals + 1);
    took = takeCookie(scan, text.slice(i, equals), equals + 1, stop) || took;
    if (text[stop] !== ';') break;
    i = skip(text, stop + 1, BLANK, stop + 5);
    // Attributes without a value.
    const flag = nameEnd(text, i);
    if (text[flag] === ';') i = skip(text, flag + 1, BLANK, flag + 5);
  }
  scan.done.set('cookie', i);
  return took;
};

function nameEnd(text: string, i: number): number {
  const stop = i + 128;
  while (i < stop && i < text.length && !'=;,"\' \t\r\n'.includes(text[i]!)) i++;
  return i;
}

function cookieEnd(text: string, i: number): number {
  const stop = i + 8192;
  while (i < stop && i < text.length && !';\r\n"\' \\'.includes(text[i]!)) i++;
  return i;
}

function takeCookie(scan: Scan, name: string, from: number, stop: number): boolean {
  const value = scan.text.slice(from, Math.min(stop, from + 256));
  if (ATTRIBUTES.has(name.toLowerCase()) || !plausible(value, 'strong')) return false;
  const session = /sess|sid|auth|token|jwt|identity|login|remember|csrf|xsrf|saml|id$/i.test(name);
  if (!(session ? value.length >= 6 : value.length >= 16)) return false;
  return scan.take(from, stop, 'generic_secret');
}

/** `sig=` of a shared access signature, also when its `=` or `&` are escaped. */
export const detectSignature: Detector = (scan, start, end) => {
  const { text } = scan;
  const before = text.slice(Math.max(0, start - 6), start);
  if (is(text, start - 1, TOKEN) && !/%26$|%3f$|u0026$|\\[nrt]$/i.test(before)) return false;
  const lead = /^(?:=|%3d|%253d|\\+u003d|\\*["']\s{0,3}[:=]\s{0,3}\\*["'])/i.exec(text.slice(end, end + 16));
  if (lead === null) return false;
  const from = end + lead[0].length;
  if (from < (scan.done.get('sig') ?? 0)) return false;
  const stop = signatureEnd(text, from);
  scan.done.set('sig', stop);
  const value = text.slice(from, stop);
  if (stop - from < 20 || !/\d/.test(value)) return false;
  return scan.take(from, stop, 'sas_token');
};

function signatureEnd(text: string, from: number): number {
  let i = from;
  while (i < from + 512 && (is(text, i, BASE64 | TOKEN) || text[i] === '=' || text[i] === '%')) {
    if (text[i] === '%' && /^%26|^%22/i.test(text.slice(i, i + 3))) break;
    i++;
  }
  return i;
}
