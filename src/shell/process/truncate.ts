import { type Json, parseJson } from '../../core/index.ts';
import type { OutputMetadata } from '../types.ts';
import { fits, MAX_CHARS, MAX_LINES } from './limits.ts';
import { truncateJson } from './truncate-json.ts';

/** Shortens text by what it is. What fits is left exactly as it was. */
export interface Truncated {
  readonly text: string;
  readonly applied: boolean;
  readonly type: OutputMetadata['output_type'];
  readonly itemsTotal: number | null;
  readonly itemsShown: number | null;
}

const LOG_HEAD = 20;
const LOG_TAIL = 10;
const MAX_LINE = 2_000;

export function truncate(text: string): Truncated {
  const { type, json } = detect(text);
  if (fits(text)) {
    const items = Array.isArray(json) ? json.length : null;
    return { text, applied: false, type, itemsTotal: items, itemsShown: items };
  }
  switch (type) {
    case 'json_array':
    case 'json_object':
      return { ...truncateJson(json ?? null), applied: true, type };
    case 'table':
      return lines(text, type, MAX_LINES - 1, 0);
    case 'log':
      return lines(text, type, LOG_HEAD, LOG_TAIL);
    default:
      return lines(text, type, 150, 40);
  }
}

function detect(text: string): { readonly type: Truncated['type']; readonly json?: Json } {
  const trimmed = text.trim();
  if (trimmed === '') return { type: 'empty' };
  if (trimmed[0] === '[' || trimmed[0] === '{') {
    const parsed = parseJson(trimmed);
    if (parsed.ok)
      return { type: Array.isArray(parsed.value) ? 'json_array' : 'json_object', json: parsed.value };
  }
  const first = trimmed.split('\n', 40);
  if (first.length > 2 && /^[-=+|\s]{5,}$/.test(first[1]!) && first[1]!.includes('--'))
    return { type: 'table' };
  const dated = first.filter((line) =>
    /\d{2}:\d{2}:\d{2}|^\d{4}-\d{2}-\d{2}|\b(INFO|WARN|ERROR|DEBUG)\b/.test(line),
  ).length;
  return { type: dated * 2 >= first.length && first.length > 3 ? 'log' : 'text' };
}

/** Head and tail with a line between that says how much is missing; long lines are shortened too. */
function lines(text: string, type: Truncated['type'], head: number, tail: number): Truncated {
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  const items = { applied: true, type, itemsTotal: null, itemsShown: null };
  const short = (line: string) =>
    line.length <= MAX_LINE
      ? line
      : `${line.slice(0, MAX_LINE).toWellFormed()}… [${line.length - MAX_LINE} characters omitted]`;
  // Fewer lines until it fits: whole lines are worth more than many cut ones.
  for (
    let keepHead = head, keepTail = tail;
    ;
    keepHead = Math.floor(keepHead * 0.7), keepTail = Math.floor(keepTail * 0.7)
  ) {
    const omitted = Math.max(0, all.length - keepHead - keepTail);
    const kept =
      omitted === 0
        ? all.map(short)
        : [
            ...all.slice(0, keepHead).map(short),
            `[… ${omitted} of ${all.length} lines omitted …]`,
            ...(keepTail > 0 ? all.slice(-keepTail).map(short) : []),
          ];
    const result = kept.join('\n');
    if (result.length <= MAX_CHARS || keepHead <= 1)
      return { ...items, text: result.slice(0, MAX_CHARS + MAX_LINE).toWellFormed() };
  }
}
