/** What a command answered → text, in the formats of the real CLI. Values are plain JSON. */
import type { Json, JsonObject } from '../../core/index.ts';

export type Format = 'json' | 'jsonc' | 'yaml' | 'yamlc' | 'table' | 'tsv' | 'none';

/** Turns a result into the rows of its table; commands without one get a column per simple field. */
export type TableShape = (result: Json) => Json;

export interface Rendering {
  readonly format: Format;
  /** A query keeps the order its author wrote; otherwise keys are sorted. */
  readonly queried: boolean;
  readonly table?: TableShape | undefined;
}

export async function render(result: Json | undefined, how: Rendering): Promise<string> {
  if (result === undefined || result === null) return '';
  switch (how.format) {
    case 'none':
      return '';
    case 'json':
    case 'jsonc':
      return `${JSON.stringify(sorted(result), null, 2)}\n`;
    case 'yaml':
    case 'yamlc':
      return (await import('yaml')).stringify(sorted(result), { aliasDuplicateObjects: false });
    case 'tsv':
      return tsv(result, how.queried);
    case 'table':
      return table(result, how);
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function sorted(value: Json): Json {
  if (isList(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]!)]),
  );
}

/** The CLI is written in Python, and its scalars show it. */
function scalar(value: Json): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  return String(value);
}

function cell(value: Json): string {
  if (isList(value)) return String(value.length);
  return isObject(value) ? '' : scalar(value);
}

function tsv(result: Json, queried: boolean): string {
  const rows = isList(result) ? result : [result];
  return rows.map((row) => `${tsvRow(row, queried)}\n`).join('');
}

function tsvRow(row: Json, queried: boolean): string {
  if (isList(row)) return row.map(cell).join('\t');
  if (isObject(row)) {
    const keys = queried ? Object.keys(row) : Object.keys(row).sort();
    return keys.map((key) => cell(row[key]!)).join('\t');
  }
  return typeof row === 'boolean' ? String(row) : cell(row);
}

const HIDDEN = new Set(['id', 'type', 'etag']);

function table(result: Json, how: Rendering): string {
  const shaped = how.table && !how.queried ? how.table(result) : result;
  const rows = (isList(shaped) ? shaped : [shaped]).map((item) => tableRow(item, !how.queried && !how.table));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  if (columns.length === 0) return '\n';
  const lines = rows.map((row) => columns.map((c) => row.get(c) ?? ''));
  const widths = columns.map((c, i) => Math.max(c.length, ...lines.map((line) => line[i]!.length)));
  const format = (cells: readonly string[]) =>
    cells
      .map((text, i) => text.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  return `${[format(columns), widths.map((w) => '-'.repeat(w)).join('  '), ...lines.map(format)].join('\n')}\n`;
}

function tableRow(item: Json, sortKeys: boolean): Map<string, string> {
  const row = new Map<string, string>();
  if (isList(item)) item.forEach((value, i) => void row.set(`Column${i + 1}`, scalar(value)));
  else if (!isObject(item)) row.set('Result', scalar(item));
  else
    for (const key of sortKeys ? Object.keys(item).sort() : Object.keys(item)) {
      const value = item[key]!;
      if (HIDDEN.has(key) || value === null || typeof value === 'object') continue;
      row.set(key[0]!.toUpperCase() + key.slice(1), scalar(value));
    }
  return row;
}
