/** Right after a quote some readers take `#` for a comment. */
function isComment(text: string, close: number): boolean {
  return text.charCodeAt(close + 1) === 0x23;
}

/**
 * A second reader of one word: removes quotes and escapes, nothing else. Written apart from the grammar so
 * that a mistake in either shows as a difference. Null: not a complete plain word.
 */
export function unquote(text: string): string | null {
  let value = '';
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charAt(i);
    if (char === "'") {
      const close = text.indexOf("'", i + 1);
      if (close === -1 || isComment(text, close)) return null;
      value += text.slice(i + 1, close);
      i = close;
    } else if (char === '"') {
      i += 1;
      for (; text.charAt(i) !== '"'; i += 1) {
        if (i >= text.length) return null;
        const inner = text.charAt(i);
        const next = text.charAt(i + 1);
        if (inner === '$' || inner === '`') return null;
        if (inner === '\\' && '$`"\\\n'.includes(next) && next !== '') {
          i += 1;
          if (next !== '\n') value += next;
        } else value += inner;
      }
      if (isComment(text, i)) return null;
    } else if (char === '\\') {
      i += 1;
      if (i >= text.length) return null;
      if (text.charAt(i) !== '\n') value += text.charAt(i);
    } else if (char === '$' || char === '`') {
      return null;
    } else value += char;
  }
  return value;
}
