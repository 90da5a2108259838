/**
 * Text → numbers for the small classifiers: hashed character n-grams of one line, plus a few counts.
 * The training script and the run time share this file, so that they cannot disagree.
 */
export interface FeatureSpec {
  /** Length of the vector: `buckets` hashed n-grams and the counts of `shape`. */
  readonly buckets: number;
  readonly ngrams: readonly number[];
}

export const SHAPE_SIZE = 8;
const MAX_LINE = 400;

/** Lines long enough to mean something; overlong ones in overlapping pieces. */
export function linesOf(text: string, limit: number): readonly string[] {
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

export function features(line: string, spec: FeatureSpec): Float32Array {
  const vector = new Float32Array(spec.buckets + SHAPE_SIZE);
  // Digits and letters of random text are noise: runs are kept by class as well as by value.
  const text = ` ${line} `;
  for (const n of spec.ngrams)
    for (let i = 0; i + n <= text.length; i++) {
      const slot = hash(text, i, n) % spec.buckets;
      vector[slot] = (vector[slot] ?? 0) + 1;
    }
  let norm = 0;
  for (let i = 0; i < spec.buckets; i++) norm += (vector[i] ?? 0) ** 2;
  const scale = norm === 0 ? 0 : 1 / Math.sqrt(norm);
  for (let i = 0; i < spec.buckets; i++) vector[i] = (vector[i] ?? 0) * scale;
  vector.set(shape(line), spec.buckets);
  return vector;
}

/** Longest unbroken run, its entropy and mixture; share of digits, capitals and signs. */
function shape(line: string): readonly number[] {
  const longest = line.split(/[^A-Za-z0-9+/_=.~-]+/).reduce((a, b) => (b.length > a.length ? b : a), '');
  const share = (pattern: RegExp) => (line.match(pattern)?.length ?? 0) / Math.max(1, line.length);
  const mixed = [/[a-z]/, /[A-Z]/, /[0-9]/].filter((p) => p.test(longest)).length / 3;
  return [
    Math.min(longest.length, 100) / 100,
    entropy(longest) / 6,
    mixed,
    share(/[0-9]/g),
    share(/[A-Z]/g),
    share(/[^A-Za-z0-9\s]/g),
    Math.min(line.length, 200) / 200,
    /[=:]\s*\S{12,}/.test(line) ? 1 : 0,
  ];
}

function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const c of text) counts.set(c, (counts.get(c) ?? 0) + 1);
  let sum = 0;
  for (const n of counts.values()) sum -= (n / text.length) * Math.log2(n / text.length);
  return sum;
}

/** FNV-1a over lower-cased code units. */
function hash(text: string, at: number, length: number): number {
  let h = 0x811c9dc5 ^ length;
  for (let i = at; i < at + length; i++) {
    let c = text.charCodeAt(i);
    if (c >= 65 && c <= 90) c += 32;
    h = Math.imul(h ^ c, 0x01000193) >>> 0;
  }
  return h >>> 0;
}
