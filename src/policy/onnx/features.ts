import { INJECTION_SIGNALS, injectionSignals, revealed } from './injection-signals.ts';
import { randomness } from './randomness.ts';
import { SIGNALS, signals } from './signals.ts';

/**
 * Text → numbers for the small classifiers: hashed character n-grams and words of one line or passage, then the
 * signals. The training scripts and the run time share these files, so that they cannot disagree.
 *
 * FE1 Runs that look drawn (keys, digests) are replaced by their kind and length before n-grams are taken: their
 *     letters say nothing, and a model must not learn them.
 * FE2 In passages words count only where a signal makes the passage doubtful: they decide between readings, and
 *     never accuse alone.
 * FE3 Lines are bounded, so that no pattern sees more than `MAX_LINE` characters.
 */
export interface FeatureSpec {
  /**
   * Lines (the default) for what stands in one line: secrets, commands. Passages, a few sentences across lines,
   * for what is said.
   */
  readonly reads?: 'lines' | 'passages' | undefined;
  readonly buckets: number;
  readonly ngrams: readonly number[];
  /** Lengths of word sequences; none when left out. */
  readonly words?: readonly number[] | undefined;
}

const MAX_LINE = 400;
const MAX_PIECE = 200;
const MIN_PIECE = 12;

export function featureWidth(spec: FeatureSpec): number {
  return spec.buckets + (spec.reads === 'passages' ? INJECTION_SIGNALS : SIGNALS);
}

/** What is judged, piece by piece; at most `limit` of them. */
export function textsToJudge(text: string, spec: FeatureSpec, limit: number): readonly string[] {
  return spec.reads === 'passages' ? passagesOf(text, limit) : linesOf(text, limit);
}

/** Lines long enough to mean something; overlong ones in overlapping pieces. */
function linesOf(text: string, limit: number): readonly string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed.length < 4) continue;
    for (let at = 0; at === 0 || at + 50 < trimmed.length; at += MAX_LINE - 50) {
      lines.push(trimmed.slice(at, at + MAX_LINE));
      if (lines.length >= limit) return lines;
    }
  }
  return lines;
}

/** Sentences and lines, each alone so that no neighbours water it down, and joined to passages that overlap. */
function passagesOf(text: string, limit: number): readonly string[] {
  const passages: string[] = [];
  let passage: string[] = [];
  let length = 0;
  for (const piece of piecesOf(text)) {
    if (piece.length >= MIN_PIECE) passages.push(piece);
    passage.push(piece);
    length += piece.length + 1;
    if (length < MAX_PIECE) continue;
    if (passage.length > 1) passages.push(passage.join('\n'));
    if (passages.length >= limit) return passages.slice(0, limit);
    passage = [piece];
    length = piece.length + 1;
  }
  if (passage.length > 1) passages.push(passage.join('\n'));
  return passages.slice(0, limit);
}

function* piecesOf(text: string): Generator<string> {
  for (const line of text.split(/\n|(?<=[.!?。！？])\s+/)) {
    const trimmed = line.trim();
    for (let at = 0; at < trimmed.length; at += MAX_PIECE - 50) {
      yield trimmed.slice(at, at + MAX_PIECE);
      if (at + MAX_PIECE >= trimmed.length) break;
    }
  }
}

export function features(line: string, spec: FeatureSpec): Float32Array {
  const vector = new Float32Array(featureWidth(spec));
  if (spec.reads === 'passages') {
    const { values, doubtful } = injectionSignals(line);
    if (doubtful) countWords(vector, revealed(line), spec);
    vector.set(values, spec.buckets);
  } else {
    countWords(vector, line, spec);
    vector.set(signals(line), spec.buckets);
  }
  return vector;
}

function countWords(vector: Float32Array, line: string, spec: FeatureSpec): void {
  const count = (text: string, at: number, length: number, salt: number) => {
    const slot = hash(text, at, length, salt) % spec.buckets;
    vector[slot] = (vector[slot] ?? 0) + 1;
  };
  const text = ` ${withoutRandom(line).toLowerCase()} `;
  for (const n of spec.ngrams) for (let i = 0; i + n <= text.length; i++) count(text, i, n, n);
  const words = text.match(/-{0,2}[a-z0-9¤]+/g) ?? [];
  for (const n of spec.words ?? [])
    for (let i = 0; i + n <= words.length; i++) {
      const some = words.slice(i, i + n).join(' ');
      count(some, 0, some.length, 100 + n);
    }
  let norm = 0;
  for (let i = 0; i < spec.buckets; i++) norm += (vector[i] ?? 0) ** 2;
  const scale = norm === 0 ? 0 : 1 / Math.sqrt(norm);
  for (let i = 0; i < spec.buckets; i++) vector[i] = (vector[i] ?? 0) * scale;
}

function withoutRandom(line: string): string {
  return line.replace(/[A-Za-z0-9+/=~%]{8,}/g, (run) => {
    if (randomness(run) <= 0.5) return run;
    const kind = /^[0-9a-f]+$/i.test(run) ? 'hex' : /^[A-Za-z0-9]+$/.test(run) ? 'alnum' : 'mixed';
    return `¤${kind}${run.length < 20 ? 'short' : run.length < 48 ? 'medium' : 'long'}`;
  });
}

/** FNV-1a over code units. */
function hash(text: string, at: number, length: number, salt: number): number {
  let h = (0x811c9dc5 ^ salt) >>> 0;
  for (let i = at; i < at + length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return h;
}
