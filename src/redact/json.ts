import type { Json } from '../core/index.ts';
import { type KeyMeaning, keyMeaning } from './key-names.ts';
import { placeholder } from './placeholder.ts';
import { HEAD, plausible } from './plausible.ts';
import { redact } from './redact.ts';
import type { RedactionCategory } from './types.ts';

/** A value of the same shape with every secret in it replaced. */
export interface JsonRedaction {
  readonly value: Json;
  readonly count: number;
  readonly categories: readonly RedactionCategory[];
}

/** Deeper than this a value is not looked into but replaced whole: nothing passes unread. */
const DEPTH = 200;

/**
 * Redacts data instead of text: every string, and the values that secret names own (`password`,
 * or `value` beside `"name": "DB_PASSWORD"`). Keys and structure stay.
 */
export function redactJson(value: Json): JsonRedaction {
  const found = new Map<RedactionCategory, number>();
  const note = (category: RedactionCategory, times = 1) =>
    found.set(category, (found.get(category) ?? 0) + times);
  const out = walk(value, undefined, 0);
  return {
    value: out,
    count: [...found.values()].reduce((sum, n) => sum + n, 0),
    categories: [...found.keys()].sort(),
  };

  function walk(node: Json, meaning: KeyMeaning | undefined, depth: number): Json {
    if (depth > DEPTH) {
      note('generic_secret');
      return placeholder('generic_secret');
    }
    if (typeof node === 'string') return text(node, meaning);
    if (typeof node === 'number' && meaning?.strength === 'strong') return text(String(node), meaning);
    if (Array.isArray(node)) return node.map((item: Json) => walk(item, meaning, depth + 1));
    if (typeof node !== 'object' || node === null) return node;
    return members(node as { readonly [key: string]: Json }, depth);
  }

  function members(object: { readonly [key: string]: Json }, depth: number): Json {
    const owner = namedBy(object);
    const entries = Object.entries(object).map(([key, member]): [string, Json] => {
      const meaning = key.toLowerCase() === 'value' ? owner : memberMeaning(key);
      return [text(key, undefined), walk(member, meaning, depth + 1)];
    });
    // fromEntries defines own properties, so a key `__proto__` stays data.
    return Object.fromEntries(entries);
  }

  function text(content: string, meaning: KeyMeaning | undefined): string {
    if (meaning !== undefined && plausible(content.slice(0, HEAD), meaning.strength, true)) {
      // A connection string or header says more than "secret": redact inside it when that finds something.
      const inner = redact(content);
      if (inner.count > 0 && meaning.strength === 'weak') {
        for (const category of inner.categories) note(category);
        return inner.text;
      }
      note(meaning.category);
      return placeholder(meaning.category);
    }
    const { text: clean, count, categories } = redact(content);
    for (const category of categories) note(category, 1);
    if (count > categories.length && categories[0] !== undefined)
      note(categories[0], count - categories.length);
    return clean;
  }
}

/** The same few members come again and again. Cleared when full: hostile names cost what they always cost. */
const known = new Map<string, KeyMeaning | undefined>();
const MAX_KNOWN = 1000;

/** For names of members only: a piece cut out of a text would keep the whole text in memory. */
function memberMeaning(key: string): KeyMeaning | undefined {
  const before = known.get(key);
  if (before !== undefined || known.has(key)) return before;
  const found = keyMeaning(key);
  if (known.size >= MAX_KNOWN) known.clear();
  if (key.length <= 128) known.set(key, found);
  return found;
}

/** The meaning that `name` (or `key`) gives to `value` in the same object. */
function namedBy(object: { readonly [key: string]: Json }): KeyMeaning | undefined {
  for (const [key, member] of Object.entries(object))
    if (typeof member === 'string' && /^(?:name|key|keyName|variable|setting)$/i.test(key)) {
      const meaning = keyMeaning(member);
      if (meaning !== undefined) return meaning;
    }
  return undefined;
}
