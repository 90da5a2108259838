/** Finds each packet of one capture in the other. Packets are indices into the columns of their capture. */
import type { SightingColumns } from './sightings.ts';

/** Packets found in both, in the order they were seen at A: index at A, index at B, whether the content differs. */
export interface Matches {
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly changed: Uint8Array;
}

export interface Matching {
  readonly matches: Matches;
  /** In the order of their frames. */
  readonly onlyA: Int32Array;
  readonly onlyB: Int32Array;
}

/** Beyond this many equal packets they are matched in order: comparing each with each would take for ever. */
const MAX_EQUAL = 32;

/** Both lists in the order of their keys, walked side by side: nothing is kept a packet but its place. */
export function matchSightings(
  a: SightingColumns,
  ownA: Int32Array,
  b: SightingColumns,
  ownB: Int32Array,
): Matching {
  const [left, right] = [byKey(a, ownA), byKey(b, ownB)];
  const found = new Found(a, b, Math.min(left.length, right.length));
  const [onlyA, onlyB]: [number[], number[]] = [[], []];
  const unclear: { readonly a: Int32Array; readonly b: Int32Array }[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const key = Math.min(keyAt(a, left, i), keyAt(b, right, j));
    const [endA, endB] = [runEnd(a, left, i, key), runEnd(b, right, j, key)];
    if (endB === j) for (; i < endA; i++) onlyA.push(left[i]!);
    else if (endA === i) for (; j < endB; j++) onlyB.push(right[j]!);
    else if (endA === i + 1 && endB === j + 1) found.add(left[i]!, right[j]!);
    else unclear.push({ a: left.subarray(i, endA), b: right.subarray(j, endB) });
    [i, j] = [endA, endB];
  }
  const centre = median(found.delays());
  for (const group of unclear) {
    const paired = new Set(matchEqual(found, group.a, group.b, centre));
    for (const index of group.a) if (!paired.has(index)) onlyA.push(index);
    // A packet seen twice at B (two interfaces, two legs) did leave: it is no stranger.
  }
  return {
    matches: found.inOrder(),
    onlyA: Int32Array.from(onlyA).sort(),
    onlyB: Int32Array.from(onlyB).sort(),
  };
}

function byKey({ key }: SightingColumns, own: Int32Array): Int32Array {
  return own.slice().sort((x, y) => key[x]! - key[y]! || x - y);
}

function keyAt({ key }: SightingColumns, list: Int32Array, at: number): number {
  return at < list.length ? key[list[at]!]! : Number.POSITIVE_INFINITY;
}

/** Where the packets of this key end. */
function runEnd(of: SightingColumns, list: Int32Array, from: number, key: number): number {
  let at = from;
  while (at < list.length && of.key[list[at]!] === key) at++;
  return at;
}

/** The matches as they are found. */
class Found {
  readonly #a: SightingColumns;
  readonly #b: SightingColumns;
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #changed: Uint8Array;
  #size = 0;

  constructor(a: SightingColumns, b: SightingColumns, most: number) {
    this.#a = a;
    this.#b = b;
    this.#left = new Int32Array(most);
    this.#right = new Int32Array(most);
    this.#changed = new Uint8Array(most);
  }

  add(a: number, b: number): void {
    this.#left[this.#size] = a;
    this.#right[this.#size] = b;
    this.#changed[this.#size++] = this.differs(a, b) ? 1 : 0;
  }

  delay(a: number, b: number): number {
    return this.#b.at[b]! - this.#a.at[a]!;
  }

  delays(): Float64Array {
    return Float64Array.from({ length: this.#size }, (_, i) => this.delay(this.#left[i]!, this.#right[i]!));
  }

  /** Only what both captures hold is compared: one may have kept less of each packet. */
  differs(a: number, b: number): boolean {
    const [keptA, keptB] = [this.#a.captured[a]!, this.#b.captured[b]!];
    if (keptA === keptB) return this.#a.content[a] !== this.#b.content[b];
    return Math.min(keptA, keptB) >= 16 && this.#a.start[a] !== this.#b.start[b];
  }

  inOrder(): Matches {
    const { at } = this.#a;
    const order = Int32Array.from({ length: this.#size }, (_, i) => i).sort((x, y) => {
      const [one, other] = [this.#left[x]!, this.#left[y]!];
      return at[one]! - at[other]! || one - other;
    });
    return {
      a: order.map((i) => this.#left[i]!),
      b: order.map((i) => this.#right[i]!),
      changed: Uint8Array.from(order, (i) => this.#changed[i]!),
    };
  }
}

/**
 * Packets under one key: same content first, and of these the ones whose times fit the rest best. Answers which of
 * A's were matched.
 */
function matchEqual(found: Found, a: Int32Array, b: Int32Array, centre: number | null): number[] {
  const most = Math.min(a.length, b.length);
  if (centre === null || a.length > MAX_EQUAL || b.length > MAX_EQUAL) {
    for (let i = 0; i < most; i++) found.add(a[i]!, b[i]!);
    return [...a.subarray(0, most)];
  }
  const candidates = [...a].flatMap((x) =>
    [...b].map((y) => ({
      x,
      y,
      changed: found.differs(x, y) ? 1 : 0,
      off: Math.abs(found.delay(x, y) - centre),
    })),
  );
  candidates.sort((one, other) => one.changed - other.changed || one.off - other.off);
  const [takenA, takenB] = [new Set<number>(), new Set<number>()];
  for (const { x, y } of candidates) {
    if (takenA.has(x) || takenB.has(y)) continue;
    takenA.add(x);
    takenB.add(y);
    found.add(x, y);
  }
  return [...takenA];
}

/** The middle value; the values change places. */
export function median(values: Float64Array): number | null {
  if (values.length === 0) return null;
  return values.sort()[values.length >> 1]!;
}
