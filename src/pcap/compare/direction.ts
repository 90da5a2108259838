/** What happened to the packets of one direction between two points. */
import type { Conversations, SightingColumns } from './sightings.ts';

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

const SAMPLES = 5;

/** One direction; packets are indices into the columns of where they left and of where they arrived. */
export interface Raw {
  readonly from: SightingColumns;
  readonly to: SightingColumns;
  readonly delays: Float64Array;
  /** What left, what arrived of it, and whether it was altered; in the order of leaving. */
  readonly left: Int32Array;
  readonly arrived: Int32Array;
  readonly changed: Uint8Array;
  readonly lost: Int32Array;
  readonly strangers: Int32Array;
}

export function directionOf(from: 'A' | 'B', to: 'A' | 'B', talk: Conversations, raw: Raw): Direction {
  const sorted = raw.delays.sort();
  const at = (q: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0);
  let [reordered, latest] = [0, Number.NEGATIVE_INFINITY];
  for (const i of raw.arrived) {
    const time = raw.to.at[i]!;
    if (time < latest) reordered++;
    latest = Math.max(latest, time);
  }
  const changed = raw.arrived.filter((_, i) => raw.changed[i] === 1);
  const sent = raw.left.length + raw.lost.length;
  const frames = (of: SightingColumns, list: Int32Array) =>
    Array.from(list.subarray(0, SAMPLES), (i) => of.frame[i]!);
  return {
    from,
    to,
    sent,
    arrived: raw.left.length,
    lost: raw.lost.length,
    loss_pct: sent === 0 ? 0 : round((100 * raw.lost.length) / sent),
    delay_ms: sorted.length === 0 ? null : { min: at(0), median: at(0.5), p95: at(0.95) },
    changed: changed.length,
    reordered,
    injected: raw.strangers.length,
    size_limit: sizeLimitOf(raw),
    blocked: blockedOf(raw, talk),
    lost_frames: frames(raw.from, raw.lost),
    changed_frames: frames(raw.to, changed),
    injected_frames: frames(raw.to, raw.strangers),
  };
}

/** A path that loses large packets only has a smaller MTU than its ends believe. */
function sizeLimitOf({ from, left, lost }: Raw): Direction['size_limit'] {
  const arrived = left.reduce((n, i) => Math.max(n, from.length[i]!), 0);
  const smallest = lost.reduce((n, i) => Math.min(n, from.length[i]!), Number.POSITIVE_INFINITY);
  if (lost.length < 3 || left.length < 3 || smallest <= Math.max(arrived, 500)) return null;
  return { largest_arrived: arrived, smallest_lost: smallest };
}

function blockedOf({ from, left, lost }: Raw, talk: Conversations): Direction['blocked'] {
  const arrived = new Set(left.map((i) => from.service[i]!));
  const sent = new Map<number, number>();
  for (const i of lost) {
    const service = from.service[i]!;
    if (!arrived.has(service)) sent.set(service, (sent.get(service) ?? 0) + 1);
  }
  return [...sent]
    .filter(([, n]) => n >= 3)
    .sort((x, y) => y[1] - x[1])
    .slice(0, SAMPLES)
    .map(([service, n]) => ({ service: talk.services[service]!, sent: n }));
}

export const round = (n: number) => Math.round(n * 1000) / 1000;
