import { canonicalJson, type Json } from '../core/index.ts';
import { redact, redactJson } from '../redact/index.ts';

/** What is stored or recorded for people to read: redacted, then bounded, then looked at once more. */
export function shownText(text: string, limit: number): string {
  const clean = redact(text.toWellFormed()).text;
  if (clean.length <= limit) return clean;
  const cut = clean.slice(0, limit).toWellFormed();
  return `${redact(cut).text}… (${clean.length - limit} more characters)`;
}

/** Data with every secret in it replaced, in canonical form. Never cut: a person must see all of it. */
export function shownJson(value: Json): string {
  return canonicalJson(redactJson(value).value);
}
