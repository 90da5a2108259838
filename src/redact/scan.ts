import type { Automaton } from './automaton.ts';
import type { KeyMeaning } from './key-names.ts';
import { placeholderEnd } from './placeholder.ts';
import type { RedactionCategory } from './types.ts';

/** One stretch of text that must not be seen. `quote` puts quotes around what replaces it. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly category: RedactionCategory;
  readonly quote: boolean;
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

  constructor(text: string) {
    this.text = text;
  }

  /** Takes [start, end); answers whether anything was taken or stepped over. */
  take(start: number, end: number, category: RedactionCategory, quote = false): boolean {
    const from = Math.max(start, this.floor);
    if (end <= from) return false;
    if (placeholderEnd(this.text, from) !== end) this.spans.push({ start: from, end, category, quote });
    this.stepOver(end);
    return true;
  }

  stepOver(end: number): void {
    this.floor = Math.max(this.floor, end);
    this.position = Math.max(this.position, end);
  }
}

/**
 * Examines the text around an anchor that ends just before `end`. True when it took something or
 * moved the pass on; the other anchors that end in the same place are then not asked.
 */
export type Detector = (scan: Scan, start: number, end: number) => boolean;

export interface Anchor {
  readonly text: string;
  readonly detect: Detector;
}

export function runScan(text: string, automaton: Automaton, anchors: readonly Anchor[]): Scan {
  const scan = new Scan(text);
  const { next, classOf, classes, firstOutput, outputs } = automaton;
  const length = text.length;
  let state = 0;
  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i);
    state = next[state * classes + (c < 128 ? classOf[c]! : 0)]!;
    if (state < firstOutput) continue;
    for (const index of outputs[state - firstOutput]!) {
      const anchor = anchors[index]!;
      const start = i + 1 - anchor.text.length;
      if (start < scan.floor) continue;
      scan.position = i + 1;
      if (anchor.detect(scan, start, i + 1)) {
        // Whatever was half matched belongs to what has just been taken.
        state = 0;
        break;
      }
    }
    if (scan.position > i + 1) i = scan.position - 1;
  }
  return scan;
}
