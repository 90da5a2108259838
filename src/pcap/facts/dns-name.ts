import type { Hasher } from './pending.ts';
import { safeText } from './text.ts';

/**
 * Hashes the name at `o` without regard to case and answers where it ends, or -1 when it is no plain name (a
 * pointer, a bad label, cut short). Questions are written out in full, so pointers need no following.
 */
export function hashName(h: Hasher, b: Uint8Array, o: number, end: number): number {
  let at = o;
  h.start();
  for (let labels = 0; labels < 128; labels++) {
    if (at >= end) return -1;
    const length = b[at]!;
    if (length === 0) {
      h.finish();
      return at + 1;
    }
    if (length > 63 || at + 1 + length > end) return -1;
    let word = length;
    for (let i = at + 1; i <= at + length; i++) {
      const byte = b[i]!;
      word = (word << 8) | (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte);
      if (((i - at) & 3) === 0) {
        h.add(word);
        word = 0;
      }
    }
    h.add(word ^ 0x5bd1e995);
    at += 1 + length;
  }
  return -1;
}

/** What a byte of a label reads as. A dot inside a label is not a separator and must not read like one. */
const READS_AS: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte === 0x2e ? '\\.' : safeText(String.fromCharCode(byte)).toLowerCase(),
);

/** The name as harmless text, lower case; the root is a dot. */
export function nameText(b: Uint8Array, o: number): string {
  let out = '';
  for (let at = o; b[at] !== 0; at += 1 + b[at]!) {
    if (at > o) out += '.';
    for (let i = at + 1; i <= at + b[at]!; i++) out += READS_AS[b[i]!]!;
  }
  return out === '' ? '.' : out;
}

const TYPES: Readonly<Record<number, string>> = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  6: 'SOA',
  10: 'NULL',
  12: 'PTR',
  13: 'HINFO',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
  33: 'SRV',
  35: 'NAPTR',
  41: 'OPT',
  43: 'DS',
  46: 'RRSIG',
  48: 'DNSKEY',
  64: 'SVCB',
  65: 'HTTPS',
  251: 'IXFR',
  252: 'AXFR',
  255: 'ANY',
  257: 'CAA',
};

export function typeText(type: number): string {
  return TYPES[type] ?? `TYPE${type}`;
}

const RCODES = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  'YXDOMAIN',
  'YXRRSET',
  'NXRRSET',
  'NOTAUTH',
  'NOTZONE',
] as const;

export function rcodeText(rcode: number): string {
  return RCODES[rcode] ?? `RCODE${rcode}`;
}
