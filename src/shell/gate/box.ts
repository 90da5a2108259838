import { visible } from '../../core/index.ts';

/** What the person is shown before a RISKY command, drawn as a box. Wrapped, never cut. */
export interface Alert {
  readonly tier: string;
  readonly classification: string;
  readonly command: string;
  readonly risk: string;
  readonly reasoning: string;
}

const NARROWEST = 50;
const WIDEST = 100;
const LABEL = 12;

export function alertBox(alert: Alert, columns: number): string {
  const width = Math.max(NARROWEST, Math.min(columns - 1, WIDEST));
  const inner = width - 4;
  const line = (text: string) => `│ ${text}${' '.repeat(Math.max(0, inner - displayWidth(text)))} │`;
  const field = (label: string, text: string) =>
    wrapDisplay(visible(text), inner - LABEL - 1).map((piece, i) =>
      line(` ${(i === 0 ? label : '').padEnd(LABEL)}${piece}`),
    );
  const title = 'SAFETY SHELL ALERT';
  const left = Math.floor((inner - title.length) / 2);
  return [
    `┌${'─'.repeat(width - 2)}┐`,
    line(`${' '.repeat(left)}${title}`),
    line(` TIER:       ${alert.tier}  |  CLASSIFICATION: ${alert.classification}`),
    ...field('COMMAND:', alert.command),
    ...field('RISK:', alert.risk),
    ...field('REASONING:', alert.reasoning),
    line(''),
    line(' [A]pprove   [D]eny   [M]odify command'),
    `└${'─'.repeat(width - 2)}┘`,
  ].join('\n');
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /\p{M}/u;

/** Columns a terminal needs: wide characters take two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

/** Breaks at spaces where it can, anywhere where it must. Nothing is left out. */
export function wrapDisplay(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(/(?<= )/)) {
    if (used > 0 && used + displayWidth(word.trimEnd()) > width) {
      lines.push(line);
      line = '';
      used = 0;
    }
    for (const char of word) {
      const size = displayWidth(char);
      if (used + size > width) {
        lines.push(line);
        line = '';
        used = 0;
      }
      line += char;
      used += size;
    }
  }
  return [...lines, line];
}
