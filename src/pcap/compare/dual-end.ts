/**
 * Two captures of the same conversations at two places: packets are matched one by one, the offset of the clocks
 * is estimated, and what happened between the two points is said for each direction.
 *
 * 1. Which machine is near which point comes from the packets (what leaves first is near), never from file names.
 * 2. Only packets sent while both points were watching count as lost; the clocks' offset is taken out first.
 * 3. The sum of both delays is measured; how it divides between the directions is an assumption, and said to be.
 *    Waiting on top of the shortest delay belongs to its direction beyond doubt.
 */
import { type Match, matchSightings, median } from './matching.ts';
import { type Sighting, type Sightings, sightingsOf } from './signatures.ts';
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

export interface Direction {
  readonly from: 'A' | 'B';
  readonly to: 'A' | 'B';
  readonly sent: number;
  readonly arrived: number;
  readonly lost: number;
  readonly loss_pct: number;
  readonly delay_ms: { readonly min: number; readonly median: number; readonly p95: number } | null;
  /** Packets that arrived with another content than they left with. */
  readonly changed: number;
  readonly reordered: number;
  /** Packets that arrived and never left: something in between made them. */
  readonly injected: number;
  /** Present when everything that was lost is larger than anything that arrived: bytes of payload. */
  readonly size_limit: { readonly largest_arrived: number; readonly smallest_lost: number } | null;
  /** Services of which nothing arrived, with how many packets left. */
  readonly blocked: readonly { readonly service: string; readonly sent: number }[];
  /** Frames to look at: where lost packets were sent, and where altered or injected ones arrived. */
  readonly lost_frames: readonly number[];
  readonly changed_frames: readonly number[];
  readonly injected_frames: readonly number[];
}

/** Packets on their way when a capture began or ended are nobody's loss. */
const EDGE_MS = 250;
const SAMPLES = 5;
/** Larger than any Ethernet frame: the network card cut or glued it, so the other side saw other packets. */
const OFFLOADED = 1600;

/** Null when the two captures do not show the same traffic. */
export async function compareEnds(pathA: string, pathB: string): Promise<DualEnd | null> {
  return matchEnds(await sightingsOf(pathA), await sightingsOf(pathB));
}

