/** JSON as data: what may be digested, recorded or sent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/**
 * RFC 8785 canonical JSON. ECMAScript already prints numbers and strings the way the RFC wants and
 * orders by UTF-16 code unit, so what is left is key order and refusing what has no canonical form.
 * Members whose value is `undefined` are left out, as in JSON.stringify.
 */
export function canonicalJson(value: unknown): string {
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
  for (let i = 0; i < items.length; i++) out += (i === 0 ? '' : ',') + canonicalJson(items[i]);
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
    out += `${out.length === 1 ? '' : ','}${canonicalJson(key)}:${canonicalJson(value)}`;
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
