/**
 * Text from outside, made safe to print: what a person reads is what is there.
 *
 * V1 Nothing that moves the cursor, changes direction, hides, joins or takes no place is printed as it is.
 * V2 Two different texts never look the same because of what was replaced: the brackets of a replacement
 *    are themselves replaced when they occur.
 */
const NAMES: Readonly<Record<string, string>> = {
  '\n': 'LF',
  '\r': 'CR',
  '\t': 'TAB',
  '\u001b': 'ESC',
  '\0': 'NUL',
  '\u007f': 'DEL',
};

/**
 * Controls, format characters (bidi marks, zero-width), lone surrogates, unassigned and private code points,
 * separators that are not the plain space, enclosing marks, blank letters, and our own brackets.
 */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Me}\p{Default_Ignorable_Code_Point}\u2800⟨⟩]|(?! )\p{Zs}/gu;

/** With `newlines` line feeds stay, for text shown in a block whose every line the caller indents. */
export function visible(text: string, keep: 'nothing' | 'newlines' = 'nothing'): string {
  return text.replace(INVISIBLE, (char) => (keep === 'newlines' && char === '\n' ? char : replacement(char)));
}

function replacement(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `⟨${NAMES[char] ?? `U+${code}`}⟩`;
}
