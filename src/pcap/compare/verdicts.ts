/** What the figures of a dual-end comparison mean, each with how sure one can be. */
import type { Direction } from './direction.ts';
import type { Confidence } from './dual-end.ts';

export interface Verdict {
  readonly what: 'blocked' | 'lost' | 'delayed' | 'altered' | 'reordered' | 'injected';
  /** The stretch of network and the direction; `A ↔ B` where the direction cannot be known. */
  readonly segment: 'A → B' | 'B → A' | 'A ↔ B';
  readonly statement: string;
  readonly confidence: Confidence;
  /** Frames to look at, in the capture the letter names. */
  readonly frames: { readonly capture: 'A' | 'B'; readonly numbers: readonly number[] } | null;
}

export interface Basis {
  readonly matched: number;
  readonly offset: number | null;
  readonly roundTrip: number | null;
  readonly doubtful: boolean;
}

/** Within a site a few milliseconds are usual; waiting of this length in queues is felt. */
const LONG_ROUND_TRIP_MS = 30;
const LONG_WAIT_MS = 15;
const MIN_LOSS_PCT = 0.5;

export function verdictsOf(directions: readonly Direction[], basis: Basis): readonly Verdict[] {
  const found = directions.flatMap((d) => ofDirection(d, basis));
  if ((basis.roundTrip ?? 0) >= LONG_ROUND_TRIP_MS)
    found.push({
      what: 'delayed',
      segment: 'A ↔ B',
      statement: `packets need at least ${basis.roundTrip!.toFixed(1)} ms there and back between A and B (how it divides between the directions cannot be known)`,
      confidence: sure(basis.matched, basis),
      frames: null,
    });
  return found;
}

function ofDirection(d: Direction, basis: Basis): Verdict[] {
  const segment = d.from === 'A' ? 'A → B' : 'B → A';
  const where = `between ${d.from} and ${d.to}, in the direction ${segment}`;
  const sent = (numbers: readonly number[]) => ({ capture: d.from, numbers });
  const arrived = (numbers: readonly number[]) => ({ capture: d.to, numbers });
  const wait = d.delay_ms === null ? 0 : d.delay_ms.p95 - d.delay_ms.min;
  const out: Verdict[] = d.blocked.map((b) => ({
    what: 'blocked',
    segment,
    statement: `nothing of ${b.service} arrives: all ${b.sent} packets are lost ${where}`,
    confidence: basis.matched === 0 ? (b.sent >= 10 ? 'medium' : 'low') : b.sent >= 10 ? 'high' : 'medium',
    frames: sent(d.lost_frames),
  }));
  const blocked = d.blocked.reduce((n, b) => n + b.sent, 0);
  const lost = d.lost - blocked;
  const pct = d.sent === blocked ? 0 : (100 * lost) / (d.sent - blocked);
  if (lost > 0 && pct >= MIN_LOSS_PCT)
    out.push({
      what: 'lost',
      segment,
      statement: `${pct.toFixed(1)} % of packets (${lost} of ${d.sent - blocked}) are lost ${where}${d.size_limit ? `; only large ones: nothing above ${d.size_limit.largest_arrived} bytes of payload arrives, so a link there has a smaller MTU` : ''}`,
      confidence: lost >= 3 ? sure(d.sent, basis) : 'low',
      frames: sent(d.lost_frames),
    });
  if (d.changed > 0)
    out.push({
      what: 'altered',
      segment,
      statement: `${d.changed} of ${d.arrived} packets are altered ${where}`,
      confidence: sure(d.arrived, basis),
      frames: arrived(d.changed_frames),
    });
  if (wait >= LONG_WAIT_MS)
    out.push({
      what: 'delayed',
      segment,
      statement: `packets wait up to ${wait.toFixed(1)} ms (p95) on top of the shortest delay ${where}`,
      confidence: sure(d.arrived, basis),
      frames: null,
    });
  if (d.reordered >= 3 && d.reordered * 200 >= d.arrived)
    out.push({
      what: 'reordered',
      segment,
      statement: `${d.reordered} of ${d.arrived} packets overtake others ${where}`,
      confidence: sure(d.arrived, basis),
      frames: null,
    });
  if (d.injected >= 1 && !basis.doubtful)
    out.push({
      what: 'injected',
      segment,
      statement: `${d.injected} packet(s) arrive at ${d.to} that never left ${d.from}: something ${where} made or rewrote them`,
      confidence: d.injected >= 3 ? sure(d.arrived, basis) : 'low',
      frames: arrived(d.injected_frames),
    });
  return out;
}

function sure(evidence: number, basis: Basis): Confidence {
  const level = evidence >= 100 ? 2 : evidence >= 20 ? 1 : 0;
  return (['low', 'medium', 'high'] as const)[Math.max(0, level - (basis.doubtful ? 1 : 0))]!;
}

const RANK = { high: 2, medium: 1, low: 0 } as const;

export function concludeFrom(
  verdicts: readonly Verdict[],
  basis: Basis,
): { readonly conclusion: string; readonly confidence: Confidence } {
  if (verdicts.length === 0)
    return {
      conclusion: 'Nothing is lost, delayed or altered between the two points.',
      confidence: sure(basis.matched, basis),
    };
  const said = verdicts.map((v) => v.statement).join('; ');
  return {
    conclusion: `${said.charAt(0).toUpperCase()}${said.slice(1)}.`,
    // As sure as of the surest statement: the others carry their own.
    confidence: verdicts.map((v) => v.confidence).sort((a, b) => RANK[b] - RANK[a])[0]!,
  };
}
