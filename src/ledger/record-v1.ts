import { hash as digest } from 'node:crypto';
import { canonicalJson } from '../core/index.ts';

/**
 * Record format, version 1. Frozen: files written years ago must still verify, so this file imports no
 * live types and never changes; another format is another file.
 *
 * R1 One record is one line: a JSON object, UTF-8, ended by a single LF.
 * R2 Without its last member `hash`, the object is RFC 8785 canonical JSON: sorted keys, no white space.
 * R3 `hash` is the SHA-256 of those canonical bytes, so a verifier hashes the bytes it finds:
 *    everything before `,"hash":"`, closed with `}`.
 * R4 `sequence` counts from 1 without gaps, through all segments; `prev_hash` is the `hash` of the record
 *    before, 64 zeros for the first.
 */
export const RESERVED_V1: readonly string[] = ['sequence', 'prev_hash', 'hash'];

/** `,"hash":"` + 64 hex digits + `"}` */
const TRAILER_BYTES = 9 + 64 + 2;
const COMMA = 0x2c;
const CLOSE = 0x7d;

/** Longest line a writer makes and a reader accepts, LF included. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

export interface EncodedV1 {
  readonly line: string;
  readonly hash: string;
}

export function encodeRecordV1(
  entry: { readonly [key: string]: unknown },
  sequence: number,
  timestamp: string,
  prevHash: string,
): EncodedV1 {
  const body = canonicalJson({ ...entry, sequence, timestamp, prev_hash: prevHash });
  const hash = digest('sha256', body, 'hex');
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}\n`, hash };
}

export type DecodedV1 =
  | {
      readonly ok: true;
      readonly record: Record<string, unknown> & { sequence: number; prev_hash: string; hash: string };
    }
  | {
      readonly ok: false;
      /** `unreadable`: not a whole record. `altered`: a record whose hash is not that of its bytes. */
      readonly kind: 'unreadable' | 'altered';
      readonly what: string;
      readonly sequence: number | null;
    };

/** Decodes one line without its LF. Does not look at the neighbours. */
export function decodeRecordV1(line: Uint8Array): DecodedV1 {
  const text = utf8(line);
  if (text === null) return unreadable('not UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable('not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unreadable('not a JSON object');
  const record = value as Record<string, unknown>;
  const { sequence, prev_hash, hash } = record;
  const number = Number.isSafeInteger(sequence) ? (sequence as number) : null;
  if (number === null || number < 1) return altered('no usable "sequence"', null);
  if (typeof prev_hash !== 'string') return altered('no "prev_hash"', number);
  if (typeof hash !== 'string' || !text.endsWith(`,"hash":"${hash}"}`))
    return altered('does not end with its "hash"', number);
  if (hashOfLine(line) !== hash) return altered('its hash is not that of its bytes', number);
  return { ok: true, record: record as { sequence: number; prev_hash: string; hash: string } };
}

/** Hashes in place: the comma before `"hash"` stands in for the closing brace while the digest is taken. */
function hashOfLine(line: Uint8Array): string {
  const end = line.length - TRAILER_BYTES;
  if (end < 1 || line[end] !== COMMA) return '';
  line[end] = CLOSE;
  const found = digest('sha256', line.subarray(0, end + 1), 'hex');
  line[end] = COMMA;
  return found;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

function unreadable(what: string): DecodedV1 {
  return { ok: false, kind: 'unreadable', what, sequence: null };
}

function altered(what: string, sequence: number | null): DecodedV1 {
  return { ok: false, kind: 'altered', what, sequence };
}
