import { type DnsFacts, LIST_BOUND } from '../analysis.ts';
import { NAME, type NameTable } from './name-table.ts';

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
export function parentsOf(table: NameTable): DnsFacts['parents'] {
  const parents = new Map<string, Parent>();
  table.names.forEach((name, number) => {
    const queries = table.count(number, NAME.queries);
    if (queries === 0) return;
    const cut = parentStart(name);
    const key = name.slice(cut);
    let parent = parents.get(key);
    if (parent === undefined) {
      parent = { queries: 0, names: 0, longest: 0, length: 0, txtOrNull: 0, text: '', frames: [] };
      parents.set(key, parent);
    }
    parent.queries += queries;
    parent.names++;
    parent.length += name.length;
    parent.txtOrNull += table.txtOrNull(number);
    parent.longest = Math.max(parent.longest, longestLabel(name, cut - 1));
    if (parent.text.length < 4096 && cut > 0) parent.text += name.slice(0, cut - 1).replaceAll('.', '');
    if (parent.frames.length < 5)
      parent.frames.push(...table.frames(number, NAME.queries).slice(0, 5 - parent.frames.length));
  });
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

/** Where the last two labels start, or the last three where organisations register below a shared second one. */
function parentStart(name: string): number {
  const last = name.lastIndexOf('.');
  const second = dotBefore(name, last);
  if (second < 0) return 0;
  const shared = name.length - last - 1 === 2 && SHARED_SECOND.has(name.slice(second + 1, last));
  return 1 + (shared ? dotBefore(name, second) : second);
}

/** The dot before another one, or -1. */
function dotBefore(name: string, dot: number): number {
  return dot <= 0 ? -1 : name.lastIndexOf('.', dot - 1);
}

/** Length of the longest label before `end`. */
function longestLabel(name: string, end: number): number {
  let longest = 0;
  for (let from = 0; from < end; ) {
    const dot = name.indexOf('.', from);
    longest = Math.max(longest, dot - from);
    from = dot + 1;
  }
  return longest;
}

function entropyOf(text: string): number {
  if (text.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
