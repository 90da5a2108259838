/**
 * YAML or JSON documents written by people: one way to read them, with the place of every mistake.
 * A second door of `core`, apart from the first so that commands without documents never load YAML or zod.
 *
 * DOC1 Unknown keys, wrong types and duplicates are errors with file, line, column and what to write.
 * DOC2 Size, number of tokens, depth and what aliases expand to are bounded: a bomb is refused, not expanded.
 * DOC3 What a parser would let pass or only warn of is a mistake: nothing is read by guessing.
 * DOC4 What is JSON is read as JSON; positions are worked out only when somebody asks.
 */
import type { ZodType } from 'zod';
import { mistakeIn } from './document-mistake.ts';
import { CODES, invalid, type WritError } from './errors.ts';
import { duplicateKey, jsonOffset } from './json-places.ts';
import { readYaml } from './yaml-text.ts';

export { type Mistake, mistakeIn } from './document-mistake.ts';

export interface DocumentOptions {
  readonly file: string;
  /** Error code for mistakes in it: CODES.invalid_policy, invalid_plan, invalid_config … */
  readonly code?: number;
  readonly maxBytes?: number;
}

/** Where a path of the document is written. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface ReadDocument<T> {
  readonly value: T;
  /** Line and column (from 1) of the value at a path, or of its nearest parent. */
  place(path: readonly PropertyKey[]): Place;
}

const MAX_BYTES = 4 * 1024 * 1024;
/** Aliases of plain anchors are fine; a handful of expansions is all an honest file needs. */
const MAX_ALIASES = 100;
/** Deeper than any honest file, and far from what would exhaust whoever walks it. */
const MAX_DEPTH = 100;

export function readDocument<T>(text: string, schema: ZodType<T>, options: DocumentOptions): ReadDocument<T> {
  const code = options.code ?? CODES.invalid_config;
  const { file } = options;
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  const fail = (message: string, suggestion: string, offset?: number) =>
    invalid(code, { file, ...(offset === undefined ? {} : placeAt(text, offset)) }, message, suggestion);
  if (text.length > maxBytes)
    throw fail(`is larger than ${maxBytes} bytes`, 'split it, or check that it is the right file');
  const { raw, offset } = readJson(text, fail) ?? fromYaml(text, fail);
  const place = (path: readonly PropertyKey[]) => placeAt(text, offset(path));
  const bulk = bulkMistake(raw, maxBytes);
  if (bulk) throw fail(bulk.message, bulk.suggestion, offset(bulk.path));
  const result = schema.safeParse(raw);
  if (result.success) return { value: result.data, place };
  const { path, message, suggestion } = mistakeIn(result.error, schema, raw);
  throw fail(message, suggestion, offset(path));
}

type Fail = (message: string, suggestion: string, offset?: number) => WritError;
interface Raw {
  readonly raw: unknown;
  offset(path: readonly PropertyKey[]): number;
}

function readJson(text: string, fail: Fail): Raw | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    // YAML begins like this too, and its reader knows the place of a mistake.
    return undefined;
  }
  const twice = duplicateKey(text);
  if (twice) throw fail(`the key "${twice.key.slice(0, 60)}" stands twice`, 'keep one of them', twice.offset);
  return { raw, offset: (path) => jsonOffset(text, path) };
}

function fromYaml(text: string, fail: Fail): Raw {
  const read = readYaml(text);
  if (!read.ok) throw fail(oneLine(read.message), read.suggestion, read.offset);
  try {
    return { raw: read.document.toJS({ maxAliasCount: MAX_ALIASES }), offset: read.offset };
  } catch (error) {
    if (error instanceof RangeError) throw fail('is nested too deeply to be read', 'flatten it');
    throw fail(
      `its aliases cannot be expanded: ${oneLine(String((error as Error).message))}`,
      'write the repeated parts out instead of using aliases',
    );
  }
}

interface Bulk {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly suggestion: string;
}

/** Aliases share what they repeat, so only a walk tells how much there is; it ends at the bound. */
function bulkMistake(raw: unknown, maxBytes: number): Bulk | undefined {
  let left = maxBytes;
  const visit = (value: unknown, path: PropertyKey[]): Bulk | undefined => {
    left -= typeof value === 'string' ? value.length : 1;
    if (left < 0)
      return {
        path: [],
        message: `holds more than ${maxBytes} bytes once its aliases are expanded`,
        suggestion: 'write the repeated parts out instead of using aliases',
      };
    if (typeof value !== 'object' || value === null) return undefined;
    if (path.length >= MAX_DEPTH)
      return {
        path: path.slice(0, 4),
        message: `is nested more than ${MAX_DEPTH} deep, or holds itself`,
        suggestion: 'flatten it',
      };
    for (const [key, item] of Object.entries(value)) {
      path.push(key);
      // It would be taken for the object's prototype, or quietly left out, further on.
      if (key === '__proto__')
        return { path: [...path], message: 'the key "__proto__" is never read', suggestion: 'remove it' };
      const bulk = visit(item, path);
      if (bulk) return bulk;
      path.pop();
    }
    return undefined;
  };
  return visit(raw, []);
}

function placeAt(text: string, offset: number): Place {
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < start; at = text.indexOf('\n', at + 1)) line++;
  return { line, column: offset - start + 1 };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
