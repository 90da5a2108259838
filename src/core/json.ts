/** JSON as data: what may be digested, recorded or sent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/**
 * RFC 8785 canonical JSON. ECMAScript already prints numbers and strings the way the RFC wants and
 * orders by UTF-16 code unit, so what is left is key order and refusing what has no canonical form.
 * Members whose value is `undefined` are left out, as in JSON.stringify.
 */
export function canonicalJson(value: unknown): string {
  const copy = inOrder(value);
  return copy === UNPROVEN ? spelledOut(value) : JSON.stringify(copy);
}

const UNPROVEN = Symbol('unproven');

/**
 * A copy that JSON.stringify prints canonically, which is much faster than piecing the text together; or
 * UNPROVEN for everything unusual: what has no canonical form, and keys that the engine would put elsewhere
 * (numbers come first, `__proto__` is no member).
 */
function inOrder(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : UNPROVEN;
    case 'number':
      return Number.isFinite(value) ? value : UNPROVEN;
    case 'boolean':
      return value;
    case 'object':
      if (value === null) return null;
      return Array.isArray(value) ? arrayInOrder(value) : objectInOrder(value);
    default:
      return UNPROVEN;
  }
}

function arrayInOrder(items: readonly unknown[]): unknown {
  const copy: unknown[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = inOrder(items[i]);
    if (item === UNPROVEN) return UNPROVEN;
    copy.push(item);
  }
  return copy;
}

function objectInOrder(object: object): unknown {
  const kind = Object.getPrototypeOf(object);
  if (kind !== Object.prototype && kind !== null) return UNPROVEN;
  const members = object as Record<string, unknown>;
  const copy: Record<string, unknown> = {};
  for (const key of sorted(Object.keys(members))) {
    const value = members[key];
    if (value === undefined) continue;
    const first = key.charCodeAt(0);
    if ((first >= 0x30 && first <= 0x39) || key === '__proto__' || !key.isWellFormed()) return UNPROVEN;
    const member = inOrder(value);
    if (member === UNPROVEN) return UNPROVEN;
    copy[key] = member;
  }
  return copy;
}

/** In place: for the few keys objects have, the built-in sort spends more on itself than on sorting. */
function sorted(keys: string[]): string[] {
  if (keys.length > 24) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let at = i;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
}

/** Piece by piece, whatever the keys; throws for what has no canonical form. */
function spelledOut(value: unknown): string {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new TypeError('canonical JSON: a string holds a lone surrogate');
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`canonical JSON: ${value} is not a JSON number`);
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      throw new TypeError(`canonical JSON: a ${typeof value} is not JSON`);
  }
}

function canonicalArray(items: readonly unknown[]): string {
  let out = '[';
  for (let i = 0; i < items.length; i++) out += (i === 0 ? '' : ',') + spelledOut(items[i]);
  return `${out}]`;
}

function canonicalObject(object: object): string {
  // A Map, a Date or a Buffer has members of its own kind: two different ones would print the same.
  const kind = Object.getPrototypeOf(object);
  if (kind !== null && kind !== Object.prototype && Object.getPrototypeOf(kind) !== null)
    throw new TypeError(`canonical JSON: a ${object.constructor?.name ?? 'class instance'} is not JSON`);
  const members = object as Record<string, unknown>;
  let out = '{';
  for (const key of Object.keys(members).sort()) {
    const value = members[key];
    if (value === undefined) continue;
    out += `${out.length === 1 ? '' : ','}${spelledOut(key)}:${spelledOut(value)}`;
  }
  return `${out}}`;
}

/** JSON.parse that answers a value or the reason, for text from outside. */
export function parseJson(text: string): { ok: true; value: Json } | { ok: false; reason: string } {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
