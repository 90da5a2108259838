import { type KeyMeaning, keyMeaning } from './key-names.ts';
import { placeholderEnd } from './placeholder.ts';
import { type Candidate, CLASS_OF, type Shape, type Trigrams } from './trigrams.ts';
import type { RedactionCategory } from './types.ts';

/** One stretch of text that must not be seen. `quote` goes before and after what replaces it. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly category: RedactionCategory;
  readonly quote: string;
}

/**
 * The state of one pass over a text.
 *
 * S1 The pass moves forward only. A detector looks back and ahead a bounded distance, or takes what
 *    it has read (and the pass goes on behind it): so the whole is linear in the size of the text.
 * S2 Spans are in order and never overlap; nothing before `floor` can be taken any more.
 * S3 A span that is exactly a placeholder is not recorded: what is redacted stays as it is.
 */
export class Scan {
  readonly text: string;
  readonly spans: Span[] = [];
  /** End of the last thing taken or stepped over. */
  floor = 0;
  /** Where the pass goes on. */
  position = 0;
  /** Words before this have been judged as key names. */
  judged = 0;
  /** A secret's name was seen as a value (`"name": "DB_PASSWORD"`): a `value` before `until` is the secret. */
  named: { readonly from: number; readonly until: number; readonly meaning: KeyMeaning } | undefined;
  /** Per detector: where it need not look again. */
  readonly done = new Map<string, number>();
  readonly #marks: Span[] = [];
  #lineFrom = 0;
  #lineEnd = -1;
  /** Names repeat: what one means is worked out once a pass. */
  readonly #meanings = new Map<string, KeyMeaning | undefined>();

  constructor(text: string) {
    this.text = text;
  }

  meaningOf(name: string): KeyMeaning | undefined {
    if (this.#meanings.has(name)) return this.#meanings.get(name);
    if (this.#meanings.size > 4096) this.#meanings.clear();
    const meaning = keyMeaning(name);
    this.#meanings.set(name, meaning);
    return meaning;
  }

  /** End of the line that holds `i`. Asked in order, it reads the text once. */
  lineEnd(i: number): number {
    if (i < this.#lineFrom || i > this.#lineEnd) {
      const found = this.text.indexOf('\n', i);
      this.#lineFrom = i;
      this.#lineEnd = found < 0 ? this.text.length : found;
    }
    return this.#lineEnd;
  }

  /** Takes [start, end); answers whether anything was taken or stepped over. */
  take(start: number, end: number, category: RedactionCategory, quote = ''): boolean {
    const from = Math.max(start, this.floor);
    if (end <= from) return false;
    if (placeholderEnd(this.text, from) !== end) this.spans.push({ start: from, end, category, quote });
    this.stepOver(end);
    return true;
  }

  /** Notes a secret that lies elsewhere, behind or far ahead of the pass. Merged in at the end. */
  mark(start: number, end: number, category: RedactionCategory): void {
    if (end > start && placeholderEnd(this.text, start) !== end)
      this.#marks.push({ start, end, category, quote: '' });
  }

  /** Spans and marks in order; where two meet they become one. */
  all(): readonly Span[] {
    if (this.#marks.length === 0) return this.spans;
    const merged: Span[] = [];
    for (const span of [...this.spans, ...this.#marks].sort((a, b) => a.start - b.start)) {
      const last = merged.at(-1);
      if (last === undefined || span.start >= last.end) merged.push(span);
      else if (span.end > last.end) merged[merged.length - 1] = { ...last, end: span.end };
    }
    return merged;
  }

  stepOver(end: number): void {
    this.floor = Math.max(this.floor, end);
    this.position = Math.max(this.position, end);
  }
}

/**
 * Examines the text around an anchor that ends just before `end`. True when it took something or
 * moved the pass on; the other anchors in the same place are then not asked.
 */
export type Detector = (scan: Scan, start: number, end: number) => boolean;

export interface Anchor {
  /** Lower-case text, or three sets of characters when the anchor has no fixed text. */
  readonly shape: Shape;
  readonly detect: Detector;
}

/** A stretch of text to look at, [start, end). */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** Stops at anchors within the regions only; detectors still see all of the text around them. */
export function runScan(
  text: string,
  trigrams: Trigrams,
  anchors: readonly Anchor[],
  regions: readonly Region[] = [{ start: 0, end: text.length }],
): Scan {
  const scan = new Scan(text);
  const { hit, candidates } = trigrams;
  // One byte a UTF-16 unit keeps positions the same; what is cut off can only cause a false suspicion.
  // One more at the end lets anchors that want to see what follows fire there too.
  const bytes = Buffer.allocUnsafe(text.length + 1);
  bytes.write(text, 'latin1');
  bytes[text.length] = 0;
  for (const region of regions) {
    const limit = region.end + 1;
    let i = nextHit(bytes, Math.max(region.start, scan.position), limit, 0, hit, CLASS_OF);
    while (i < limit) {
      const end = i + 1;
      const three =
        ((i >= 2 ? CLASS_OF[bytes[i - 2]!]! : 0) << 10) |
        ((i >= 1 ? CLASS_OF[bytes[i - 1]!]! : 0) << 5) |
        CLASS_OF[bytes[i]!]!;
      scan.position = end;
      const took = suspect(scan, candidates[three] ?? NOBODY, anchors, end);
      // Whatever was half matched belongs to what has just been taken.
      i = nextHit(bytes, scan.position, limit, took || scan.position > end ? 0 : three, hit, CLASS_OF);
    }
  }
  return scan;
}

const NOBODY: readonly Candidate[] = [];

/** Nearly all the time is spent here: position of the next three characters that some anchor has, from `i` on. */
function nextHit(
  bytes: Uint8Array,
  from: number,
  limit: number,
  before: number,
  hit: Uint8Array,
  classOf: Uint8Array,
): number {
  let three = before;
  for (let i = from; i < limit; i++) {
    three = ((three << 5) | classOf[bytes[i]!]!) & 0x7fff;
    if (hit[three] !== 0) return i;
  }
  return limit;
}

/** Asks the anchors that may stand here, in the order of the table, until one has moved the pass on. */
function suspect(
  scan: Scan,
  candidates: readonly Candidate[],
  anchors: readonly Anchor[],
  end: number,
): boolean {
  for (let k = 0; k < candidates.length; k++) {
    const candidate = candidates[k]!;
    const start = end - candidate.reach;
    const { text } = candidate;
    if (text === null) {
      if (anchors[candidate.anchor]!.detect(scan, start, end)) return true;
    } else if (start >= scan.floor && matches(scan.text, start, text)) {
      if (anchors[candidate.anchor]!.detect(scan, start, start + text.length)) return true;
    }
  }
  return false;
}

function matches(text: string, start: number, lower: string): boolean {
  for (let k = 0; k < lower.length; k++) {
    const c = text.charCodeAt(start + k);
    if ((c >= 65 && c <= 90 ? c + 32 : c) !== lower.charCodeAt(k)) return false;
  }
  return true;
}
