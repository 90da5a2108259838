/**
 * YAML or JSON documents written by people: one way to read them, with the place of every mistake.
 * A second door of `core`, apart from the first so that commands without documents never load YAML or zod.
 *
 * DOC1 Unknown keys, wrong types and duplicates are errors with file, line, column and what to write.
 * DOC2 Size and alias expansion are bounded: a YAML bomb is refused, not expanded.
 * DOC3 What the parser only warns of (a tag it does not know) is a mistake: nothing is read by guessing.
 * DOC4 A valid JSON document is read by JSON.parse; positions are worked out only when somebody asks.
 */
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from 'yaml';
import {
  ZodArray,
  ZodDefault,
  type ZodError,
  ZodNullable,
  ZodObject,
  ZodOptional,
  ZodRecord,
  type ZodType,
} from 'zod';
import { CODES, invalid } from './errors.ts';

export interface DocumentOptions {
  readonly file: string;
  /** Error code for mistakes in it: CODES.invalid_policy, invalid_plan, invalid_config … */
  readonly code?: number;
  readonly maxBytes?: number;
  /** Large machine-made documents: read JSON as JSON. Duplicate keys then count as JSON has them (the last). */
  readonly plainJson?: boolean;
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

export function readDocument<T>(text: string, schema: ZodType<T>, options: DocumentOptions): ReadDocument<T> {
  const code = options.code ?? CODES.invalid_config;
  const { file } = options;
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  if (text.length > maxBytes) {
    throw invalid(
      code,
      { file },
      `is larger than ${maxBytes} bytes`,
      'split it, or check that it is the right file',
    );
  }
  const quick = readJson(text, schema, options.plainJson ?? false);
  if (quick !== undefined) {
    // Parsed again as YAML the first time somebody asks where something is written.
    let positions: Parsed | undefined;
    return {
      value: quick,
      place: (path) => {
        positions ??= parseYaml(text, code, file);
        return placeOf(positions.document, positions.lines, path);
      },
    };
  }
  const { document, lines } = parseYaml(text, code, file);
  const place = (path: readonly PropertyKey[]) => placeOf(document, lines, path);
  const result = schema.safeParse(toValue(document, code, file));
  if (!result.success) throw explain(result.error, schema, place, code, file);
  return { value: result.data, place };
}

interface Parsed {
  readonly document: Document;
  readonly lines: LineCounter;
}

function parseYaml(text: string, code: number, file: string): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    strict: true,
  });
  const mistake = document.errors[0] ?? document.warnings[0];
  if (mistake) {
    const { line, col } = lines.linePos(mistake.pos[0]);
    throw invalid(code, { file, line, column: col }, oneLine(mistake.message), 'mend the YAML at that place');
  }
  return { document, lines };
}

/** Only a document that is JSON and valid; every mistake is left to the reader that knows its place. */
function readJson<T>(text: string, schema: ZodType<T>, wanted: boolean): T | undefined {
  if (!wanted || !/^\s*[{[]/.test(text)) return undefined;
  try {
    const result = schema.safeParse(JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

function toValue(document: Document, code: number, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw invalid(
      code,
      { file },
      oneLine(String(error)),
      'write the repeated parts out instead of using aliases',
    );
  }
}

/** The first mistake in the words of the file, with what would have been right. */
function explain(
  error: ZodError,
  schema: ZodType,
  place: ReadDocument<unknown>['place'],
  code: number,
  file: string,
) {
  const issue = deepest(error.issues as readonly Issue[]);
  const where = issue?.path ?? [];
  const name = where.length === 0 ? 'the document' : where.map(String).join('.');
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys?.[0] ?? '?';
    const at = place([...where, key]);
    return invalid(
      code,
      { file, line: at.line, column: at.column },
      `unknown key "${key}" in ${name}`,
      spelling(key, knownKeys(schema, where)),
    );
  }
  const at = place(where);
  const message = oneLine(issue?.message ?? 'is not valid');
  return invalid(code, { file, line: at.line, column: at.column }, `${name}: ${message}`, `correct ${name}`);
}

function spelling(key: string, known: readonly string[]): string {
  if (known.length === 0) return 'remove it, or check the spelling';
  const near = known.find((name) => alike(name, key));
  const list = `known keys here: ${known.join(', ')}`;
  return near === undefined ? `remove it; ${list}` : `write ${near}; ${list}`;
}

/** Close enough to be a slip: the same letters but for separators and case, or one edit apart. */
function alike(a: string, b: string): boolean {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  const [x, y] = [bare(a), bare(b)];
  if (x === y) return true;
  if (Math.abs(x.length - y.length) > 1) return false;
  let i = 0;
  while (i < x.length && i < y.length && x[i] === y[i]) i++;
  const tails = [
    [x.slice(i + 1), y.slice(i + 1)],
    [x.slice(i + 1), y.slice(i)],
    [x.slice(i), y.slice(i + 1)],
    [x.slice(i + 2), y.slice(i + 2)],
  ];
  return tails.some(([p, q]) => p === q);
}

/** The keys a schema knows at a path; none when the schema is open there or of a kind not followed. */
function knownKeys(schema: ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: ZodType | undefined = bare(schema);
  for (const key of path) {
    if (at instanceof ZodObject) at = bare(at.shape[String(key)] as ZodType | undefined);
    else if (at instanceof ZodArray) at = bare(at.element as ZodType);
    else if (at instanceof ZodRecord) at = bare(at.valueType as ZodType);
    else return [];
  }
  return at instanceof ZodObject ? Object.keys(at.shape) : [];
}

function bare(schema: ZodType | undefined): ZodType | undefined {
  let at = schema;
  while (at instanceof ZodOptional || at instanceof ZodNullable || at instanceof ZodDefault)
    at = at.unwrap() as ZodType;
  return at;
}

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly Issue[])[];
}

/** Of a union's alternatives the one that got furthest tells the reader most. */
function deepest(issues: readonly Issue[]): Issue | undefined {
  const first = issues[0];
  if (first?.code !== 'invalid_union' || !first.errors) return first;
  const candidates = first.errors
    .map((alternative) => deepest(alternative))
    .filter((issue): issue is Issue => issue !== undefined)
    .sort((a, b) => b.path.length - a.path.length);
  const best = candidates[0];
  return best && best.path.length > 0 ? { ...best, path: [...first.path, ...best.path] } : first;
}

function placeOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): Place {
  for (let length = path.length; length >= 0; length--) {
    const offset = offsetOf(document, path.slice(0, length));
    if (offset !== undefined) {
      const { line, col } = lines.linePos(offset);
      return { line, column: col };
    }
  }
  return { line: 1, column: 1 };
}

function offsetOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  const parent = document.getIn(path.slice(0, -1), true);
  const key = path.at(-1);
  // The key of a pair is where a person looks, not its value.
  if (isMap(parent)) {
    const pair = parent.items.find(
      (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(key),
    );
    if (pair && isScalar(pair.key)) return pair.key.range?.[0];
  }
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
