/** Charts as SVG, drawn here: a report is one file that needs neither script nor network. */
import type { Analysis, TcpStream, TimeSeries } from '../analysis.ts';
import { endpointText } from '../facts/text.ts';
import { html } from './escape.ts';

const WIDTH = 1000;
const HEIGHT = 190;
const LEFT = 70;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 26;
const ROW = 24;
const LABELS = 330;
const MAX_ROWS = 25;

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly kind: 'bars' | 'dots';
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

/** Values over time with axes. A bin without a value leaves a gap. */
export function chart(series: TimeSeries, c: Chart): string {
  const top = c.values.reduce<number>((n, v) => Math.max(n, v ?? 0), 0);
  const heading = `<h3>${html(c.title)}</h3>`;
  if (top === 0) return `<figure>${heading}<p class="none">None in this capture.</p></figure>`;
  const scale = niceTop(top);
  const step = (WIDTH - LEFT - RIGHT) / c.values.length;
  const y = (v: number) => HEIGHT - BOTTOM - (v / scale) * (HEIGHT - TOP - BOTTOM);
  const marks = c.values.map((v, i) => {
    if (v === null || v === 0) return '';
    const x = LEFT + i * step;
    return c.kind === 'bars'
      ? `<rect x="${n(x)}" y="${n(y(v))}" width="${n(Math.max(1, step * 0.85))}" height="${n(HEIGHT - BOTTOM - y(v))}"/>`
      : `<circle cx="${n(x + step / 2)}" cy="${n(y(v))}" r="2.2"/>`;
  });
  const lines = [0, 0.5, 1].map(
    (part) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${n(y(part * scale))}" y2="${n(y(part * scale))}"/><text x="${LEFT - 8}" y="${n(y(part * scale) + 4)}" text-anchor="end">${short(part * scale)}</text>`,
  );
  return `<figure>${heading}<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${html(`${c.title}, ${c.unit}, at most ${short(top)}`)}">${lines.join('')}<g fill="${c.colour}">${marks.join('')}</g>${timeAxis((series.bin_ms * c.values.length) / 1000, LEFT, HEIGHT - 8)}</svg><figcaption>${html(c.unit)}; highest ${short(top)}</figcaption></figure>`;
}

function timeAxis(seconds: number, left: number, y: number): string {
  return [0, 0.25, 0.5, 0.75, 1]
    .map((part) => {
      const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle';
      const x = left + part * (WIDTH - left - RIGHT);
      return `<text x="${n(x)}" y="${y}" text-anchor="${anchor}">${short(part * seconds)} s</text>`;
    })
    .join('');
}

const COLOURS = { unanswered: '#c62828', reset: '#ef6c00', stuck: '#8e24aa', fine: '#1e88e5' } as const;

/** Each conversation with trouble as a bar from its first to its last packet, coloured by how it went. */
export function ladder({ tcp, capture }: Analysis): string {
  const streams = [...(tcp?.with_issues.items ?? [])].slice(0, MAX_ROWS).sort((a, b) => a.first - b.first);
  const start = capture.earliest;
  if (streams.length === 0 || start === null) return '<p class="none">None in this capture.</p>';
  const span = Math.max(0.001, capture.duration_seconds);
  const x = (t: number) => LABELS + Math.min(1, Math.max(0, (t - start) / span)) * (WIDTH - LABELS - RIGHT);
  const rows = streams.map((s, i) => {
    const y = 18 + i * ROW;
    const name = `${endpointText(s.client.address, s.client.port)} → ${endpointText(s.server.address, s.server.port)}`;
    return `<text x="10" y="${y}">${html(name.length > 46 ? `${name.slice(0, 45)}…` : name)}</text><rect x="${n(x(s.first))}" y="${y - 12}" width="${n(Math.max(4, x(s.last) - x(s.first)))}" height="15" rx="3" fill="${COLOURS[fate(s)]}"><title>${html(`${name}: ${story(s)}`)}</title></rect>`;
  });
  const height = streams.length * ROW + 30;
  const key = [
    ['unanswered', 'never answered'],
    ['reset', 'refused or reset'],
    ['stuck', 'established, still open at the end'],
    ['fine', 'closed in order'],
  ] as const;
  const legend = key
    .map(([k, text]) => `<span class="key"><i style="background:${COLOURS[k]}"></i>${text}</span>`)
    .join('');
  const more = (tcp?.with_issues.total ?? 0) - streams.length;
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="conversations over time">${rows.join('')}${timeAxis(span, LABELS, height - 6)}</svg><p class="legend">${legend}${more > 0 ? `<span>and ${more} more</span>` : ''}</p>`;
}

function fate(s: TcpStream): keyof typeof COLOURS {
  if (s.outcome === 'syn_unanswered' || s.outcome === 'half_open') return 'unanswered';
  if (s.outcome === 'refused' || s.closed_by === 'rst') return 'reset';
  return s.closed_by === 'fin' ? 'fine' : 'stuck';
}

const story = (s: TcpStream) =>
  `stream ${s.stream_id}, ${s.outcome.replaceAll('_', ' ')}, ${s.from_client.retransmissions + s.from_server.retransmissions} retransmissions, ${s.closed_by === 'open' ? 'not closed' : `closed by ${s.closed_by}`}`;

const n = (value: number) => value.toFixed(1);

/** A round number at or above the value. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((f) => f * power).find((f) => f >= value * 0.9999) ?? value;
}

export function short(value: number): string {
  const [size, unit] =
    value >= 1e9 ? [1e9, 'G'] : value >= 1e6 ? [1e6, 'M'] : value >= 1e3 ? [1e3, 'k'] : [1, ''];
  return `${Number((value / size).toPrecision(3))}${unit}`;
}
