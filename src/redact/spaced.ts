import { BLANK, EOL, flagsAt, is, isEol, skip, skipBack, skipGap, startsLine } from './chars.ts';
import { plausible } from './plausible.ts';
import type { Scan } from './scan.ts';
import { valueAt } from './value.ts';

/** Letters with a digit and a sign or both cases, or with a sign inside: what nobody writes in a sentence. */
const STRIKING =
  /^(?=.*[A-Za-z])(?:(?=.*\d)(?:(?=.*[!@#$%^&*+?~])|(?=.*[a-z])(?=.*[A-Z]))|(?=.*[!@#$%^&*+~].*[A-Za-z])).{6,}$/;

/** Settings files where the name is a directive and the rest of the line its value. */
const DIRECTIVES = new Set([
  'requirepass',
  'masterauth',
  'psk',
  'psksecret',
  'wpa_passphrase',
  'bind_password',
]);

/**
 * A secret behind its name with nothing but a blank between: device configurations (`password 7 0822…`),
 * netrc, SQL, text protocols, and sentences (`the password is …`).
 */
export function spacedSecret(scan: Scan, from: number, to: number): boolean {
  const { text } = scan;
  if (!is(text, to, BLANK)) return false;
  const name = text.slice(from, to);
  if (name === 'PASS' || name === 'pass') return protocolPass(scan, from, to);
  if (is(text, to + 1, BLANK) && /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(name)) return lastCell(scan, from, to);
  const first = skipGap(text, to);
  const login = behindLogin(text, from);
  // Nearly always this is a sentence, and its next word says so.
  const directive =
    DIRECTIVES.has(name.toLowerCase()) && (text[first] === '"' || (startsLine(text, from) && name !== 'PSK'));
  if (!login && !directive && !strikes(text, first)) return false;
  const meaning = scan.meaningOf(name);
  if (meaning === undefined) return false;
  const lead = LEAD.exec(text.slice(first, first + 24));
  const typed = lead?.[1] !== undefined;
  const at = first + (lead?.[0].length ?? 0);
  if (isEol(text, at)) return false;
  const value = valueAt(text, at, 'word');
  if (value?.end === undefined || text[value.start] === '-' || text[value.start] === '*') return false;
  if (text.startsWith('](', value.start) || text.slice(value.start, value.end).includes('](')) return false;
  const word = text.slice(value.start, value.end);
  if (!plausible(word, meaning.strength === 'weak' ? 'weak' : 'strong')) return false;
  if (meaning.strength === 'weak' && !typed) return false;
  const sql = value.quoted && word.length >= 4 && SQL.test(text.slice(Math.max(0, from - 24), to));
  if (!(typed && /\d|[^\w]/.test(word)) && !STRIKING.test(word) && !sql && !login && !directive) return false;
  return scan.take(value.start, value.end, meaning.category);
}

/** `DB_PASSWORD  False  …`: a setting in a table; its value is the last cell. */
function lastCell(scan: Scan, from: number, to: number): boolean {
  const { text } = scan;
  const meaning = scan.meaningOf(text.slice(from, to));
  if (meaning === undefined || !startsLine(text, from)) return false;
  let end = to;
  while (end < to + 1024 && !isEol(text, end)) end++;
  end = skipBack(text, end, BLANK, to);
  let start = end;
  while (start > to && !is(text, start - 1, BLANK)) start--;
  if (!plausible(text.slice(start, end), meaning.strength)) return false;
  return scan.take(start, end, meaning.category);
}

/** A word for how the secret is stored, or a verb. */
const LEAD =
  /^(?:((?:[0456789]|ENC|encrypted|hex|ascii-text|cleartext)[ \t]+)|(?:is|was|to|set to|as)[ \t]*:?[ \t]*)/;

/** The next word has a digit or a quote in it, or is one of those that lead to a secret. */
function strikes(text: string, at: number): boolean {
  const stop = at + 48;
  for (let i = at; i < stop; i++) {
    const c = text.charCodeAt(i);
    // Digits, quotes and the signs of passwords.
    if ((c >= 48 && c <= 57) || (c >= 33 && c <= 39) || c === 42 || c === 43 || c === 61 || c === 64)
      return true;
    if (c === 94 || c === 126) return true;
    if (c <= 32 || Number.isNaN(c)) return LEADS.has(text.slice(at, i));
  }
  return true;
}

const LEADS = new Set([
  'is',
  'was',
  'to',
  'set',
  'as',
  'is:',
  'to:',
  'ENC',
  'encrypted',
  'hex',
  'ascii-text',
  'cleartext',
]);

const SQL = /(?:with|set|identified\s+by|encrypted|user|role|login)\s+password$|password$/i;

/** `machine h login u password p`, on one line or several. */
function behindLogin(text: string, from: number): boolean {
  const low = Math.max(0, from - 160);
  const user = skipBack(text, from, BLANK | EOL, low);
  let i = user;
  while (i > low && (flagsAt(text, i - 1) & (BLANK | EOL)) === 0) i--;
  if (i === user) return false;
  const end = skipBack(text, i, BLANK | EOL, low);
  if (end === i) return false;
  return text.startsWith('login', end - 5) || text.startsWith('account', end - 7);
}

/** FTP and POP3: a line `PASS …` in a conversation, never the PASS of a test report. */
function protocolPass(scan: Scan, from: number, to: number): boolean {
  const { text } = scan;
  const at = skip(text, to, BLANK, to + 4);
  const value = valueAt(text, at, 'word');
  if (value?.end === undefined || value.end - value.start < 1) return false;
  const request = text.startsWith('Request: ', from - 9);
  if (!request) {
    if (!isEol(text, value.end)) return false;
    const before = text.slice(Math.max(0, from - 160), from);
    if (!startsLine(text, from) && !/(?:^|\n)[ \t]*(?:C:|>|-+>|<|\d+[.)]?)[ \t]*$/.test(before)) return false;
    if (text[value.end] !== '\r' && !/(?:USER |\+OK|331 |AUTH )/i.test(before)) return false;
  }
  return scan.take(value.start, value.end, 'password');
}
