/**
 * Two captures of the same conversations at two places: packets are matched one by one, the offset of the clocks
 * is estimated, and what happened between the two points is said for each direction.
 *
 * 1. Which machine is near which point comes from the packets (what leaves first is near), never from file names.
 * 2. Only packets sent while both points were watching count as lost; the clocks' offset is taken out first.
 * 3. The sum of both delays is measured; how it divides between the directions is an assumption, and said to be.
 *    Waiting on top of the shortest delay belongs to its direction beyond doubt.
 */
import { type Direction, directionOf, round } from './direction.ts';
import { type Matching, matchSightings, median } from './matching.ts';
import { Conversations, type SightingColumns } from './sightings.ts';
import { type Sightings, sightingsOf } from './signatures.ts';
import { concludeFrom, type Verdict, verdictsOf } from './verdicts.ts';

export interface DualEnd {
  readonly matched: number;
  /** Clock of B minus clock of A, assuming equal shortest delays both ways; null when it cannot be known. */
  readonly clock_offset_ms: number | null;
  /** Shortest time there plus shortest time back: free of any clock. */
  readonly round_trip_ms: number | null;
  readonly near_a: readonly string[];
  readonly near_b: readonly string[];
  readonly directions: readonly Direction[];
  readonly verdicts: readonly Verdict[];
  readonly conclusion: string;
  readonly confidence: Confidence;
  readonly notes: readonly string[];
}

export type Confidence = 'high' | 'medium' | 'low';

/** Packets on their way when a capture began or ended are nobody's loss. */
const EDGE_MS = 250;
/** Larger than any Ethernet frame: the network card cut or glued it, so the other side saw other packets. */
const OFFLOADED = 1600;

/** Null when the two captures do not show the same traffic. */
export async function compareEnds(pathA: string, pathB: string): Promise<DualEnd | null> {
  const talk = new Conversations();
  return matchEnds(await sightingsOf(pathA, talk), await sightingsOf(pathB, talk), talk);
}

function matchEnds(a: Sightings, b: Sightings, talk: Conversations): DualEnd | null {
  const pairs = sharedPairs(a, b, talk);
  if (pairs.size === 0) return null;
  const [A, B] = [a.packets, b.packets];
  const own = (of: SightingColumns) => of.where((i) => pairs.has(talk.pairs[of.route[i]!]!));
  const [ownA, ownB] = [own(A), own(B)];
  const matching = matchSightings(A, ownA, B, ownB);
  const { matches, onlyA, onlyB } = matching;
  const matched = matches.a.length;
  const few = matched < 5 && matched * 50 < Math.min(A.size, B.size);
  const oneSided = onlyA.length === 0 || onlyB.length === 0;
  if ((matched === 0 || few) && !(oneSided && overlapShare(a, b) >= 0.5)) return null;
  const nearA = routesFromA(matching, A, B, talk, b.locals);
  const leavesA = (of: SightingColumns, i: number) => nearA(of.route[i]!);
  const all = matches.a.map((_, i) => i);
  const there = all.filter((m) => leavesA(A, matches.a[m]!));
  const back = all.filter((m) => !leavesA(A, matches.a[m]!));
  const gap = (m: number) => B.at[matches.b[m]!]! - A.at[matches.a[m]!]!;
  const minThere = least(Float64Array.from(there, gap));
  const minBack = least(Float64Array.from(back, (m) => -gap(m)));
  const offset = minThere !== null && minBack !== null ? (minThere - minBack) / 2 : null;
  // With one direction alone the offset hides in the delay: good enough to know who watched when.
  const shift = offset ?? minThere ?? (minBack === null ? 0 : -minBack);
  const roundTrip = minThere !== null && minBack !== null ? minThere + minBack : null;
  const edge = EDGE_MS + Math.max(0, roundTrip ?? 0);
  const window = {
    from: Math.max(a.first, b.first - shift) + edge,
    to: Math.min(a.last, b.last - shift) - edge,
  };
  // A point where nothing arrives has no packets to tell how long it listened.
  const watched = (at: number) => matched === 0 || (at >= window.from && at <= window.to);
  const inA = (i: number) => watched(A.at[i]!);
  const inB = (i: number) => watched(B.at[i]! - shift);
  const directions = [
    directionOf('A', 'B', talk, {
      from: A,
      to: B,
      delays: Float64Array.from(there, (m) => gap(m) - shift),
      left: there.map((m) => matches.a[m]!),
      arrived: there.map((m) => matches.b[m]!),
      changed: Uint8Array.from(there, (m) => matches.changed[m]!),
      lost: onlyA.filter((i) => leavesA(A, i) && inA(i)),
      strangers: onlyB.filter((i) => leavesA(B, i) && inB(i)),
    }),
    directionOf('B', 'A', talk, {
      from: B,
      to: A,
      delays: Float64Array.from(back, (m) => shift - gap(m)),
      ...leavingInOrder(back, matching, B),
      lost: onlyB.filter((i) => !leavesA(B, i) && inB(i)),
      strangers: onlyA.filter((i) => !leavesA(A, i) && inA(i)),
    }),
  ] as const;
  const offloaded = ownA.some((i) => A.length[i]! > OFFLOADED) || ownB.some((i) => B.length[i]! > OFFLOADED);
  const notes = [
    ...(a.cut || b.cut ? ['the captures are large: only their first packets were matched'] : []),
    ...(matched === 0
      ? ['no packet was seen at both points; both are taken to have listened at the same time']
      : offset === null
        ? [
            'packets of one direction only were matched: the offset of the clocks cannot be told from the delay',
          ]
        : ['the offset of the clocks assumes that the shortest delay is the same in both directions']),
    ...(offloaded
      ? ['segments larger than a frame: a network card splits or joins packets, so some cannot be matched']
      : []),
  ];
  const basis = { matched, offset, roundTrip, doubtful: a.cut || b.cut || offloaded };
  const verdicts = verdictsOf(directions, basis);
  const routes = [
    ...[...matches.a].map((i) => A.route[i]!),
    ...[...onlyA.subarray(0, 1000)].map((i) => A.route[i]!),
    ...[...onlyB.subarray(0, 1000)].map((i) => B.route[i]!),
  ];
  const places = (near: boolean) =>
    [
      ...new Set(
        [...new Set(routes)].map((r) => (nearA(r) === near ? talk.sources[r]! : talk.destinations[r]!)),
      ),
    ].slice(0, 5);
  return {
    matched,
    clock_offset_ms: offset === null ? null : round(offset),
    round_trip_ms: roundTrip === null ? null : round(roundTrip),
    near_a: places(true),
    near_b: places(false),
    directions,
    ...concludeFrom(verdicts, basis),
    verdicts,
    notes,
  };
}

