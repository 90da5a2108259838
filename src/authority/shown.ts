import { canonicalJson } from '../core/index.ts';

/** What is stored for a person to read. */
export function shownText(text: string, limit: number): string {
  const whole = text.toWellFormed();
  return whole.length <= limit
    ? whole
    : `${whole.slice(0, limit).toWellFormed()}… (${whole.length - limit} more characters)`;
}

export function shownJson(value: unknown): string {
  return canonicalJson(value);
}
