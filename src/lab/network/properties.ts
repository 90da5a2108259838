import type { Link } from '../world/types.ts';
import { stableNumber } from './service-tags.ts';
import type { Node, PathProperties, Station } from './types.ts';

/** What the wires of a path do together. Losses are independent, delays add up, the narrowest part decides. */
export function propertiesOf(stations: readonly Station[], end: Node): PathProperties {
  const links = stations.flatMap((s) => (s.kind === 'link' ? [{ vm: s.vm, link: s.link }] : []));
  const narrow = links.reduce<{ vm: string; link: Link } | null>(
    (best, next) => (next.link.mtu < (best?.link.mtu ?? 1500) ? next : best),
    null,
  );
  const rates = links.flatMap(({ link }) => (link.rate_mbit === null ? [] : [link.rate_mbit]));
  return {
    lossPct: together(links.map((l) => l.link.loss_pct)),
    corruptPct: together(links.map((l) => l.link.corrupt_pct)),
    reorderPct: together(links.map((l) => l.link.reorder_pct)),
    delayMs: links.reduce((sum, l) => sum + l.link.delay_ms, distance(stations, end)),
    jitterMs: links.reduce((sum, l) => sum + l.link.jitter_ms, 0),
    rateMbit: rates.length === 0 ? null : Math.min(...rates),
    mtu: narrow?.link.mtu ?? 1500,
    mtuAt: narrow?.vm ?? null,
    fragNeededTold: narrow?.link.icmp_frag_needed ?? true,
  };
}

function together(percentages: readonly number[]): number {
  const passes = percentages.reduce((left, pct) => left * (1 - pct / 100), 1);
  return Math.round((1 - passes) * 100 * 1e6) / 1e6;
}

/** One-way milliseconds that no link of the world explains: the fabric, other regions, the internet. */
function distance(stations: readonly Station[], end: Node): number {
  let ms = 0.3;
  for (const station of stations) {
    if (station.kind === 'forward') ms += 0.3;
    if (station.kind === 'peering') ms += station.sameRegion ? 0.2 : betweenRegions(station.from, station.to);
  }
  switch (end.kind) {
    case 'internet':
      return ms + 7;
    case 'onprem':
    case 'local':
      return ms + 9;
    case 'storage':
      return ms + 0.5;
    case 'vm':
    case 'platform':
    case 'nobody':
      return ms;
  }
}

function betweenRegions(a: string, b: string): number {
  return 8 + (stableNumber([a, b].sort().join('|')) % 400) / 10;
}
