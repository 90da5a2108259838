import { type Json, parseJson } from '../../core/index.ts';
import type { OutputMetadata } from '../types.ts';
import { countLines, fits, MAX_CHARS, MAX_LINES } from './limits.ts';
import { truncateJson } from './truncate-json.ts';

/** Shortened text and what became of it. */
export interface Truncated {
  readonly text: string;
  readonly applied: boolean;
  readonly type: OutputMetadata['output_type'];
  readonly itemsTotal: number | null;
  readonly itemsShown: number | null;
  /** Lines of the original that are shown; lines of the result when it was written anew as JSON. */
  readonly linesShown: number;
}

const LOG_HEAD = 20;
const LOG_TAIL = 10;
const MAX_LINE = 2_000;

/** Shortens text by what it is. What fits is left exactly as it was. */
export function truncate(text: string): Truncated {
  const { type, json } = detect(text);
  if (fits(text)) {
    const items = Array.isArray(json) ? json.length : null;
    return { text, applied: false, type, itemsTotal: items, itemsShown: items, linesShown: countLines(text) };
  }
  switch (type) {
    case 'json_array':
    case 'json_object': {
      const short = truncateJson(json ?? null);
      return { ...short, applied: true, type, linesShown: countLines(short.text) };
    }
    case 'table':
      return headAndTail(text, type, MAX_LINES - 1, 0);
    case 'log':
      return headAndTail(text, type, LOG_HEAD, LOG_TAIL);
    case 'text':
    case 'empty':
    case 'binary':
      return headAndTail(text, type, 150, 40);
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
  const first = firstLines(trimmed, 40);
  if (first.length > 2 && /^[-=+|\s]{3,512}$/.test(first[1]!) && first[1]!.includes('--'))
    return { type: 'table' };
  const dated = first.filter((line) => LOG_LINE.test(line.slice(0, 200))).length;
  return { type: dated * 2 >= first.length && first.length > 3 ? 'log' : 'text' };
}

const LOG_LINE = /\d{2}:\d{2}:\d{2}|^\d{4}-\d{2}-\d{2}|\b(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b/;

function firstLines(text: string, count: number): string[] {
  const lines: string[] = [];
  for (let from = 0; lines.length < count && from <= text.length; ) {
    const end = text.indexOf('\n', from);
    lines.push(text.slice(from, end < 0 ? undefined : end));
    if (end < 0) break;
    from = end + 1;
  }
  return lines;
}

/**
 * The first and the last lines with one between that says how much is missing. Fewer of them until it fits:
 * whole lines are worth more than many cut ones.
 */
function headAndTail(text: string, type: Truncated['type'], head: number, tail: number): Truncated {
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  let [first, last] = [head, tail];
  for (;;) {
    const omitted = Math.max(0, all.length - first - last);
    const kept = omitted === 0 ? [all, []] : [all.slice(0, first), last > 0 ? all.slice(-last) : []];
    const marker = omitted === 0 ? [] : [`[… ${omitted} of ${all.length} lines omitted …]`];
    const result = [...kept[0]!.map(shortLine), ...marker, ...kept[1]!.map(shortLine)].join('\n');
    if (result.length <= MAX_CHARS || first <= 1)
      return {
        text: result,
        applied: true,
        type,
        itemsTotal: null,
        itemsShown: null,
        linesShown: kept[0]!.length + kept[1]!.length,
      };
    // All lines together may be few but long: halve what is shown of them, not their number below one.
    const shown = kept[0]!.length + kept[1]!.length;
    const scale = Math.min(0.8, (MAX_CHARS / result.length) * 0.95);
    first = Math.max(1, Math.floor(Math.min(first, shown) * scale));
    last = Math.floor(Math.min(last, shown) * scale);
  }
}

function shortLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  return `${line.slice(0, MAX_LINE).toWellFormed()}… [${line.length - MAX_LINE} characters omitted]`;
}
