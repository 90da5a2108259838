import { type DnsFacts, LIST_BOUND } from '../analysis.ts';
import type { NameRecord } from './dns-facts.ts';

/** Second-level names under which organisations register, so that the parent is one label further left. */
const SHARED_SECOND = new Set(['co', 'com', 'org', 'net', 'ac', 'gov', 'edu']);

interface Parent {
  queries: number;
  names: number;
  longest: number;
  length: number;
  txtOrNull: number;
  text: string;
  readonly frames: number[];
}

/** Names grouped by the domain they were registered under: tunnels show as many long, unlike names below one. */
export function parentsOf(names: readonly NameRecord[]): DnsFacts['parents'] {
  const parents = new Map<string, Parent>();
  for (const entry of names) {
    if (entry.queries === 0) continue;
    const labels = entry.name.split('.');
    const depth = parentDepth(labels);
    const key = labels.slice(-depth).join('.');
    let parent = parents.get(key);
    if (parent === undefined) {
      parent = { queries: 0, names: 0, longest: 0, length: 0, txtOrNull: 0, text: '', frames: [] };
      parents.set(key, parent);
    }
    const below = labels.slice(0, -depth);
    parent.queries += entry.queries;
    parent.names++;
    parent.length += entry.name.length;
    parent.txtOrNull += entry.txtOrNull;
    for (const label of below) parent.longest = Math.max(parent.longest, label.length);
    if (parent.text.length < 4096) parent.text += below.join('');
    if (parent.frames.length < 5) parent.frames.push(...entry.frames.slice(0, 5 - parent.frames.length));
  }
  const rows = [...parents].sort((a, b) => b[1].names - a[1].names || (a[0] < b[0] ? -1 : 1));
  return {
    total: rows.length,
    items: rows.slice(0, LIST_BOUND).map(([parent, p]) => ({
      parent,
      queries: p.queries,
      distinct_names: p.names,
      longest_label: p.longest,
      mean_name_length: p.length / p.names,
      txt_or_null: p.txtOrNull,
      entropy: entropyOf(p.text),
      sample_frames: p.frames.sort((a, b) => a - b),
    })),
  };
}

function parentDepth(labels: readonly string[]): number {
  const second = labels.at(-2);
  const country = labels.at(-1)?.length === 2;
  return labels.length > 2 && country && second !== undefined && SHARED_SECOND.has(second) ? 3 : 2;
}

function entropyOf(text: string): number {
  if (text.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
