/**
 * Text on its way into a report. Names from packets are hostile: they may try to be markup, links or table cells.
 * The engine has already made them printable and short; here they lose what the target format would read.
 */

/** Markdown that shows the text as it is, on one line. */
export function md(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]|~&<>#!]/gu, (c) =>
      c === '<' ? '&lt;' : c === '>' ? '&gt;' : c === '&' ? '&amp;' : `\\${c}`,
    )
    .replaceAll('://', ':\\//');
}

/** A code span: nothing in it is markup as long as it holds no backtick. */
export function mdCode(text: string): string {
  return `\`${oneLine(text).replaceAll('`', "'")}\``;
}

export function html(text: string): string {
  return oneLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The last part of a path: what people call the file. */
export const fileName = (path: string) => path.split('/').at(-1) || path;

/** No line breaks, no terminal escapes, no letters that turn the direction of writing. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
}
