import { BLANK, is, isEol, skip, skipBack, skipGap, startsLine } from './chars.ts';
import { keyMeaning } from './key-names.ts';
import { plausible } from './plausible.ts';
import type { Scan } from './scan.ts';
import { valueAt } from './value.ts';

/** A letter, a digit, and a sign or both cases: what nobody writes in a sentence. */
const STRIKING = /^(?=.*[A-Za-z])(?=.*\d)(?:(?=.*[!@#$%^&*+?~=])|(?=.*[a-z])(?=.*[A-Z])).{6,}$/;

/**
 * A secret behind its name with nothing but a blank between: device configurations (`password 7 0822…`),
 * netrc, SQL, text protocols, and sentences (`the password is …`).
 */
export function spacedSecret(scan: Scan, from: number, to: number): boolean {
  const { text } = scan;
  if (!is(text, to, BLANK)) return false;
  const name = text.slice(from, to);
  if (name === 'PASS' || name === 'pass') return protocolPass(scan, from, to);
  const meaning = keyMeaning(name);
  if (meaning === undefined) return false;
  let at = skipGap(text, to);
  const lead =
    /^(?:(?:[0456789]|ENC|encrypted|hex|ascii-text|cleartext)[ \t]+|(?:is|was|to|set to|as)[ \t]*:?[ \t]*)/.exec(
      text.slice(at, at + 24),
    );
  const typed = lead !== null && /^(?:\d|[A-Zech])/.test(lead[0]) && !/^(?:is|was|to|set|as)\b/.test(lead[0]);
  if (lead !== null) at += lead[0].length;
  if (isEol(text, at)) return false;
  const quoted = text[at] === "'" || text[at] === '"';
  const value = valueAt(text, at, 'word');
  if (value?.end === undefined) return false;
  const word = text.slice(value.start, value.end);
  if (!plausible(word, meaning.strength === 'weak' ? 'weak' : 'strong')) return false;
  if (!(typed && /\d|[^\w]/.test(word)) && !STRIKING.test(word)) {
    if (!(quoted && value.end - value.start >= 4 && SQL.test(text.slice(Math.max(0, from - 24), to)))) {
      if (!netrc(text, from)) return false;
    }
  }
  if (meaning.strength === 'weak' && !typed) return false;
  return scan.take(value.start, value.end, meaning.category);
}

const SQL = /(?:with|set|identified\s+by|encrypted|user|role|login)\s+password$|password$/i;

/** `machine h login u password p`, on one line or several. */
function netrc(text: string, from: number): boolean {
  const before = text.slice(Math.max(0, from - 200), from);
  return /(?:^|\s)(?:machine\s+\S+|default)\s+(?:login|account|user)\s+\S+\s+$/.test(before);
}

/** FTP and POP3: a line `PASS …` in a conversation, never the PASS of a test report. */
function protocolPass(scan: Scan, from: number, to: number): boolean {
  const { text } = scan;
  const at = skip(text, to, BLANK, to + 4);
  const value = valueAt(text, at, 'word');
  if (value?.end === undefined || value.end - value.start < 1) return false;
  const before = text.slice(Math.max(0, from - 160), from);
  const request = /Request: $/.test(before);
  const line =
    startsLine(text, skipBack(text, from, BLANK, 0)) ||
    /(?:^|\n)[ \t]*(?:C:|>|-+>|<|\d+[.)]?)[ \t]*$/.test(before);
  const talk = /(?:^|\n)[^\n]{0,12}(?:USER |\+OK|331 |AUTH )/i.test(before) || text[value.end] === '\r';
  if (!request && !(line && talk && isEol(text, value.end))) return false;
  return scan.take(value.start, value.end, 'password');
}
