import { REDACTION_CATEGORIES, type RedactionCategory } from './types.ts';

/** What stands in place of a secret. The scanner steps over these, which is what makes it idempotent. */
const OPEN = '[REDACTED:';
const known = new Set<string>(REDACTION_CATEGORIES);
const longest = Math.max(...REDACTION_CATEGORIES.map((c) => c.length));

export function placeholder(category: RedactionCategory): string {
  return `${OPEN}${category}]`;
}

/** End of the placeholder that starts at `i`, or -1. */
export function placeholderEnd(text: string, i: number): number {
  if (!text.startsWith(OPEN, i)) return -1;
  const from = i + OPEN.length;
  const close = text.slice(from, from + longest + 1).indexOf(']');
  return close > 0 && known.has(text.slice(from, from + close)) ? from + close + 1 : -1;
}
