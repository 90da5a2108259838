import { claimRedactedStamp } from '../core/redacted.ts';
import { ANCHORS } from './anchors.ts';
import { placeholder } from './placeholder.ts';
import { type Region, runScan, type Span } from './scan.ts';
import { buildTrigrams } from './trigrams.ts';
import type { Redaction, RedactionCategory } from './types.ts';

const stamp = claimRedactedStamp();
const trigrams = buildTrigrams(ANCHORS.map((anchor) => anchor.shape));

/** The secrets in a text, in order. */
export function findSecrets(text: string): readonly Span[] {
  return runScan(text, trigrams, ANCHORS).all();
}

/** The most passes over one text. One is enough for all but text made to need two; later ones look at what changed. */
const PASSES = 4;

/** Replaces every secret. Linear in the size of the text; applying it again changes nothing. */
export function redact(text: string): Redaction {
  let current = text;
  let spans = findSecrets(text);
  const count = spans.length;
  const categories = new Set<RedactionCategory>();
  for (let pass = 1; spans.length > 0; pass++) {
    for (const span of spans) categories.add(span.category);
    const { text: replaced, changed } = replaceSpans(current, spans);
    current = replaced;
    if (pass === PASSES) break;
    spans = runScan(current, trigrams, ANCHORS, around(current, changed)).all();
  }
  return { text: stamp(current), count, categories: [...categories].sort() };
}

/** The text with each span replaced by its placeholder, and where the placeholders are now. */
export function replaceSpans(
  text: string,
  spans: readonly Span[],
): { readonly text: string; readonly changed: readonly Region[] } {
  const parts: string[] = [];
  const changed: Region[] = [];
  let from = 0;
  let length = 0;
  for (const span of spans) {
    const mark = `${span.quote}${placeholder(span.category)}${span.quote}`;
    parts.push(text.slice(from, span.start), mark);
    const start = length + span.start - from;
    length = start + mark.length;
    changed.push({ start, end: length });
    from = span.end;
  }
  parts.push(text.slice(from));
  return { text: parts.join(''), changed };
}

const NEAR = 100;

/**
 * Where a placeholder may change what its surroundings are read as: the line it stands in, one before and one
 * behind, or more when lines are short. Everything else was read before and reads the same. Each line is
 * searched for its ends a fixed number of times, however many placeholders it holds.
 */
function around(text: string, changed: readonly Region[]): readonly Region[] {
  const regions: Region[] = [];
  let lineEnd = -1;
  for (const { start, end } of changed) {
    if (end <= lineEnd) continue;
    lineEnd = endOfLine(text, end);
    const until = Math.max(endOfLine(text, lineEnd + 1), Math.min(end + NEAR, text.length));
    const line = startOfLine(text, start);
    const from = Math.max(0, Math.min(startOfLine(text, line - 1), start - NEAR) - 2);
    const last = regions.at(-1);
    if (last !== undefined && from <= last.end)
      regions[regions.length - 1] = { start: last.start, end: Math.max(last.end, until) };
    else regions.push({ start: from, end: until });
  }
  return regions;
}

function startOfLine(text: string, i: number): number {
  return i <= 0 ? 0 : text.lastIndexOf('\n', i - 1) + 1;
}

function endOfLine(text: string, i: number): number {
  const found = text.indexOf('\n', i);
  return found < 0 ? text.length : found;
}