export function matchEnds(a: Sightings, b: Sightings): DualEnd | null {
  const pairs = sharedPairs(a, b);
  if (pairs.size === 0) return null;
  const own = (list: readonly Sighting[]) => list.filter((s) => pairs.has(pairOf(s)));
  const { matches, onlyA, onlyB } = matchSightings(own(a.sightings), own(b.sightings));
  const few = matches.length < 5 && matches.length * 50 < Math.min(a.sightings.length, b.sightings.length);
  const oneSided = onlyA.length === 0 || onlyB.length === 0;
  if ((matches.length === 0 || few) && !(oneSided && overlapShare(a, b) >= 0.5)) return null;
  const nearA = addressesNearA(matches, onlyA, onlyB, b.locals);
  const leavesA = (s: Sighting) => nearA(s);
  const there = matches.filter((m) => leavesA(m.a));
  const back = matches.filter((m) => !leavesA(m.a));
  const minThere = least(there.map((m) => m.b.at - m.a.at));
  const minBack = least(back.map((m) => m.a.at - m.b.at));
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
  const watched = (at: number) => matches.length === 0 || (at >= window.from && at <= window.to);
  const inA = (s: Sighting) => watched(s.at);
  const inB = (s: Sighting) => watched(s.at - shift);
  const directions = [
    directionOf('A', 'B', {
      delays: there.map((m) => m.b.at - m.a.at - shift),
      arrivals: there.map((m) => [m.a, m.b, m.changed] as const),
      lost: onlyA.filter((s) => leavesA(s) && inA(s)),
      strangers: onlyB.filter((s) => leavesA(s) && inB(s)),
    }),
    directionOf('B', 'A', {
      delays: back.map((m) => m.a.at - m.b.at + shift),
      arrivals: back.map((m) => [m.b, m.a, m.changed] as const).sort((x, y) => x[0].at - y[0].at),
      lost: onlyB.filter((s) => !leavesA(s) && inB(s)),
      strangers: onlyA.filter((s) => !leavesA(s) && inA(s)),
    }),
  ] as const;
  const offloaded = [...own(a.sightings), ...own(b.sightings)].some((s) => s.length > OFFLOADED);
  const notes = [
    ...(a.cut || b.cut ? ['the captures are large: only their first packets were matched'] : []),
    ...(matches.length === 0
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
  const basis = { matched: matches.length, offset, roundTrip, doubtful: a.cut || b.cut || offloaded };
  const verdicts = verdictsOf(directions, basis);
  const places = (near: boolean) =>
    [
      ...new Set(
        matches
          .concat(lonely(onlyA, onlyB))
          .map((m) => (leavesA(m.a) === near ? m.a.source : m.a.destination)),
      ),
    ].slice(0, 5);
  return {
    matched: matches.length,
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

/** Packets of one side as if matched with themselves, where only their addresses matter. */
const lonely = (...lists: readonly (readonly Sighting[])[]): Match[] =>
  lists.flatMap((list) => list.slice(0, 1000).map((s) => ({ a: s, b: s, changed: false })));

const pairOf = (s: Sighting) =>
  s.source < s.destination ? `${s.source} ${s.destination}` : `${s.destination} ${s.source}`;

/** Pairs of machines seen at both points; failing these, pairs of one point that involve the other's machine. */
function sharedPairs(a: Sightings, b: Sightings): ReadonlySet<string> {
  const [inA, inB] = [new Set(a.sightings.map(pairOf)), new Set(b.sightings.map(pairOf))];
  const both = [...inA].filter((p) => inB.has(p));
  if (both.length > 0) return new Set(both);
  const involves = (pairs: ReadonlySet<string>, locals: readonly string[]) =>
    [...pairs].filter((p) => p.split(' ').some((address) => locals.includes(address)));
  return new Set([...involves(inA, b.locals), ...involves(inB, a.locals)]);
}

function overlapShare(a: Sightings, b: Sightings): number {
  const shared = Math.min(a.last, b.last) - Math.max(a.first, b.first);
  const shorter = Math.min(a.last - a.first, b.last - b.first);
  return shorter > 0 ? shared / shorter : shared >= 0 ? 1 : 0;
}

/**
 * Whether a packet leaves from the side of A. What X sends is seen at A before B if X is near A: then B − A is
 * larger for packets from X than for those to X, whatever the clocks say.
 */
function addressesNearA(
  matches: readonly Match[],
  onlyA: readonly Sighting[],
  onlyB: readonly Sighting[],
  localsOfB: readonly string[],
): (s: Sighting) => boolean {
  const sides = new Map<string, { low: Match[]; high: Match[]; score: number; any: Sighting }>();
  const side = (s: Sighting) => {
    const key = pairOf(s);
    const known = sides.get(key);
    if (known !== undefined) return known;
    const made = { low: [] as Match[], high: [] as Match[], score: 0, any: s };
    sides.set(key, made);
    return made;
  };
  for (const m of matches) (m.a.source < m.a.destination ? side(m.a).low : side(m.a).high).push(m);
  // A packet seen at one point alone was lost on the way away from it.
  for (const s of onlyA) side(s).score += s.source < s.destination ? 1 : -1;
  for (const s of onlyB) side(s).score -= s.source < s.destination ? 1 : -1;
  const lowNearA = new Map<string, boolean>();
  for (const [key, { low, high, score }] of sides) {
    const gap = (list: readonly Match[]) => median(list.map((m) => m.b.at - m.a.at));
    const [up, down] = [gap(low), gap(high)];
    const ttl = (list: readonly Match[]) => list.reduce((n, m) => n + Math.sign(m.a.ttl - m.b.ttl), 0);
    const hops = ttl(low) - ttl(high);
    const [lowAddress, highAddress] = key.split(' ') as [string, string];
    lowNearA.set(
      key,
      hops !== 0
        ? hops > 0
        : up !== null && down !== null && up !== down
          ? up > down
          : score !== 0
            ? score > 0
            : localsOfB.includes(highAddress) || !localsOfB.includes(lowAddress),
    );
  }
  return (s) => lowNearA.get(pairOf(s)) === s.source < s.destination;
}

interface Raw {
  readonly delays: readonly number[];
  /** What left, what arrived of it, and whether it was altered; in the order of leaving. */
  readonly arrivals: readonly (readonly [Sighting, Sighting, boolean])[];
  readonly lost: readonly Sighting[];
  readonly strangers: readonly Sighting[];
}

function directionOf(from: 'A' | 'B', to: 'A' | 'B', raw: Raw): Direction {
  const sorted = [...raw.delays].sort((x, y) => x - y);
  const at = (q: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0);
  let [reordered, latest] = [0, Number.NEGATIVE_INFINITY];
  for (const [, arrived] of raw.arrivals) {
    if (arrived.at < latest) reordered++;
    latest = Math.max(latest, arrived.at);
  }
  const changed = raw.arrivals.filter(([, , altered]) => altered);
  const sent = raw.arrivals.length + raw.lost.length;
  const frames = (list: readonly Sighting[]) => list.slice(0, SAMPLES).map((s) => s.frame);
  return {
    from,
    to,
    sent,
    arrived: raw.arrivals.length,
    lost: raw.lost.length,
    loss_pct: sent === 0 ? 0 : round((100 * raw.lost.length) / sent),
    delay_ms: sorted.length === 0 ? null : { min: at(0), median: at(0.5), p95: at(0.95) },
    changed: changed.length,
    reordered,
    injected: raw.strangers.length,
    size_limit: sizeLimitOf(raw),
    blocked: blockedOf(raw),
    lost_frames: frames(raw.lost),
    changed_frames: frames(changed.map(([, arrived]) => arrived)),
    injected_frames: frames(raw.strangers),
  };
}

/** A path that loses large packets only has a smaller MTU than its ends believe. */
function sizeLimitOf({ arrivals, lost }: Raw): Direction['size_limit'] {
  const arrived = arrivals.reduce((n, [s]) => Math.max(n, s.length), 0);
  const smallest = lost.reduce((n, s) => Math.min(n, s.length), Number.POSITIVE_INFINITY);
  if (lost.length < 3 || arrivals.length < 3 || smallest <= Math.max(arrived, 500)) return null;
  return { largest_arrived: arrived, smallest_lost: smallest };
}

function blockedOf({ arrivals, lost }: Raw): Direction['blocked'] {
  const arrived = new Set(arrivals.map(([sent]) => sent.service));
  const sent = new Map<string, number>();
  for (const s of lost) if (!arrived.has(s.service)) sent.set(s.service, (sent.get(s.service) ?? 0) + 1);
  return [...sent]
    .filter(([, n]) => n >= 3)
    .sort((x, y) => y[1] - x[1])
    .slice(0, SAMPLES)
    .map(([service, n]) => ({ service, sent: n }));
}

const least = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((x, y) => Math.min(x, y));
const round = (n: number) => Math.round(n * 1000) / 1000;
