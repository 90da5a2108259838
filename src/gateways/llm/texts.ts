import { isJsonObject, type Json } from '../../core/index.ts';
import { redact, redactJson } from '../../redact/index.ts';

/**
 * The texts of a request or answer: redacted, rewritten and read by one walk over the data.
 *
 * T1 Every string is looked at, but for short identifiers and the providers' own sealed data, which would
 *    be useless if a single character of it changed.
 * T2 Arguments and results of tools are data of their own: names like `password` own their values there.
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

function isFixed(key: string, parent: string, text: string): boolean {
  if (SEALED.has(key) || MEDIA[parent] === key) return true;
  if ((key === 'url' || key === 'image_url') && text.startsWith('data:')) return true;
  return NAMES.has(key) && text.length <= 128 && /^[\w.:/-]*$/.test(text);
}

/** Applies `change` to every text and `data` to whole tool values; structure stays. */
function mapTexts(value: Json, change: (text: string) => string, data: (value: Json) => Json): Json {
  const walk = (node: Json, key: string, parent: string, depth: number): Json => {
    if (depth > MAX_DEPTH) throw new RangeError('the request is nested too deeply');
    if (typeof node === 'string') return isFixed(key, parent, node) ? node : change(node);
    if (Array.isArray(node))
      return (node as readonly Json[]).map((item) => walk(item, key, parent, depth + 1));
    if (!isJsonObject(node)) return node;
    return Object.fromEntries(
      Object.entries(node).map(([name, member]) => [
        name,
        DATA.has(name) && isJsonObject(member) && /^function_?(call|response)$/i.test(key)
          ? data(member)
          : walk(member, name, key, depth + 1),
      ]),
    );
  };
  return walk(value, '', '', 0);
}

export function redactTexts(value: Json): Cleaned {
  let redactions = 0;
  const clean = mapTexts(
    value,
    (text) => {
      const found = redact(text);
      redactions += found.count;
      return found.text;
    },
    (data) => {
      const found = redactJson(data);
      redactions += found.count;
      return found.value;
    },
  );
  return { value: clean, redactions };
}

export interface Rewrite {
  readonly name: string;
  readonly replace?: string | undefined;
  readonly with?: string | undefined;
}

/** Literal replacements in order; answers which of them changed anything. */
export function rewriteTexts(
  value: Json,
  rewrites: readonly Rewrite[],
): { readonly value: Json; readonly applied: readonly string[] } {
  const applied = new Set<string>();
  const change = (text: string): string => {
    let out = text;
    for (const { name, replace, with: instead } of rewrites) {
      if (replace === undefined || instead === undefined || !out.includes(replace)) continue;
      out = out.replaceAll(replace, () => instead);
      applied.add(name);
    }
    return out;
  };
  const data = (inner: Json): Json => mapTexts(inner, change, data);
  return { value: mapTexts(value, change, data), applied: [...applied] };
}

/** All texts in one, for rules that look for words: names and sealed data left out. */
export function textOf(value: Json): string {
  const texts: string[] = [];
  const note = (text: string) => {
    texts.push(text);
    return text;
  };
  const data = (inner: Json): Json => mapTexts(inner, note, data);
  mapTexts(value, note, data);
  return texts.join('\n');
}
