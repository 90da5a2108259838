import { BASE64, BLANK, EOL, is, isEol, skip, startsLine } from './chars.ts';
import { isWordy, plausible } from './plausible.ts';
import type { Detector } from './scan.ts';
import { valueAt } from './value.ts';

/** SMTP and IMAP: `AUTH PLAIN <base64>`, `AUTHENTICATE PLAIN <base64>`. */
export const detectSaslInitial: Detector = (scan, _start, end) => {
  const { text } = scan;
  if (!is(text, end, BLANK) && !text.startsWith('enticate', end)) return false;
  const mechanism =
    /^(?:enticate)?[ \t]+(?:PLAIN|LOGIN|XOAUTH2|OAUTHBEARER|CRAM-MD5|EXTERNAL|NTLM)[ \t]+/i.exec(
      text.slice(end, end + 40),
    );
  if (mechanism === null) return false;
  const from = end + mechanism[0].length;
  let stop = skip(text, from, BASE64, from + 8192);
  while (text[stop] === '=') stop++;
  return (
    stop - from >= 4 && isEol(text, skip(text, stop, BLANK, stop + 4)) && scan.take(from, stop, 'password')
  );
};

/** A server's base64 prompt for the password: the next line is the answer. */
export const detectSaslPrompt: Detector = (scan, _start, end) => {
  const { text } = scan;
  const lead = /^[ \t]*\r?\n[ \t]*(?:C: ?)?/.exec(text.slice(end, end + 16));
  if (lead === null) return false;
  const from = end + lead[0].length;
  let stop = skip(text, from, BASE64, from + 4096);
  while (text[stop] === '=') stop++;
  return stop - from >= 4 && scan.take(from, stop, 'password');
};

/** IMAP: `a1 LOGIN user password`. */
export const detectImapLogin: Detector = (scan, start, end) => {
  const { text } = scan;
  if (!text.startsWith('LOGIN', start) || !is(text, end, BLANK)) return false;
  const before = text.slice(Math.max(0, start - 24), start);
  const tag = /(?:^|\n|C: |Request: )[ \t]*([A-Za-z]{0,4}\d{1,6}) $/.exec(before);
  if (tag === null) return false;
  const user = valueAt(text, end, 'word');
  if (user?.end === undefined) return false;
  const value = valueAt(text, user.end + (user.quoted ? 1 : 0), 'word');
  if (value?.end === undefined || !plausible(text.slice(value.start, value.end), 'strong')) return false;
  return scan.take(value.start, value.end, 'password');
};

/** Redis: `AUTH password` or `AUTH user password`, typed or in a trace. */
export const detectRedisAuth: Detector = (scan, start, end) => {
  const { text } = scan;
  if (!text.startsWith('AUTH', start)) return false;
  const resp = /^\r?\n\$\d+\r?\n/.exec(text.slice(end, end + 12));
  if (resp !== null && /\$4\r?\n$/.test(text.slice(Math.max(0, start - 5), start))) {
    const value = valueAt(text, end + resp[0].length, 'word');
    return value?.end !== undefined && scan.take(value.start, value.end, 'password');
  }
  const prompt = text.slice(Math.max(0, start - 8), start);
  if (!is(text, end, BLANK) || !(startsLine(text, start) || /[>$#] $|"$/.test(prompt))) return false;
  const line = /^[ \t]+("?)([^\s"]+)\1(?:[ \t]+("?)([^\s"]+)\3)?[ \t]*(?:\r?\n|$)/.exec(
    text.slice(end, end + 300),
  );
  if (line === null) return false;
  const word = line[4] ?? line[2]!;
  if (!plausible(word, 'strong') || !/\d|[^\w]/.test(word) || /^[A-Z0-9-]+$/.test(word)) return false;
  const from = end + line[0].lastIndexOf(word);
  return scan.take(from, from + word.length, 'password');
};

/** `snmp-server community NAME`. The two well-known names are documentation. */
export const detectCommunity: Detector = (scan, _start, end) => {
  const { text } = scan;
  const value = valueAt(text, end, 'word');
  if (value?.end === undefined || !is(text, end, BLANK)) return false;
  const word = text.slice(value.start, value.end);
  if (word === 'public' || word === 'private' || !plausible(word, 'strong')) return false;
  return scan.take(value.start, value.end, 'password');
};

/** Cisco: `crypto isakmp key SECRET address …`, `tacacs-server key 7 …`, `key-string …`. */
export const detectDeviceKey: Detector = (scan, _start, end) => {
  const { text } = scan;
  const lead = /^[ \t]+(?:(?:[0-9]|hex|ENC)[ \t]+)?/.exec(text.slice(end, end + 12));
  if (lead === null) return false;
  const value = valueAt(text, end + lead[0].length, 'word');
  if (value?.end === undefined || !plausible(text.slice(value.start, value.end), 'strong')) return false;
  return scan.take(value.start, value.end, 'generic_secret');
};

/** SQL: `CREATE USER … IDENTIFIED BY '…'`. Without a user before it, it is a sentence. */
export const detectIdentifiedBy: Detector = (scan, start, end) => {
  const { text } = scan;
  if (!/\b(?:user|grant|create|alter|usage)\b/i.test(text.slice(Math.max(0, start - 120), start)))
    return false;
  const lead = /^(?:[ \t]+PASSWORD|[ \t]+VALUES)?[ \t]*/i.exec(text.slice(end, end + 16))!;
  const value = valueAt(text, end + lead[0].length, 'word');
  if (value?.end === undefined) return false;
  const word = text.slice(value.start, value.end);
  if (!plausible(word, 'strong') || (!value.quoted && isWordy(word))) return false;
  return scan.take(value.start, value.end, 'password');
};

/** `.pgpass`: `host:5432:database:user:password`. */
export const detectPgpass: Detector = (scan, start, end) => {
  const { text } = scan;
  const low = Math.max(0, start - 80);
  let from = start;
  while (from > low && !is(text, from - 1, BLANK | EOL)) from--;
  if (from === start || (from === low && low > 0)) return false;
  const rest = /^[^:\s]{1,64}:[^:\s]{1,64}:([^\s"'\\]{3,128})(?=[\s"'\\]|$)/.exec(text.slice(end, end + 260));
  if (rest === null || !plausible(rest[1]!, 'strong')) return false;
  const at = end + rest[0].length - rest[1]!.length;
  return scan.take(at, at + rest[1]!.length, 'password');
};

/** PowerShell: `ConvertTo-SecureString "…" -AsPlainText`. */
export const detectSecureString: Detector = (scan, _start, end) => {
  const { text } = scan;
  const lead = /^[ \t]+(?:-String[ \t]+)?(?=["'])/i.exec(text.slice(end, end + 16));
  if (lead === null) return false;
  const value = valueAt(text, end + lead[0].length, 'word');
  if (value?.end === undefined || !plausible(text.slice(value.start, value.end), 'strong')) return false;
  return scan.take(value.start, value.end, 'password');
};
