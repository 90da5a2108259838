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
