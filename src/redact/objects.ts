import { is, TOKEN } from './chars.ts';
import type { KeyMeaning } from './key-names.ts';
import { plausible } from './plausible.ts';
import type { Detector, Scan } from './scan.ts';

/** `{"value": "…", "name": "DB_PASSWORD"}`: the value came first. Looks back inside the same object only. */
export function valueBefore(scan: Scan, name: number, meaning: KeyMeaning): void {
  const { text } = scan;
  const low = Math.max(0, name - 300, scan.done.get('valueBefore') ?? 0);
  scan.done.set('valueBefore', name);
  const window = text.slice(low, name);
  const open = Math.max(window.lastIndexOf('{'), window.lastIndexOf('}'));
  const found = /"value"\s{0,4}:\s{0,4}"([^"\\]{1,256})"/i.exec(window.slice(open + 1));
  if (found === null || !plausible(found[1]!, meaning.strength)) return;
  const start = low + open + 1 + found.index + found[0].length - 1 - found[1]!.length;
  scan.mark(start, start + found[1]!.length, meaning.category);
}

/** A JSON web key: the members that only the private half has. */
export const detectJwk: Detector = (scan, start, end) => {
  const { text } = scan;
  if (text[start - 1] !== '"' || text[end] !== '"') return false;
  const low = Math.max(0, start - 4096, scan.done.get('jwk') ?? 0);
  const window = text.slice(low, end + 4096);
  scan.done.set('jwk', end + 4096);
  const at = start - low;
  const from = window.lastIndexOf('{', at) + 1;
  const close = window.indexOf('}', at);
  const object = window.slice(from, close < 0 ? undefined : close);
  for (const member of object.matchAll(/"(d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"([\w-]{16,2048})"/g)) {
    const value = low + from + member.index + member[0].length - 1 - member[2]!.length;
    scan.mark(value, value + member[2]!.length, 'private_key');
  }
  return false;
};

/** `?code=…`: what a function key or an authorization code is called in a query. */
export const detectCode: Detector = (scan, _start, end) => {
  const { text } = scan;
  let stop = end;
  while (stop < end + 512 && (is(text, stop, TOKEN) || './=%+'.includes(text[stop] ?? ' '))) stop++;
  const value = text.slice(end, stop);
  if (value.length < 20 || !/\d/.test(value) || !/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false;
  return scan.take(end, stop, 'api_key');
};
