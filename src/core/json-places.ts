/**
 * Where things are written in a JSON text. The text has been read by JSON.parse before, so it is known to be
 * well formed; here it is only walked, without recursion and without building anything.
 */

/** Offset of what a path names: the key of a member, the start of an element; of the nearest parent if it is not there. */
export function jsonOffset(text: string, path: readonly PropertyKey[]): number {
  let at = blank(text, 0);
  let found = at;
  for (const part of path) {
    const member = text[at] === '{' ? memberAt(text, at, String(part)) : elementAt(text, at, Number(part));
    if (member === undefined) return found;
    found = member.name;
    at = member.value;
  }
  return found;
}

export interface DuplicateKey {
  readonly key: string;
  readonly offset: number;
}

/** The first key that stands twice in one object. JSON.parse would quietly take the last. */
export function duplicateKey(text: string): DuplicateKey | undefined {
  // One entry for each open bracket: the keys so far, or undefined in a list.
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; ) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = stringEnd(text, at);
        const keys = open.at(-1);
        if (keys && text[blank(text, end)] === ':') {
          const key = keyText(text, at, end);
          if (keys.has(key)) return { key, offset: at };
          keys.add(key);
        }
        at = end;
        break;
      }
      case OPEN_MAP:
        open.push(new Set());
        at++;
        break;
      case OPEN_LIST:
        open.push(undefined);
        at++;
        break;
      case CLOSE_MAP:
      case CLOSE_LIST:
        open.pop();
        at++;
        break;
      default:
        at++;
    }
  }
  return undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

interface Member {
  readonly name: number;
  readonly value: number;
}

function memberAt(text: string, map: number, key: string): Member | undefined {
  for (let at = blank(text, map + 1); text.charCodeAt(at) === QUOTE; ) {
    const end = stringEnd(text, at);
    const value = blank(text, blank(text, end) + 1);
    if (keyText(text, at, end) === key) return { name: at, value };
    at = next(text, value);
  }
  return undefined;
}

function elementAt(text: string, list: number, index: number): Member | undefined {
  if (text[list] !== '[') return undefined;
  let at = blank(text, list + 1);
  for (let i = 0; at < text.length && text[at] !== ']'; i++) {
    if (i === index) return { name: at, value: at };
    at = next(text, at);
  }
  return undefined;
}

/** Past a value and the comma after it. */
function next(text: string, value: number): number {
  const end = blank(text, valueEnd(text, value));
  return text[end] === ',' ? blank(text, end + 1) : end;
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else {
      if (code === OPEN_MAP || code === OPEN_LIST) depth++;
      else if (code === CLOSE_MAP || code === CLOSE_LIST) {
        if (depth === 0) return at;
        depth--;
      } else if (depth === 0 && code === 0x2c) return at;
      at++;
    }
    if (depth === 0 && (code === QUOTE || code === CLOSE_MAP || code === CLOSE_LIST)) return at;
  }
  return at;
}

/** Just past the closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
  return at + 1;
}

function keyText(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : raw;
}

function blank(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}
