import { IDENT, is } from './chars.ts';
import { placeholderEnd } from './placeholder.ts';
import { looksRandom, plausible } from './plausible.ts';
import type { Detector } from './scan.ts';

const REACH = 320;

/** `scheme://user:password@host`: the password goes, the rest stays readable. */
export const detectUrl: Detector = (scan, start, end) => {
  const { text } = scan;
  if (!is(text, start - 1, IDENT) && text[start - 1] !== '+') return false;
  const found = userinfo(text, end);
  if (found === undefined) return false;
  const { at, colon } = found;
  if (colon < 0) {
    const user = text.slice(end, at);
    return placeholderEnd(user, 0) < 0 && looksRandom(user) && scan.take(end, at, 'basic_auth_url');
  }
  const password = text.slice(colon + 1, at);
  if (!plausible(password, 'strong')) {
    if (placeholderEnd(password, 0) === password.length) scan.stepOver(at);
    return false;
  }
  // A token as user name with an empty or fixed password (`x-oauth-basic`) is the secret itself.
  const user = text.slice(end, colon);
  if (looksRandom(user) && !user.includes('.')) return scan.take(end, at, 'basic_auth_url');
  return scan.take(colon + 1, at, 'basic_auth_url');
};

interface Userinfo {
  readonly at: number;
  /** Position of the colon between user and password; -1 when there is none. */
  readonly colon: number;
}

/**
 * The last @ of the authority ends the user information. People put `/`, `#` and `?` into passwords
 * unescaped; so when no @ came before one of these, the search goes on as long as what precedes
 * cannot be `host:port`.
 */
function userinfo(text: string, from: number): Userinfo | undefined {
  const stop = Math.min(text.length, from + REACH);
  let colon = -1;
  let at = -1;
  for (let i = from; i < stop; i++) {
    const c = text.charCodeAt(i);
    if (c <= 32 || c === 34 || c === 60 || c === 62 || c === 96 || c === 0x7f) break;
    if (c === 39 && (at >= 0 || i + 1 >= stop || !is(text, i + 1, IDENT))) break;
    if (c === 91) {
      const end = placeholderEnd(text, i);
      if (end > 0) {
        i = end - 1;
        continue;
      }
    }
    if (c === 64) at = i;
    else if (c === 58 && colon < 0 && at < 0) colon = i;
    else if (c === 47 || c === 63 || c === 35 || c === 92) {
      if (at >= 0 || colon < 0) break;
      if (c === 92 || /^\d{0,5}$/.test(text.slice(colon + 1, i)) || i === from) break;
    }
  }
  if (at < 0 || (colon >= 0 && at - colon < 2)) {
    return at > 0 && colon < 0 ? { at, colon } : undefined;
  }
  return { at, colon: colon < at ? colon : -1 };
}

/** The same, percent-encoded: `postgres%3A%2F%2Fuser%3Apw%40host`. */
export const detectEncodedUrl: Detector = (scan, _start, end) => {
  const { text } = scan;
  // Searched for its signs, not matched: text that is full of `%3A` would be tried at each of them.
  const window = text.slice(end, end + 290);
  const colon = window.search(/%3a/i);
  if (colon < 0 || colon > 80 || /%2f/i.test(window.slice(0, colon))) return false;
  const at = window.indexOf('%40', colon + 4);
  if (at < 0 || at - colon > 203 || /[\s"'<>&]/.test(window.slice(0, at))) return false;
  return scan.take(end + colon + 3, end + at, 'basic_auth_url');
};

/** `jdbc:oracle:thin:user/password@host`. */
export const detectOracle: Detector = (scan, _start, end) => {
  const { text } = scan;
  const window = text.slice(end, end + REACH);
  const slash = window.indexOf('/');
  const at = window.indexOf('@');
  if (slash <= 0 || at < slash + 2 || /[\s"'\\]/.test(window.slice(0, at))) return false;
  return scan.take(end + slash + 1, end + at, 'basic_auth_url');
};

/** `proxy=user:password@host:3128`, without a scheme. */
export const detectProxy: Detector = (scan, _start, end) => {
  const { text } = scan;
  const found = /^["']?\s{0,4}[=:]?\s{0,4}["']?([^\s:@/"'\\]{1,64}):([^\s@"'/\\]{3,128})@[\w.-]/.exec(
    text.slice(end, end + 240),
  );
  if (found === null || !plausible(found[2]!, 'strong')) return false;
  const from = end + found[0].length - 2 - found[2]!.length;
  return scan.take(from, from + found[2]!.length, 'basic_auth_url');
};