/** Pairs of machines seen at both points; failing these, pairs of one point that involve the other's machine. */
function sharedPairs(a: Sightings, b: Sightings, talk: Conversations): ReadonlySet<number> {
  const pairsOf = ({ packets }: Sightings) =>
    new Set(packets.route.subarray(0, packets.size).map((route) => talk.pairs[route]!));
  const [inA, inB] = [pairsOf(a), pairsOf(b)];
  const both = [...inA].filter((pair) => inB.has(pair));
  if (both.length > 0) return new Set(both);
  const involves = (pairs: ReadonlySet<number>, locals: readonly string[]) =>
    [...pairs].filter((pair) => talk.ends[pair]!.some((address) => locals.includes(address)));
  return new Set([...involves(inA, b.locals), ...involves(inB, a.locals)]);
}

/** What left B for A in the order it left; matches stand in the order of A. */
function leavingInOrder(back: Int32Array, { matches }: Matching, B: SightingColumns) {
  const order = back.slice().sort((x, y) => B.at[matches.b[x]!]! - B.at[matches.b[y]!]!);
  return {
    left: order.map((m) => matches.b[m]!),
    arrived: order.map((m) => matches.a[m]!),
    changed: Uint8Array.from(order, (m) => matches.changed[m]!),
  };
}

function overlapShare(a: Sightings, b: Sightings): number {
  const shared = Math.min(a.last, b.last) - Math.max(a.first, b.first);
  const shorter = Math.min(a.last - a.first, b.last - b.first);
  return shorter > 0 ? shared / shorter : shared >= 0 ? 1 : 0;
}

/** What speaks for one side of a pair of machines being near A. */
interface Side {
  /** Gaps between both sightings of packets from the low address, and from the high one. */
  readonly low: number[];
  readonly high: number[];
  hops: number;
  score: number;
}

/**
 * Which routes leave from the side of A. What X sends is seen at A before B if X is near A: then B − A is larger for
 * packets from X than for those to X, whatever the clocks say.
 */
function routesFromA(
  { matches, onlyA, onlyB }: Matching,
  A: SightingColumns,
  B: SightingColumns,
  talk: Conversations,
  localsOfB: readonly string[],
): (route: number) => boolean {
  const sides = new Map<number, Side>();
  const sideOf = (route: number) => {
    const pair = talk.pairs[route]!;
    const known = sides.get(pair);
    if (known !== undefined) return known;
    const made: Side = { low: [], high: [], hops: 0, score: 0 };
    sides.set(pair, made);
    return made;
  };
  const sign = (route: number) => (talk.fromLow[route] ? 1 : -1);
  matches.a.forEach((i, m) => {
    const j = matches.b[m]!;
    const route = A.route[i]!;
    const side = sideOf(route);
    (talk.fromLow[route] ? side.low : side.high).push(B.at[j]! - A.at[i]!);
    side.hops += sign(route) * Math.sign(A.ttl[i]! - B.ttl[j]!);
  });
  // A packet seen at one point alone was lost on the way away from it.
  for (const i of onlyA) sideOf(A.route[i]!).score += sign(A.route[i]!);
  for (const i of onlyB) sideOf(B.route[i]!).score -= sign(B.route[i]!);
  const lowNearA = new Map<number, boolean>();
  for (const [pair, { low, high, hops, score }] of sides) {
    const [up, down] = [median(Float64Array.from(low)), median(Float64Array.from(high))];
    const [lowAddress, highAddress] = talk.ends[pair]!;
    lowNearA.set(
      pair,
      hops !== 0
        ? hops > 0
        : up !== null && down !== null && up !== down
          ? up > down
          : score !== 0
            ? score > 0
            : localsOfB.includes(highAddress) || !localsOfB.includes(lowAddress),
    );
  }
  return (route) => lowNearA.get(talk.pairs[route]!) === talk.fromLow[route];
}

const least = (values: Float64Array) =>
  values.length === 0 ? null : values.reduce((x, y) => Math.min(x, y));
