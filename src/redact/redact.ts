import { claimRedactedStamp } from '../core/redacted.ts';
import { ANCHORS } from './anchors.ts';
import { placeholder } from './placeholder.ts';
import { runScan, type Span } from './scan.ts';
import { buildTrigrams } from './trigrams.ts';
import type { Redaction, RedactionCategory } from './types.ts';

const stamp = claimRedactedStamp();
const trigrams = buildTrigrams(ANCHORS.map((anchor) => anchor.shape));

/** The secrets in a text, in order. */
export function findSecrets(text: string): readonly Span[] {
  return runScan(text, trigrams, ANCHORS).all();
}

/** The most passes over one text. One is enough for all but text made to need two. */
const PASSES = 4;

/** Replaces every secret. Linear in the size of the text; applying it again changes nothing. */
export function redact(text: string): Redaction {
  let current = text;
  let count = 0;
  const categories = new Set<RedactionCategory>();
  for (let pass = 0; pass < PASSES; pass++) {
    const spans = findSecrets(current);
    if (spans.length === 0) break;
    if (pass === 0) count = spans.length;
    for (const span of spans) categories.add(span.category);
    current = replaceSpans(current, spans);
  }
  return { text: stamp(current), count, categories: [...categories].sort() };
}

/** The text with each span replaced by its placeholder. */
export function replaceSpans(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const span of spans) {
    const mark = placeholder(span.category);
    parts.push(text.slice(from, span.start), `${span.quote}${mark}${span.quote}`);
    from = span.end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}
