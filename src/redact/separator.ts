import { is, skipBack, skipGap, startsLine } from './chars.ts';

/** A name and where its value begins. */
export interface Separator {
  readonly at: number;
  readonly sign: ':' | '=' | '>' | '|' | '%';
}

/** What stands between a name that ends at `after` and its value; undefined when nothing does. */
export function separatorAt(text: string, from: number, after: number): Separator | undefined {
  const at = skipGap(text, text[after] === ']' ? after + 1 : after);
  switch (text[at]) {
    case '=':
      return { at: at + (text[at + 1] === '>' || text[at + 1] === '=' ? 2 : 1), sign: '=' };
    case ':':
      if (text[at + 1] === '=') return { at: at + 2, sign: '=' };
      // LDIF doubles the colon before base64; elsewhere two colons are a scope.
      if (text.startsWith(':: ', at)) return { at: at + 3, sign: ':' };
      if (text[at + 1] === ':' || text.startsWith('://', at)) return undefined;
      return { at: at + 1, sign: ':' };
    case '>':
      return text[from - 1] === '<' || text[from - 1] === ':' ? { at: at + 1, sign: '>' } : undefined;
    case '|':
      return at > after && text[at + 1] === ' ' && opensCell(text, from)
        ? { at: at + 1, sign: '|' }
        : undefined;
    case '%':
      return /^%3[ad]/i.test(text.slice(at, at + 3)) ? { at: at + 3, sign: '%' } : undefined;
    case '\\':
      return /^\\+u003[ad]/i.test(text.slice(at, at + 10))
        ? { at: text.indexOf('u003', at) + 5, sign: '=' }
        : undefined;
    default:
      return text[from - 1] === '<' || text[from - 1] === ':' ? tagEnd(text, from, after) : undefined;
  }
}

/** A table's row: the name is the first thing in a cell. */
function opensCell(text: string, from: number): boolean {
  const before = skipBack(text, from, 8, Math.max(0, from - 64));
  return text[before - 1] === '|' && (startsLine(text, before - 1) || text[before - 2] === ' ');
}

/** `<Password Type="x">`: the element's text begins behind its attributes. */
function tagEnd(text: string, from: number, after: number): Separator | undefined {
  if (!is(text, after, 8) || !/<[\w-]{0,24}:?$/.test(text.slice(Math.max(0, from - 26), from)))
    return undefined;
  const close = text.slice(after, after + 160).search(/[<>]/);
  return close > 0 && text[after + close] === '>' ? { at: after + close + 1, sign: '>' } : undefined;
}
