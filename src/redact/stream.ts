import { findSecrets, replaceSpans } from './redact.ts';
import type { Span } from './scan.ts';

/**
 * Redacts text that arrives in pieces, with the same result as if it had come at once.
 *
 * R1 What is given out lies at least `tail` characters before the end of what has arrived, so a secret
 *    that begins in it has been seen whole, or reaches the end (R3).
 * R2 A cut is at the start of a line where there is one, never inside a secret; the LEAD characters
 *    before it stay as context for what follows.
 * R3 A secret that reaches the end of what has arrived waits for its end. When waiting would hold more
 *    than LIMIT characters it is replaced, and what follows is swallowed up to the first character
 *    that cannot belong to a key: rather too much is lost than a piece of it shown.
 */
const LEAD = 8 * 1024;
const TAIL = 64 * 1024;
const LIMIT = 8 * 1024 * 1024;
const STEP = 256 * 1024;
const KEY_LIKE = /^[\w+/=.~%\\\s-]*/;

export interface RedactionStream {
  /** Takes a piece, gives what is safe to show. */
  push(piece: string): string;
  /** The rest. */
  end(): string;
}

/**
 * `tail` and `step` are how much is held back and how much must arrive before it is looked at again: less for
 * text that people watch as it comes, where keys longer than the tail are then told by their beginning alone.
 */
export function redactionStream(
  limit: number = LIMIT,
  { tail = TAIL, step = STEP }: { readonly tail?: number; readonly step?: number } = {},
): RedactionStream {
  let held = '';
  /** Characters of `held` that have been given out and stay for context only. */
  let shown = 0;
  let swallowing = false;

  return {
    push(piece) {
      held += swallow(piece);
      return held.length - shown < tail + step ? '' : give(false);
    },
    end: () => give(true),
  };

  function swallow(piece: string): string {
    if (!swallowing) return piece;
    const rest = piece.slice(KEY_LIKE.exec(piece)![0].length);
    swallowing = rest === '';
    return rest;
  }

  function give(last: boolean): string {
    const spans = findSecrets(held);
    const cut = last ? held.length : cutBefore(spans);
    if (cut <= shown) return '';
    const base = shown;
    const visible = spans
      .filter((span) => span.end > base && span.start < cut)
      .map((span) => ({ ...span, start: Math.max(span.start, base) - base, end: span.end - base }));
    const { text: out } = replaceSpans(held.slice(base, cut), visible);
    const keep = Math.max(0, cut - LEAD);
    held = held.slice(keep);
    shown = cut - keep;
    return out;
  }

  /** The furthest place up to which everything has been decided; `shown` when there is none yet. */
  function cutBefore(spans: readonly Span[]): number {
    let cut = held.length - tail;
    const line = held.lastIndexOf('\n', cut) + 1;
    if (line > shown) cut = line;
    for (const span of spans) if (span.start < cut && span.end > cut) cut = span.start;
    if (cut > shown || held.length - shown < limit) return Math.max(cut, shown);
    swallowing = spans.at(-1)?.end === held.length;
    return held.length;
  }
}
