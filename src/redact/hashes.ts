import { BASE64, is, skip, skipBack, TOKEN } from './chars.ts';
import type { Detector } from './scan.ts';

/** Password hashes: crypt(3) strings with their salt, LDAP, Django. Cracked offline, so as good as passwords. */
export const detectCrypt: Detector = (scan, start, end) => {
  const { text } = scan;
  let stop = end;
  while (stop < end + 256 && (is(text, stop, BASE64 | TOKEN) || './$=,+'.includes(text[stop] ?? ' '))) stop++;
  while (stop > end && '.,=$'.includes(text[stop - 1]!) && stop - start < 20) stop--;
  const body = text.slice(end, stop);
  if (body.length < 16 || !/\d/.test(body)) return false;
  if (!body.includes('$') && !/^\d\d\$/.test(body)) return false;
  return scan.take(start, stop, 'password');
};

/** `{SSHA}…` */
export const detectLdapHash: Detector = (scan, start, end) => {
  const { text } = scan;
  let stop = skip(text, end, BASE64, end + 200);
  while (text[stop] === '=' && stop < end + 204) stop++;
  return stop - end >= 16 && scan.take(start, stop, 'password');
};

/** `name:rid:LM:NT:::` of a SAM dump. */
export const detectSam: Detector = (scan, start) => {
  const { text } = scan;
  if (text[start - 33] !== ':') return false;
  const window = text.slice(Math.max(scan.floor, start - 66), start);
  const found = /[0-9a-f]{32}:[0-9a-f]{32}$/i.exec(window);
  return found !== null && scan.take(start - found[0].length, start, 'password');
};

/** Django's `pbkdf2_sha256$600000$salt$hash`. */
export const detectPbkdf2: Detector = (scan, start, end) => {
  const { text } = scan;
  const name = skip(text, end, TOKEN, end + 16);
  if (text[name] !== '$') return false;
  let stop = name;
  while (stop < name + 200 && (is(text, stop, BASE64) || '$='.includes(text[stop] ?? ' '))) stop++;
  const from = skipBack(text, start, TOKEN, Math.max(scan.floor, start - 16));
  return stop - name >= 24 && scan.take(from, stop, 'password');
};
