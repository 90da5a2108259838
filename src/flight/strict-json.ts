import { duplicateKey } from '../core/index.ts';
import type { Read } from './protocol.ts';

/**
 * One JSON document of somebody else, in UTF-8, that every reader understands alike.
 *
 * SJ1 No key twice: which of the two counts is for each reader to choose.
 * SJ2 Bounded depth and whole characters: what cannot be hashed or written down again is not taken in.
 */
const MAX_DEPTH = 64;

export function readStrictJson(bytes: Uint8Array): Read<unknown> {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: 'is not one JSON document' };
  }
  const reason = mistakeIn(value, 0);
  if (reason !== null) return { ok: false, reason };
  const twice = duplicateKey(text);
  if (twice !== undefined)
    return { ok: false, reason: `has the key ${JSON.stringify(twice.key.slice(0, 60))} twice` };
  return { ok: true, value };
}

function mistakeIn(value: unknown, depth: number): string | null {
  if (typeof value === 'string')
    return value.isWellFormed() ? null : 'holds half a character (a lone surrogate)';
  if (typeof value !== 'object' || value === null) return null;
  if (depth === MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH}`;
  for (const [key, inner] of Object.entries(value)) {
    const mistake = mistakeIn(key, depth) ?? mistakeIn(inner, depth + 1);
    if (mistake !== null) return mistake;
  }
  return null;
}
