/**
 * `node scripts/picture.ts`: runs the first investigation in a real terminal (tmux), and draws what it showed as
 * docs/pictures/investigation.svg. The README's picture is a recording, not a drawing by hand.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const COLUMNS = 104;
const cwd = mkdtempSync(join(tmpdir(), 'writ-picture-'));
const socket = `writ-picture-${process.pid}`;
const tmux = (...args: readonly string[]) =>
  spawnSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' }).stdout;

tmux(
  'new-session',
  '-d',
  '-s',
  'p',
  '-x',
  String(COLUMNS),
  '-y',
  '60',
  `cd ${cwd} && ${process.execPath} ${resolve('bin/writ.js')} investigate --lab redis-behind-dead-nva --speed 600; sleep 20`,
);
for (let i = 0; i < 400; i++) {
  const screen = tmux('capture-pane', '-p', '-S', '-400', '-t', 'p');
  if (screen.includes('RCA REPORT WRITTEN')) break;
  if (/Your choice: *$/.test(screen.trimEnd())) tmux('send-keys', '-t', 'p', 'a', 'Enter');
  await wait(100);
}
const recorded = tmux('capture-pane', '-p', '-e', '-S', '-400', '-t', 'p').trimEnd().split('\n');
tmux('kill-server');

const COLOURS: Readonly<Record<string, string>> = {
  '31': '#f2777a',
  '32': '#99cc99',
  '33': '#ffcc66',
  '36': '#66cccc',
  '2': '#999999',
};
const markup = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(cwd, '.');

/** One line of the terminal as SVG text, colours kept. */
function drawn(line: string): string {
  let colour: string | undefined;
  return line
    .split(/(\u001b\[[\d;]*m)/)
    .map((piece) => {
      const codes = /^\u001b\[([\d;]*)m$/.exec(piece)?.[1];
      if (codes !== undefined) {
        colour = codes
          .split(';')
          .map((c) => COLOURS[c])
          .find((c) => c !== undefined);
        return '';
      }
      if (piece === '') return '';
      return colour === undefined ? markup(piece) : `<tspan fill="${colour}">${markup(piece)}</tspan>`;
    })
    .join('');
}

const width = COLUMNS * 8.45 + 30;
const rows = recorded.map(
  (line, i) => `<text x="15" y="${28 + i * 18}" xml:space="preserve">${drawn(line)}</text>`,
);
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${recorded.length * 18 + 30}" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" fill="#dddddd"><title>An investigation of a simulated outage, recorded from the terminal</title><rect width="100%" height="100%" rx="8" fill="#1d1f21"/>${rows.join('')}</svg>\n`;
writeFileSync('docs/pictures/investigation.svg', svg);
process.stdout.write(`docs/pictures/investigation.svg: ${recorded.length} lines\n`);
