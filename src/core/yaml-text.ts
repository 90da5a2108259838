import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  Lexer,
  type Node,
  parseDocument,
} from 'yaml';

/** A YAML text that has been read, or what is wrong with it and where. */
export type YamlText =
  | { readonly ok: true; readonly document: Document; offset(path: readonly PropertyKey[]): number }
  | {
      readonly ok: false;
      readonly message: string;
      readonly suggestion: string;
      readonly offset?: number;
    };

/** Reading YAML takes some 600 bytes and 3 µs a token. Honest files are far below; JSON has no such bound. */
const MAX_TOKENS = 1_000_000;
/** No text has more tokens than twice its characters: shorter ones need not be counted. */
const TOKENS_A_CHARACTER = 2;

/**
 * Y1 How much there is to read is known before anything is built from it.
 * Y2 A key that stands twice, and what the parser only warns of (a tag it does not know), is a mistake.
 */
export function readYaml(text: string): YamlText {
  if (text.length * TOKENS_A_CHARACTER > MAX_TOKENS && tokensExceed(text, MAX_TOKENS))
    return {
      ok: false,
      message: `has more than ${MAX_TOKENS} words and marks, too many for YAML`,
      suggestion: 'write it as JSON, or split it',
    };
  let document: Document;
  try {
    // The parser looks for repeated keys by comparing each with each, so this is done below.
    document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, strict: true });
  } catch (error) {
    if (error instanceof RangeError) return { ...TOO_DEEP };
    throw error;
  }
  const mistake = document.errors[0] ?? document.warnings[0];
  if (mistake) {
    if (/call stack/.test(mistake.message)) return { ...TOO_DEEP, offset: mistake.pos[0] };
    const message = mistake.code === 'MULTIPLE_DOCS' ? 'holds more than one document' : mistake.message;
    return { ok: false, message, suggestion: 'mend the YAML at that place', offset: mistake.pos[0] };
  }
  const twice = repeatedKey(document);
  if (twice)
    return {
      ok: false,
      message: `the key "${String(twice.value).slice(0, 60)}" stands twice`,
      suggestion: 'keep one of them',
      offset: twice.range?.[0] ?? 0,
    };
  return { ok: true, document, offset: (path) => offsetOf(document, path) };
}

const TOO_DEEP = {
  ok: false,
  message: 'is nested too deeply to be read',
  suggestion: 'flatten it, or check that it is the right file',
} as const;

function tokensExceed(text: string, max: number): boolean {
  let count = 0;
  for (const _token of new Lexer().lex(text)) if (++count > max) return true;
  return false;
}

function repeatedKey(document: Document) {
  const waiting: unknown[] = [document.contents];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!isCollection(node)) continue;
    const keys = isMap(node) ? new Set<unknown>() : undefined;
    for (const item of node.items) {
      if (!isPair(item)) {
        waiting.push(item);
        continue;
      }
      waiting.push(item.key, item.value);
      if (keys === undefined || !isScalar(item.key)) continue;
      // As a key of an object the number 1 and the text "1" are the same.
      const key = String(item.key.value);
      if (keys.has(key)) return item.key;
      keys.add(key);
    }
  }
  return undefined;
}

/** Where a path is written, or its nearest parent. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const offset = exactOffset(document, path.slice(0, length));
    if (offset !== undefined) return offset;
  }
  return document.contents?.range?.[0] ?? 0;
}

function exactOffset(document: Document, path: readonly PropertyKey[]): number | undefined {
  const parent = document.getIn(path.slice(0, -1), true);
  const key = String(path.at(-1));
  // The key of a pair is where a person looks, not its value.
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
    if (pair && isScalar(pair.key)) return pair.key.range?.[0];
  }
  const node = document.getIn(path, true);
  return isNode(node) ? (node as Node).range?.[0] : undefined;
}
