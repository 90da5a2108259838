import type { Analysis, TcpStream, TimeSeries } from '../analysis.ts';
import type { SemanticReport } from '../semantic/types.ts';

/** One self-contained file: no script, no network, charts drawn as SVG. */
export function htmlReport(report: SemanticReport, analysis: Analysis): string {
  const s = report.capture_summary;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Forensic report ${text(name(s.file))}</title><style>${STYLE}</style></head><body><main>
<h1>Forensic report</h1><p class="meta">${text(name(s.file))} · ${s.total_packets} packets · ${s.duration_seconds.toFixed(3)} s · SHA-256 <code>${s.sha256}</code></p>
<h2>Findings</h2>${report.findings.length === 0 ? '<p>None: nothing in this capture looks wrong.</p>' : report.findings.map((f) => `<section class="finding ${f.severity.toLowerCase()}"><h3><span class="tag">${f.severity}</span> ${text(f.title)}</h3><p>${text(f.explanation)}</p><p><small>${f.frames.length > 0 ? `frames ${f.frames.join(', ')} · ` : ''}check <code>${text(f.predicate)}</code></small></p><ul>${f.remediation.map((r) => `<li>${text(r)}</li>`).join('')}</ul></section>`).join('')}
<h2>Throughput</h2>${chart(analysis.series, analysis.series.bytes, 'bytes a bin', '#2a7ab8')}
<h2>Retransmissions</h2>${chart(analysis.series, analysis.series.retransmissions, 'retransmissions a bin', '#c33')}
<h2>Round-trip time</h2>${chart(analysis.series, analysis.series.ack_rtt_ms, 'mean ACK RTT, ms', '#a60')}
<h2>Conversations with trouble</h2>${ladder(analysis)}
</main></body></html>
`;
}

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0;padding:1rem}main{max-width:70rem;margin:auto}svg{width:100%;height:auto;background:#8881}.finding{border-left:5px solid #888;padding:.1rem 1rem;margin:1rem 0}.critical,.high{border-color:#c33}.medium{border-color:#d90}.tag{font-size:.75rem;border:1px solid;border-radius:.3rem;padding:.05rem .35rem}code{overflow-wrap:anywhere}.meta{opacity:.8}h3{margin:.4rem 0}`;
const WIDTH = 1000;
const HEIGHT = 180;

const name = (path: string) => path.split('/').at(-1) ?? path;

function text(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Bars over time; a bin without a value leaves a gap. */
function chart(
  series: TimeSeries,
  values: readonly (number | null)[],
  label: string,
  colour: string,
): string {
  const numbers = values.map((v) => v ?? 0);
  const top = Math.max(0, ...numbers);
  if (top === 0) return `<p>${label}: nothing to draw.</p>`;
  const step = (WIDTH - 60) / numbers.length;
  const bars = numbers
    .map((v, i) =>
      v === 0
        ? ''
        : `<rect x="${(60 + i * step).toFixed(1)}" y="${(HEIGHT - 25 - (v / top) * (HEIGHT - 45)).toFixed(1)}" width="${Math.max(1, step * 0.9).toFixed(1)}" height="${((v / top) * (HEIGHT - 45)).toFixed(1)}"/>`,
    )
    .join('');
  const seconds = (series.bin_ms * numbers.length) / 1000;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}"><g fill="${colour}">${bars}</g><g fill="currentColor" font-size="12"><text x="2" y="16">${label}: max ${Number(top.toFixed(2))}</text><text x="60" y="${HEIGHT - 8}">0 s</text><text x="${WIDTH}" y="${HEIGHT - 8}" text-anchor="end">${seconds.toFixed(1)} s</text></g></svg>`;
}

/** Each conversation as a bar from its first to its last packet, coloured by what ended it. */
function ladder({ tcp, capture }: Analysis): string {
  const streams = tcp?.with_issues.items.slice(0, 25) ?? [];
  if (streams.length === 0 || capture.earliest === null) return '<p>None.</p>';
  const span = Math.max(0.001, capture.duration_seconds);
  const x = (t: number) => 330 + ((t - capture.earliest!) / span) * (WIDTH - 340);
  const rows = streams.map((s, i) => {
    const y = 24 + i * 22;
    return `<text x="0" y="${y}" fill="currentColor" font-size="12">${text(`${s.client.address}:${s.client.port} → ${s.server.address}:${s.server.port}`)}</text><rect x="${x(s.first).toFixed(1)}" y="${y - 11}" width="${Math.max(3, x(s.last) - x(s.first)).toFixed(1)}" height="13" fill="${colourOf(s)}"><title>${describe(s)}</title></rect>`;
  });
  return `<svg viewBox="0 0 ${WIDTH} ${streams.length * 22 + 20}" role="img" aria-label="conversations over time">${rows.join('')}</svg><p><small>Red never got an answer, orange ended with a reset, blue went on.</small></p>`;
}

const colourOf = (s: TcpStream) =>
  s.outcome === 'syn_unanswered'
    ? '#c33'
    : s.closed_by === 'rst' || s.outcome === 'refused'
      ? '#d80'
      : '#2a7ab8';
const describe = (s: TcpStream) =>
  `stream ${s.stream_id}: ${s.outcome}, ${s.from_client.retransmissions + s.from_server.retransmissions} retransmissions, closed by ${s.closed_by}`;
