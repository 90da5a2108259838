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

/** The first mistake in the words of the file: where it is, what is wrong, what to write instead. */
export interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly suggestion: string;
}

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly errors?: readonly (readonly Issue[])[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly inclusive?: boolean;
}

export function mistakeIn(error: ZodError, schema: ZodType, raw: unknown, whole = 'the document'): Mistake {
  const issue = deepest(error.issues as readonly Issue[]);
  const path = issue?.path ?? [];
  const name = path.length === 0 ? whole : path.map(String).join('.');
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys?.[0] ?? '?';
    return {
      path: [...path, key],
      message: `unknown key "${key}" in ${name}`,
      suggestion: spelling(key, keysAt(schema, path)),
    };
  }
  const value = valueAt(raw, path);
  // A schema's own words say more than ours; zod's own all begin like this.
  const plain = /^(Invalid|Too )/.test(issue?.message ?? '');
  const wanted = plain && issue ? wantedKinds(issue) : [];
  if (wanted.length > 0) return { path, ...wrongKind(name, String(path.at(-1) ?? ''), wanted, value) };
  if (plain && issue?.code === 'invalid_value') {
    const values = (issue.values ?? []).map((one) => JSON.stringify(one));
    return {
      path,
      message: `${name}: ${value === undefined ? 'is missing' : `${shown(value)} is not known`}`,
      suggestion: `write ${values.length === 1 ? values[0] : `one of ${values.join(', ')}`}`,
    };
  }
  if (plain && (issue?.code === 'too_big' || issue?.code === 'too_small'))
    return { path, ...outOfBounds(name, issue, value) };
  const message = (issue?.message ?? 'is not valid').replace(/\s+/g, ' ').trim();
  return { path, message: `${name}: ${message}`, suggestion: `correct ${name}` };
}

/** A wrong key explains a missing one; of a union's alternatives the one that got furthest tells most. */
function deepest(issues: readonly Issue[]): Issue | undefined {
  const first = issues.find((issue) => issue.code === 'unrecognized_keys') ?? issues[0];
  if (first?.code !== 'invalid_union' || !first.errors) return first;
  const candidates = first.errors
    .map((alternative) => deepest(alternative))
    .filter((issue): issue is Issue => issue !== undefined)
    .sort((a, b) => b.path.length - a.path.length);
  const best = candidates[0];
  return best && best.path.length > 0 ? { ...best, path: [...first.path, ...best.path] } : first;
}

/** The kinds of value an issue asks for; none when it is about something else. */
function wantedKinds(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_type') return issue.expected === undefined ? [] : [issue.expected];
  if (issue.code !== 'invalid_union') return [];
  const kinds = (issue.errors ?? []).flatMap((alternative) => alternative.slice(0, 1).flatMap(wantedKinds));
  return [...new Set(kinds)];
}

const KINDS: Record<string, { readonly name: string; readonly write: string }> = {
  array: { name: 'a list', write: '[…]' },
  object: { name: 'a map', write: '{ key: value }' },
  record: { name: 'a map', write: '{ key: value }' },
  string: { name: 'text', write: 'text, in quotes if it looks like a number or a truth value' },
  number: { name: 'a number', write: 'a number, without quotes' },
  int: { name: 'a whole number', write: 'a whole number, without quotes' },
  boolean: { name: 'true or false', write: 'true or false, without quotes' },
};

function wrongKind(name: string, key: string, wanted: readonly string[], value: unknown) {
  const names = wanted.map((kind) => KINDS[kind]?.name ?? kind).join(' or ');
  const found = value === undefined ? 'is missing' : `expected ${names}, found ${shown(value)}`;
  const label = key === '' || /^\d+$/.test(key) ? '' : `${key}: `;
  // One value where a list of such values belongs is the usual slip.
  const listed = wanted.includes('array') && ['string', 'number'].includes(typeof value);
  const forms = wanted.map((kind) => KINDS[kind]?.write ?? kind).join(', or ');
  return {
    message: `${name}: ${found}`,
    suggestion: `write ${label}${listed ? `[${JSON.stringify(value)}]` : forms}`,
  };
}

function outOfBounds(name: string, issue: Issue, value: unknown) {
  const least = issue.code === 'too_small';
  const bound = `${least ? 'at least' : 'at most'} ${least ? issue.minimum : issue.maximum}`;
  const limit =
    issue.inclusive === false
      ? `${least ? 'more than' : 'less than'} ${issue.minimum ?? issue.maximum}`
      : bound;
  if (Array.isArray(value))
    return { message: `${name}: has ${value.length} entries`, suggestion: `write ${limit} entries` };
  if (typeof value === 'string')
    return { message: `${name}: has ${value.length} characters`, suggestion: `write ${limit} characters` };
  return { message: `${name}: ${shown(value)} is out of bounds`, suggestion: `write a number of ${limit}` };
}

function shown(value: unknown): string {
  if (value === null) return 'nothing (null)';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let at = raw;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
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
function keysAt(schema: ZodType, path: readonly PropertyKey[]): readonly string[] {
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
