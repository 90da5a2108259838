import { sha256 } from '../core/index.ts';
import { redact } from '../redact/index.ts';

const LONGEST = 64 * 1024;

/** Text as it may be stored: redacted whole, then bounded, then looked at once more. Always valid Unicode. */
export function storable(text: string): string {
  const clean = redact(text.toWellFormed()).text;
  if (clean.length <= LONGEST) return clean;
  const head = redact(clean.slice(0, LONGEST).toWellFormed()).text;
  return `${head}… [${clean.length - LONGEST} characters more; sha256 of all: ${sha256(clean)}]`;
}
