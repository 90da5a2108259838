/** Finds each packet of one capture in the other. */
import type { Sighting } from './signatures.ts';

export interface Match {
  readonly a: Sighting;
  readonly b: Sighting;
  readonly changed: boolean;
}

export interface Matching {
  readonly matches: readonly Match[];
  readonly onlyA: readonly Sighting[];
  readonly onlyB: readonly Sighting[];
}

/** Beyond this many equal packets they are matched in order: comparing each with each would take for ever. */
const MAX_EQUAL = 32;

interface Group {
  readonly a: readonly Sighting[];
  readonly b: readonly Sighting[];
}

/** Both lists in the order of their keys, walked side by side: nothing is kept a packet but its place. */
export function matchSightings(a: readonly Sighting[], b: readonly Sighting[]): Matching {
  const [left, right] = [byKey(a), byKey(b)];
  const matches: Match[] = [];
  const [onlyA, onlyB]: [Sighting[], Sighting[]] = [[], []];
  const unclear: Group[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const key = Math.min(left[i]?.key ?? Number.POSITIVE_INFINITY, right[j]?.key ?? Number.POSITIVE_INFINITY);
    const [endA, endB] = [runEnd(left, i, key), runEnd(right, j, key)];
    if (endB === j) append(onlyA, left.slice(i, endA));
    else if (endA === i) append(onlyB, right.slice(j, endB));
    else if (endA === i + 1 && endB === j + 1) matches.push(matchOf(left[i]!, right[j]!));
    else unclear.push({ a: left.slice(i, endA), b: right.slice(j, endB) });
    [i, j] = [endA, endB];
  }
  const centre = median(matches.map((m) => m.b.at - m.a.at));
  for (const g of unclear) {
    const pairs = matchEqual(g, centre);
    const known = new Set(pairs.map((m) => m.a));
    append(matches, pairs);
    append(
      onlyA,
      g.a.filter((s) => !known.has(s)),
    );
    // A packet seen twice at B (two interfaces, two legs) did leave: it is no stranger.
  }
  matches.sort((x, y) => x.a.at - y.a.at || x.a.frame - y.a.frame);
  return { matches, onlyA: onlyA.sort(byFrame), onlyB: onlyB.sort(byFrame) };
}

const byFrame = (x: Sighting, y: Sighting) => x.frame - y.frame;
const byKey = (list: readonly Sighting[]) => [...list].sort((x, y) => x.key - y.key || byFrame(x, y));

/** Where the packets of this key end. */
function runEnd(list: readonly Sighting[], from: number, key: number): number {
  let at = from;
  while (list[at]?.key === key) at++;
  return at;
}

/** One by one: a list of a hundred thousand equal packets does not fit into one call. */
function append<T>(to: T[], list: readonly T[]): void {
  for (const item of list) to.push(item);
}

/** Packets under one key: same content first, and of these the ones whose times fit the rest best. */
function matchEqual(g: Group, centre: number | null): readonly Match[] {
  if (centre === null || g.a.length > MAX_EQUAL || g.b.length > MAX_EQUAL)
    return g.a.slice(0, g.b.length).map((a, i) => matchOf(a, g.b[i]!));
  const candidates = g.a.flatMap((a) =>
    g.b.map((b) => ({ a, b, changed: differs(a, b), off: Math.abs(b.at - a.at - centre) })),
  );
  candidates.sort((x, y) => Number(x.changed) - Number(y.changed) || x.off - y.off);
  const taken = new Set<Sighting>();
  const out: Match[] = [];
  for (const { a, b, changed } of candidates) {
    if (taken.has(a) || taken.has(b)) continue;
    taken.add(a).add(b);
    out.push({ a, b, changed });
  }
  return out;
}

const matchOf = (a: Sighting, b: Sighting): Match => ({ a, b, changed: differs(a, b) });

/** Only what both captures hold is compared: one may have kept less of each packet. */
function differs(a: Sighting, b: Sighting): boolean {
  if (a.captured === b.captured) return a.content !== b.content;
  return Math.min(a.captured, b.captured) >= 16 && a.start !== b.start;
}

export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((x, y) => x - y);
  return sorted[sorted.length >> 1] ?? null;
}
