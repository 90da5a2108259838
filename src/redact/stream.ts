import { findSecrets, replaceSpans } from './redact.ts';

/**
 * Redacts text that arrives in pieces, with the same result as if it had come at once.
 *
 * R1 What is given out lies at least TAIL characters before the end of what has arrived, so a secret
 *    that begins in it has been seen whole (or is longer than TAIL, see R3).
 * R2 A cut is at the start of a line where possible, never inside a secret; the LEAD characters
 *    before it stay as context for what follows.
 * R3 A secret that reaches the end of what has arrived waits for its end. When waiting would hold more
 *    than LIMIT characters the part is replaced and the rest of the run of non-blank text is swallowed.
 */
const LEAD = 8 * 1024;
const TAIL = 64 * 1024;
const LIMIT = 8 * 1024 * 1024;
const STEP = 256 * 1024;

export interface RedactionStream {
  /** Takes a piece, gives what is safe to show. */
  push(piece: string): string;
  /** The rest. */
  end(): string;
}

export function redactionStream(): RedactionStream {
  let held = '';
  /** Characters of `held` that have been given out and stay for context only. */
  let shown = 0;
  return {
    push(piece) {
      held += piece;
      return held.length - shown < TAIL + STEP ? '' : give(false);
    },
    end: () => give(true),
  };

  function give(last: boolean): string {
    const spans = findSecrets(held);
    let cut = last ? held.length : held.length - TAIL;
    if (!last) {
      const line = held.lastIndexOf('\n', cut) + 1;
      if (line > shown) cut = line;
      for (const span of spans) if (span.start < cut && span.end > cut) cut = span.start;
      if (cut <= shown) {
        if (held.length - shown < LIMIT) return '';
        cut = held.length;
      }
    }
    const inside = spans.filter((span) => span.start >= shown && span.end <= cut);
    const out = replaceSpans(held.slice(0, cut), inside).slice(
      // Spans before `shown` were replaced when they were given out.
      shown,
    );
    const keep = Math.max(0, cut - LEAD);
    held = held.slice(keep);
    shown = cut - keep;
    return out;
  }
}
