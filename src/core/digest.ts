import { hash } from 'node:crypto';
import { canonicalJson } from './json.ts';

declare const digestBrand: unique symbol;
/** Lower-case hexadecimal SHA-256. */
export type Digest = string & { readonly [digestBrand]: true };

/** SHA-256 of bytes, or of the UTF-8 of a string. */
export function sha256(data: string | Uint8Array): Digest {
  return hash('sha256', data, 'hex') as Digest;
}

/** The digest of a value is the digest of its canonical JSON. */
export function digestOf(value: unknown): Digest {
  return sha256(canonicalJson(value));
}

const hex64 = /^[0-9a-f]{64}$/;

export function isDigest(text: unknown): text is Digest {
  return typeof text === 'string' && hex64.test(text);
}

/** What a chain starts from: the digest of nothing before. */
export const ZERO_DIGEST = '0'.repeat(64) as Digest;
