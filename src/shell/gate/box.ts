import { visible } from '../../core/index.ts';

/** What the person is shown before a RISKY command. All of it is hostile text except tier and class. */
export interface Alert {
  readonly tier: string;
  readonly classification: string;
  readonly command: string;
  /** The argv that will run, when the command's text does not already say it. */
  readonly runs?: string;
  readonly risk: string;
  readonly reasoning: string;
  readonly modifiable: boolean;
}

const NARROWEST = 50;
const WIDEST = 100;
const LABEL = 12;

/** The alert drawn as a box. Wrapped, never cut: what the person reads is all that runs. */
export function alertBox(alert: Alert, columns: number): string {
  const width = Math.max(NARROWEST, Math.min(columns - 1, WIDEST));
  const inner = width - 4;
  const line = (text: string) => `│ ${text}${' '.repeat(Math.max(0, inner - displayWidth(text)))} │`;
  const field = (label: string, text: string) =>
    wrapDisplay(legible(text), inner - LABEL - 1).map((piece, i) =>
      line(` ${(i === 0 ? label : '').padEnd(LABEL)}${piece}`),
    );
  const title = 'SAFETY SHELL ALERT';
  const strange = outsideAscii(alert.command);
  return [
    `┌${'─'.repeat(width - 2)}┐`,
    line(`${' '.repeat(Math.floor((inner - title.length) / 2))}${title}`),
    line(` TIER:       ${alert.tier}  |  CLASSIFICATION: ${alert.classification}`),
    ...field('COMMAND:', alert.command),
    ...(alert.runs === undefined ? [] : field('RUNS:', alert.runs)),
    ...(strange === '' ? [] : field('NOTE:', `the command holds letters outside ASCII: ${strange}`)),
    ...field('RISK:', alert.risk),
    ...field('REASONING:', alert.reasoning),
    line(''),
    line(` [A]pprove   [D]eny${alert.modifiable ? '   [M]odify command' : ''}`),
    `└${'─'.repeat(width - 2)}┘`,
  ].join('\n');
}

/** Text a person can trust: nothing invisible, and no long row of blanks that pushes the rest out of sight. */
export function legible(text: string): string {
  return visible(text).replace(/ {9,}/g, (blanks) => `⟨SPACE×${blanks.length}⟩`);
}

/** Letters that may look like others, each once, with their numbers. */
function outsideAscii(command: string): string {
  const strange = new Set<string>();
  for (const char of command) if (char > '\u007f' && visible(char) === char) strange.add(char);
  const list = [...strange].slice(0, 8).map((char) => `${char} (U+${hex(char)})`);
  return list.join(', ') + (strange.size > 8 ? ` and ${strange.size - 8} more` : '');
}

function hex(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

const WIDE =
  /[\u1100-\u115f\u231a\u231b\u23e9-\u23ec\u2614\u2615\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /\p{M}/u;

/** Columns a terminal needs: wide characters take two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += char < '\u0300' ? 1 : MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

/** Breaks at spaces where it can, anywhere where it must. Joined again, the lines are the text. */
export function wrapDisplay(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  const flush = () => {
    lines.push(line);
    line = '';
    used = 0;
  };
  for (const word of text.split(/(?<= )/)) {
    if (used > 0 && used + displayWidth(word.trimEnd()) > width) flush();
    for (const char of word) {
      const size = displayWidth(char);
      if (used + size > width) flush();
      line += char;
      used += size;
    }
  }
  return [...lines, line];
}
