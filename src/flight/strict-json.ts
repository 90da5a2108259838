import type { Read } from './protocol.ts';

/**
 * One JSON document of somebody else, in UTF-8, that every reader understands alike.
 *
 * SJ1 No member twice: which of the two counts is for each reader to choose.
 * SJ2 Bounded depth and whole characters: what cannot be hashed or written down again is not taken in.
 */
const MAX_DEPTH = 64;

export function readStrictJson(bytes: Uint8Array): Read<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return { ok: false, reason: 'is not one JSON document' };
  }
  const { depth, members } = shapeOf(bytes);
  if (depth > MAX_DEPTH) return { ok: false, reason: `is nested deeper than ${MAX_DEPTH}` };
  const found = lookThrough(value);
  if (!found.whole) return { ok: false, reason: 'holds half a character (a lone surrogate)' };
  if (found.members !== members) return { ok: false, reason: 'names a member twice' };
  return { ok: true, value };
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const OPENING = new Set(Buffer.from('{['));
const CLOSING = new Set(Buffer.from('}]'));

/** Of bytes that are known to be JSON: outside of strings every colon belongs to one member. */
function shapeOf(bytes: Uint8Array): { readonly depth: number; readonly members: number } {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) inString = !inString;
    else if (inString) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COLON) members++;
    else if (OPENING.has(byte)) deepest = Math.max(deepest, ++depth);
    else if (CLOSING.has(byte)) depth--;
  }
  return { depth: deepest, members };
}

/** Bounded by the depth that was found before. */
function lookThrough(value: unknown): { readonly whole: boolean; readonly members: number } {
  if (typeof value === 'string') return { whole: value.isWellFormed(), members: 0 };
  if (typeof value !== 'object' || value === null) return { whole: true, members: 0 };
  let whole = true;
  let members = 0;
  for (const [key, inner] of Object.entries(value)) {
    const found = lookThrough(inner);
    whole &&= key.isWellFormed() && found.whole;
    members += found.members + (Array.isArray(value) ? 0 : 1);
  }
  return { whole, members };
}
