/**
 * Marks inside expanded text for what a shell would fill in: private-use characters, taken out of the
 * input before anything is expanded, so that a command cannot bring its own.
 */
export const STAR = '\ue000';
export const ANY = '\ue001';
export const SET = '\ue002';
/** Something only a running shell knows. */
export const UNKNOWN = '\ue003';

/** Where an unquoted expansion splits a word. */
export const BREAK = '\ue004';

export function withoutMarks(text: string): string {
  return /[\ue000-\ue004]/.test(text) ? text.replace(/[\ue000-\ue004]/g, '\ufffd') : text;
}

const PATTERN = new RegExp(`[${STAR}${ANY}${SET}]`);

export function hasPattern(text: string): boolean {
  return PATTERN.test(text);
}

/** Whether a file name of this pattern could be `name`. Patterns are short: a long one matches nothing. */
export function couldName(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  if (pattern.length > 32 || !PATTERN.test(pattern)) return false;
  // A pattern that fits almost anything says nothing about what is meant.
  const letters = pattern.replace(/[^A-Za-z0-9]/g, '').length;
  if (letters < (pattern.includes(STAR) ? 2 : 1)) return false;
  const source = [...pattern].map((char) => {
    if (char === STAR) return '.*';
    return char === ANY || char === SET ? '.' : char.replace(/[^A-Za-z0-9_]/, '\\$&');
  });
  return new RegExp(`^${source.join('').replace(/(?:\.\*)+/g, '.*')}$`).test(name);
}
