import type { StepDocument } from '../document.ts';

/** What a step's status looks like. */
export const COLOURS: Record<StepDocument['status'], string> = {
  success: '#2a8a4a',
  denied: '#c0392b',
  error: '#c0392b',
  waiting: '#b7791f',
  unknown: '#b7791f',
  skipped: '#9aa3ad',
};

export function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

/** Text as text: nothing in it is markup. */
export function plain(text: string): string {
  const named: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  // Characters that hide or turn text round would make a page say what it does not.
  return text
    .replace(/[&<>"']/g, (c) => named[c] as string)
    .replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
      '\ufffd',
    );
}
