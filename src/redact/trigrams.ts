/**
 * Finds where anchors may stand, in one pass with one table lookup a character.
 *
 * Characters fall into 32 classes (letters without case, digits, a few signs, the rest), so three in a
 * row are a 15-bit number: a table of 32 KB says whether any anchor has these three in it. Each anchor
 * is looked for by its rarest three. A hit is a suspicion only: the caller compares the whole anchor.
 */
export interface Trigrams {
  /** 1 where three classes in a row belong to an anchor. */
  readonly hit: Uint8Array;
  readonly candidates: readonly (readonly Candidate[] | undefined)[];
}

export interface Candidate {
  readonly anchor: number;
  /** The whole anchor, to be compared; null when it has no fixed text. */
  readonly text: string | null;
  /** Characters between the start of the anchor and the end of its three. */
  readonly reach: number;
}

/** What an anchor looks like to the table: its text, or sets of characters for anchors without a fixed text. */
export type Shape = string | readonly [string, string, string];

const OTHER = 0;
const DIGIT = 27;
/** Two pairs of rare letters share a class, which makes room for the signs that anchors are made of. */
const shared: Readonly<Record<string, string>> = { z: 'q', x: 'j' };
const signs: Readonly<Record<string, number>> = {
  '=': 28,
  ':': 29,
  _: 30,
  '-': 31,
  '/': classOfLetter('x'),
  $: classOfLetter('z'),
  '~': classOfLetter('z'),
  '%': classOfLetter('z'),
  '+': classOfLetter('z'),
};

function classOfLetter(letter: string): number {
  return letter.charCodeAt(0) - 96;
}

/** Class of every byte; characters outside ASCII are of no interest to any anchor. */
export const CLASS_OF: Uint8Array = Uint8Array.from({ length: 256 }, (_, c) => {
  const ch = String.fromCharCode(c).toLowerCase();
  if (c < 128 && ch >= 'a' && ch <= 'z') return classOfLetter(shared[ch] ?? ch);
  if (ch >= '0' && ch <= '9') return DIGIT;
  return signs[ch] ?? OTHER;
});

/** How common a class is in logs: what is seldom is good for finding. */
const COMMON: readonly number[] = Array.from({ length: 32 }, (_, cls) => {
  if (cls === OTHER) return 220;
  if (cls === DIGIT) return 200;
  if (cls === signs[':'] || cls === signs['-'] || cls === signs['/']) return 40;
  if (cls === signs['='] || cls === signs._) return 15;
  if (cls === signs.$) return 2;
  return 60 - 2.2 * 'etaonirshldcumpfgwybvkjq'.indexOf(String.fromCharCode(cls + 96));
});

const MASK = 0x7fff;

export function buildTrigrams(shapes: readonly Shape[]): Trigrams {
  const hit = new Uint8Array(MASK + 1);
  const candidates: (Candidate[] | undefined)[] = new Array(MASK + 1).fill(undefined);
  shapes.forEach((shape, anchor) => {
    for (const [three, reach] of typeof shape === 'string' ? [rarest(shape)] : combinations(shape)) {
      hit[three] = 1;
      const list = candidates[three] ?? [];
      list.push({ anchor, text: typeof shape === 'string' ? shape : null, reach });
      candidates[three] = list;
    }
  });
  return { hit, candidates };
}

function rarest(text: string): readonly [number, number] {
  if (text.length < 3) throw new RangeError(`an anchor needs three characters: ${text}`);
  let best: readonly [number, number] = [0, 0];
  let lowest = Number.POSITIVE_INFINITY;
  for (let i = 0; i + 3 <= text.length; i++) {
    const classes = [0, 1, 2].map((k) => CLASS_OF[text.charCodeAt(i + k)]!);
    // Rulers of dashes and the like are everywhere in tables.
    const ruler = new Set(classes).size === 1 && text.length > 3 ? 1000 : 1;
    const common = classes.reduce((product, cls) => product * COMMON[cls]!, ruler);
    if (common >= lowest) continue;
    lowest = common;
    best = [classes.reduce((three, cls) => (three << 5) | cls, 0), i + 3];
  }
  return best;
}

function combinations(sets: readonly [string, string, string]): (readonly [number, number])[] {
  const [a, b, c] = sets.map((set) => new Set([...set].map((ch) => CLASS_OF[ch.charCodeAt(0)]!))) as [
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  const all: (readonly [number, number])[] = [];
  for (const x of a) for (const y of b) for (const z of c) all.push([(x << 10) | (y << 5) | z, 3]);
  return all;
}
