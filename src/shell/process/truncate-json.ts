import { isJsonObject, type Json } from '../../core/index.ts';
import { fits, MAX_CHARS } from './limits.ts';

/**
 * Shortens JSON so that it stays JSON: arrays keep their first three items and the last one with a marker
 * between them, objects keep every key down to depth three, long strings keep their beginning.
 */
export interface TruncatedJson {
  readonly text: string;
  readonly itemsTotal: number | null;
  readonly itemsShown: number | null;
}

const HEAD_ITEMS = 3;
const TAIL_ITEMS = 1;
const DEPTH = 3;
/** Tried in turn until the result fits: how much of a string and how many keys of an inner object stay. */
const STEPS = [
  { chars: 2_000, keys: Number.POSITIVE_INFINITY },
  { chars: 400, keys: 60 },
  { chars: 80, keys: 25 },
  { chars: 20, keys: 10 },
] as const;

export function truncateJson(value: Json): TruncatedJson {
  const total = Array.isArray(value) ? value.length : null;
  const shown = total === null ? null : Math.min(total, HEAD_ITEMS + TAIL_ITEMS);
  for (const step of STEPS) {
    const short = shorten(value, 0, step);
    for (const indent of [2, 0]) {
      const text = JSON.stringify(short, null, indent);
      if (fits(text)) return { text, itemsTotal: total, itemsShown: shown };
    }
  }
  const kind = Array.isArray(value) ? `array of ${value.length} items` : 'object';
  return {
    text: JSON.stringify({ _truncated: `${kind}, too large to show: narrow it with --query` }),
    itemsTotal: total,
    itemsShown: total === null ? null : 0,
  };
}

function shorten(value: Json, depth: number, step: (typeof STEPS)[number]): Json {
  if (typeof value === 'string') {
    return value.length <= step.chars
      ? value
      : `${value.slice(0, step.chars).toWellFormed()}… [${value.length - step.chars} characters omitted]`;
  }
  if (Array.isArray(value)) return shortenArray(value, depth, step);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  if (depth >= DEPTH && entries.length > 0) return `{… ${entries.length} keys omitted}`;
  const kept = depth === 0 && entries.length * 4 < MAX_CHARS ? entries : entries.slice(0, step.keys);
  const short = Object.fromEntries(
    kept.map(([key, member]) => [key.slice(0, 200), shorten(member, depth + 1, step)]),
  );
  return kept.length === entries.length
    ? short
    : { ...short, _truncated: `${entries.length - kept.length} keys omitted` };
}

function shortenArray(items: readonly Json[], depth: number, step: (typeof STEPS)[number]): Json {
  if (depth >= DEPTH && items.length > 0) return `[… ${items.length} items omitted]`;
  const inner = (item: Json) => shorten(item, depth + 1, step);
  if (items.length <= HEAD_ITEMS + TAIL_ITEMS) return items.map(inner);
  const omitted = items.length - HEAD_ITEMS - TAIL_ITEMS;
  return [
    ...items.slice(0, HEAD_ITEMS).map(inner),
    `[… ${omitted} items omitted …]`,
    ...items.slice(-TAIL_ITEMS).map(inner),
  ];
}
