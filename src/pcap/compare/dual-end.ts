import { type Sighting, sightingsOf } from './signatures.ts';

/**
 * Two captures of the same conversations at two places: packets are matched one by one, the clocks' offset is
 * estimated from both directions, and what happened in between is said for each direction.
 */
export interface DualEnd {
  readonly matched: number;
  /** Clock of B minus clock of A, assuming equal shortest delays both ways. */
  readonly clock_offset_ms: number | null;
  readonly directions: readonly Direction[];
  readonly conclusion: string;
  readonly confidence: 'high' | 'medium' | 'low';
  readonly notes: readonly string[];
}

export interface Direction {
  readonly from: string;
  readonly to: string;
  readonly sent: number;
  readonly arrived: number;
  readonly lost: number;
  readonly loss_pct: number;
  readonly delay_ms: { readonly min: number; readonly median: number; readonly p95: number } | null;
  /** Packets that arrived with another content than they left with. */
  readonly changed: number;
  readonly reordered: number;
}

const ENOUGH = 20;
const BIG_DELAY_MS = 50;

/** Null when the two captures have no conversation in common. */
export async function compareEnds(pathA: string, pathB: string): Promise<DualEnd | null> {
  const [a, b] = [await sightingsOf(pathA), await sightingsOf(pathB)];
  return matchEnds(a.sightings, b.sightings, a.cut || b.cut);
}

export function matchEnds(a: readonly Sighting[], b: readonly Sighting[], cut = false): DualEnd | null {
  const shared = commonPairs(a, b);
  if (shared.size === 0) return null;
  const own = (list: readonly Sighting[]) => list.filter((s) => shared.has(pairOf(s)));
  const [inA, inB] = [own(a), own(b)];
  const addressA = localAddress(inA);
  // Both points must have watched at the same time to call a missing packet lost.
  const from = Math.max(inA[0]?.at ?? 0, inB[0]?.at ?? 0);
  const to = Math.min(inA.at(-1)?.at ?? 0, inB.at(-1)?.at ?? 0);
  const there = direction(inA, inB, (s) => s.source === addressA, from, to);
  const back = direction(inB, inA, (s) => s.source !== addressA, from, to);
  const offset = there.minimum !== null && back.minimum !== null ? (there.minimum - back.minimum) / 2 : null;
  const directions = [
    finish('A', 'B', there, offset ?? 0),
    finish('B', 'A', back, offset === null ? 0 : -offset),
  ];
  const matched = there.delays.length + back.delays.length;
  const notes = [
    ...(cut ? ['the captures are large: only their first packets were matched'] : []),
    ...(offset === null ? ['packets of one direction only were matched: the clocks cannot be compared'] : []),
  ];
  return {
    matched,
    clock_offset_ms: offset === null ? null : round(offset),
    directions,
    conclusion: conclude(directions, matched),
    confidence: matched >= ENOUGH * 5 ? 'high' : matched >= ENOUGH ? 'medium' : 'low',
    notes,
  };
}

const pairOf = (s: Sighting) =>
  s.source < s.destination ? `${s.source} ${s.destination}` : `${s.destination} ${s.source}`;

function commonPairs(a: readonly Sighting[], b: readonly Sighting[]): ReadonlySet<string> {
  const inA = new Set(a.map(pairOf));
  return new Set(b.map(pairOf).filter((p) => inA.has(p)));
}

/** The address most packets of a capture come from or go to: the machine it was taken on. */
function localAddress(list: readonly Sighting[]): string {
  const counts = new Map<string, number>();
  for (const s of list)
    for (const address of [s.source, s.destination]) counts.set(address, (counts.get(address) ?? 0) + 1);
  // Both ends appear equally often in a single pair; the first sender breaks the tie.
  return [...counts].sort((x, y) => y[1] - x[1])[0]?.[0] ?? '';
}

interface Raw {
  readonly sent: number;
  readonly delays: readonly number[];
  readonly minimum: number | null;
  readonly changed: number;
  readonly reordered: number;
}

function direction(
  senders: readonly Sighting[],
  receivers: readonly Sighting[],
  leaving: (s: Sighting) => boolean,
  from: number,
  to: number,
): Raw {
  const waiting = new Map<string, Sighting[]>();
  for (const s of receivers.filter(leaving)) waiting.set(s.key, [...(waiting.get(s.key) ?? []), s]);
  const delays: number[] = [];
  let [sent, changed, reordered, lastArrival] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  for (const s of senders.filter(leaving)) {
    const arrived = waiting.get(s.key)?.shift();
    // A margin at both edges: what left just before the other capture ended may have arrived unseen.
    if (arrived === undefined && (s.at < from - 1000 || s.at > to - 1000)) continue;
    sent++;
    if (arrived === undefined) continue;
    delays.push(arrived.at - s.at);
    if (arrived.content !== s.content) changed++;
    if (arrived.at < lastArrival) reordered++;
    lastArrival = Math.max(lastArrival, arrived.at);
  }
  return {
    sent,
    delays,
    minimum: delays.length === 0 ? null : delays.reduce((a, b) => Math.min(a, b)),
    changed,
    reordered,
  };
}

function finish(from: string, to: string, raw: Raw, offset: number): Direction {
  const sorted = raw.delays.map((d) => d - offset).sort((a, b) => a - b);
  const at = (q: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0);
  const lost = raw.sent - raw.delays.length;
  return {
    from,
    to,
    sent: raw.sent,
    arrived: raw.delays.length,
    lost,
    loss_pct: raw.sent === 0 ? 0 : round((100 * lost) / raw.sent),
    delay_ms: sorted.length === 0 ? null : { min: at(0), median: at(0.5), p95: at(0.95) },
    changed: raw.changed,
    reordered: raw.reordered,
  };
}

function conclude(directions: readonly Direction[], matched: number): string {
  if (matched === 0)
    return 'The same machines talk in both captures, but no packet was seen at both: everything is lost between the two points, or the captures are of different times.';
  const said = directions.flatMap((d) => {
    const where = `between ${d.from} and ${d.to}, in the direction ${d.from} → ${d.to}`;
    return [
      ...(d.loss_pct >= 1 ? [`${d.loss_pct} % of packets are lost ${where}`] : []),
      ...(d.changed > 0 ? [`${d.changed} packets are altered ${where}`] : []),
      ...((d.delay_ms?.median ?? 0) >= BIG_DELAY_MS
        ? [`packets are delayed by ${d.delay_ms!.median} ms (median) ${where}`]
        : []),
      ...(d.reordered * 100 > d.arrived ? [`${d.reordered} packets overtake others ${where}`] : []),
    ];
  });
  return said.length === 0
    ? 'Nothing is lost, delayed or altered between the two points.'
    : `${said.join('; ')}.`;
}

const round = (n: number) => Math.round(n * 1000) / 1000;
