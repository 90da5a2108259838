import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import { redact, redactJson } from '../../redact/index.ts';

/**
 * The texts of a request or answer: redacted, rewritten and read by one walk over the data.
 *
 * T1 Every string is looked at, but for the providers' own sealed data, which would be useless if a single
 *    character of it changed. Identifiers and the names of members are looked at for secrets only.
 * T2 Arguments and results of tools are data of their own: names like `password` own their values there.
 * T3 What nothing was changed in is the same object afterwards.
 */
export interface Cleaned {
  readonly value: Json;
  readonly redactions: number;
}

const SEALED = new Set(['thoughtSignature', 'thought_signature', 'encrypted_content', 'b64_json']);
const NAMES = new Set([
  'id',
  'tool_call_id',
  'call_id',
  'item_id',
  'previous_response_id',
  'model',
  'role',
  'type',
  'object',
]);
const DATA = new Set(['args', 'response']);
/** Raw media: the member that holds bytes, by the member around it. */
const MEDIA: Readonly<Record<string, string>> = {
  inlineData: 'data',
  inline_data: 'data',
  input_audio: 'data',
  file: 'file_data',
};
const MAX_DEPTH = 200;

function isSealed(key: string, parent: string, text: string): boolean {
  if (SEALED.has(key) || MEDIA[parent] === key) return true;
  // Numbers packed as text, as embeddings come when they are asked for in base64.
  if (key === 'embedding' && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return true;
  return (key === 'url' || key === 'image_url') && text.startsWith('data:');
}

function isName(key: string, text: string): boolean {
  return NAMES.has(key) && text.length <= 128 && /^[\w.:/-]*$/.test(text);
}

/** What is done with each text, and with the whole value of a tool's arguments or result. */
interface Change {
  readonly text: (text: string) => string;
  readonly data: (value: JsonObject) => Json;
  /** Identifiers and names of members; they stay as they are without it. */
  readonly name?: (name: string) => string;
}

/** No secret that could be known by itself is shorter. */
const SHORT_NAME = 12;

function mapTexts(node: Json, change: Change, key = '', parent = '', depth = 0): Json {
  if (depth > MAX_DEPTH) throw new RangeError('the request is nested too deeply');
  if (typeof node === 'string') {
    if (isSealed(key, parent, node)) return node;
    return isName(key, node) ? named(node, change) : change.text(node);
  }
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) {
    const items = node as readonly Json[];
    const mapped = items.map((item) => mapTexts(item, change, key, parent, depth + 1));
    return mapped.every((item, i) => item === items[i]) ? node : mapped;
  }
  const members = Object.entries(node);
  let copy: [string, Json][] | undefined;
  for (const [i, [name, member]] of members.entries()) {
    const data = DATA.has(name) && isJsonObject(member) && /^function_?(call|response)$/i.test(key);
    const mapped = data ? change.data(member) : mapTexts(member, change, name, key, depth + 1);
    const shown = named(name, change);
    if (mapped === member && shown === name) continue;
    copy ??= [...members];
    copy[i] = [shown, mapped];
  }
  // fromEntries defines own properties, so a key `__proto__` stays data.
  return copy === undefined ? node : Object.fromEntries(copy);
}

function named(name: string, change: Change): string {
  return change.name === undefined || name.length < SHORT_NAME ? name : change.name(name);
}

export function redactTexts(value: Json): Cleaned {
  let redactions = 0;
  const text = (found: string): string => {
    const clean = redact(found);
    redactions += clean.count;
    return clean.text;
  };
  const clean = mapTexts(value, {
    text,
    name: text,
    data: (data) => {
      const found = redactJson(data);
      redactions += found.count;
      return found.count === 0 ? data : found.value;
    },
  });
  return { value: clean, redactions };
}

export interface Rewrite {
  readonly name: string;
  readonly replace: string;
  readonly with: string;
}

/** Literal replacements in order; answers which of them changed anything. */
export function rewriteTexts(
  value: Json,
  rewrites: readonly Rewrite[],
): { readonly value: Json; readonly applied: readonly string[] } {
  if (rewrites.length === 0) return { value, applied: [] };
  const applied = new Set<string>();
  const text = (found: string): string => {
    let out = found;
    for (const { name, replace, with: instead } of rewrites) {
      if (!out.includes(replace)) continue;
      out = out.replaceAll(replace, () => instead);
      applied.add(name);
    }
    return out;
  };
  const change: Change = { text, data: (data) => mapTexts(data, change) };
  return { value: mapTexts(value, change), applied: [...applied] };
}

/** All texts in one, for rules that look for words: names and sealed data left out. */
export function textOf(value: Json): string {
  let all = '';
  const text = (found: string) => {
    all += all === '' ? found : `\n${found}`;
    return found;
  };
  const change: Change = { text, data: (data) => mapTexts(data, change) };
  mapTexts(value, change);
  return all;
}
