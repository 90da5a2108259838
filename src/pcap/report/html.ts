import type { Analysis } from '../analysis.ts';
import type { Finding, SemanticReport } from '../semantic/types.ts';
import { chart, ladder, short } from './charts.ts';
import { fileName, html } from './escape.ts';
import { NARRATIVE_NOTE, type Narrative } from './narrative.ts';

/** One self-contained file: no script, no network, charts drawn as SVG. */
export function htmlReport(report: SemanticReport, analysis: Analysis, narrative?: Narrative): string {
  const s = report.capture_summary;
  const { series } = analysis;
  const perSecond = 1000 / Math.max(series.bin_ms, 0.001);
  const charts = [
    chart(series, {
      title: 'Throughput',
      unit: 'bits a second',
      kind: 'bars',
      colour: '#1e88e5',
      values: series.bytes.map((bytes) => bytes * 8 * perSecond),
    }),
    chart(series, {
      title: 'Round-trip time',
      unit: 'milliseconds, mean of the ACK round trips',
      kind: 'dots',
      colour: '#00897b',
      values: series.ack_rtt_ms,
    }),
    chart(series, {
      title: 'Retransmissions',
      unit: `segments in ${short(series.bin_ms)} ms`,
      kind: 'bars',
      colour: '#c62828',
      values: series.retransmissions,
    }),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Forensic report — ${html(fileName(s.file))}</title><style>${STYLE}</style></head><body><main>
<header><h1>Forensic report</h1><p class="meta"><strong>${html(fileName(s.file))}</strong><br>SHA-256 <code>${html(s.sha256)}</code></p></header>
<section class="tiles">${tiles(report)}</section>
${notes(report)}
<h2>Findings</h2>
${report.findings.length === 0 ? `<p class="fine">${s.total_packets === 0 ? 'The capture holds no packets: nothing can be said about the network.' : 'None: no rule found anything wrong.'}</p>` : report.findings.map(finding).join('\n')}
<h2>Over time</h2>
${s.total_packets === 0 ? '<p class="none">Nothing to draw.</p>' : charts.join('\n')}
<h2>Conversations with trouble</h2>
${ladder(analysis)}
<h2>Busiest conversations</h2>
${talkers(analysis)}
${narrativeSection(narrative)}</main></body></html>
`;
}

function tiles({ capture_summary: s, tcp, dns, findings }: SemanticReport): string {
  const grave = findings.filter((f) => f.severity === 'CRITICAL' || f.severity === 'HIGH').length;
  const facts: readonly (readonly [string, string])[] = [
    ['grave findings', String(grave)],
    ['packets', count(s.total_packets)],
    ['seconds', short(s.duration_seconds)],
    ...(tcp
      ? ([
          ['TCP streams', count(tcp.streams_total)],
          ['handshakes', `${tcp.connection_stats.handshakes_completed}/${tcp.connection_stats.syn_sent}`],
          ['retransmissions', count(tcp.retransmissions_total)],
        ] as const)
      : []),
    ...(dns ? ([['DNS queries', count(dns.queries_total)]] as const) : []),
  ];
  return facts
    .map(
      ([name, value], i) =>
        `<div class="tile${i === 0 && grave > 0 ? ' bad' : ''}"><b>${html(value)}</b><span>${html(name)}</span></div>`,
    )
    .join('');
}

const count = (n: number) => n.toLocaleString('en-US');

/** What the reader must know about the file before trusting the rest. */
function notes({ capture_summary: s }: SemanticReport): string {
  const said = [
    ...(s.notes ?? []),
    ...(s.truncated_packets > 0 ? [`${s.truncated_packets} packets were cut by the snap length`] : []),
    ...(s.malformed_packets > 0 ? [`${s.malformed_packets} packets are malformed`] : []),
  ];
  return said.length === 0 ? '' : `<p class="note">${said.slice(0, 8).map(html).join('<br>')}</p>`;
}

function finding(f: Finding): string {
  const frames = f.frames.length > 0 ? `<dt>Frames</dt><dd>${f.frames.join(', ')}</dd>` : '';
  return `<article class="finding ${f.severity.toLowerCase()}"><h3><span class="tag">${f.severity}</span> ${html(f.title)}</h3><p>${html(f.explanation)}</p><ul>${f.remediation.map((r) => `<li>${html(r)}</li>`).join('')}</ul><dl>${frames}<dt>Check</dt><dd><code>${html(f.predicate)}</code></dd></dl></article>`;
}

function narrativeSection(n: Narrative | undefined): string {
  if (n === undefined) return '';
  if (!n.written)
    return `<h2>Narrative</h2>\n<p class="none">Absent: ${html(n.reason)}. The report is complete without it.</p>\n`;
  return `<h2>Narrative (written by a model)</h2>\n<section class="note"><p><em>${html(NARRATIVE_NOTE(n.model))}</em></p>${n.paragraphs.map((p) => `<p>${html(p)}</p>`).join('')}</section>\n`;
}

function talkers({ talkers: t }: Analysis): string {
  if (t.items.length === 0) return '<p class="none">None in this capture.</p>';
  const rows = t.items
    .slice(0, 10)
    .map(
      (x) =>
        `<tr><td>${html(x.a)}</td><td>${html(x.b)}</td><td>${x.protocol.toUpperCase()}</td><td class="n">${x.packets}</td><td class="n">${short(x.bytes)}B</td></tr>`,
    );
  return `<div class="wide"><table><thead><tr><th>A</th><th>B</th><th>Protocol</th><th class="n">Packets</th><th class="n">Bytes</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8881;--text:#1c2430;--page:#fff}
@media(prefers-color-scheme:dark){:root{--text:#e4e8ee;--page:#14181e}}
*{box-sizing:border-box}body{font:16px/1.55 system-ui,sans-serif;margin:0;padding:1.5rem 1rem 4rem;color:var(--text);background:var(--page)}
main{max-width:66rem;margin:auto}h1{margin:0;font-size:1.8rem}h2{margin:2.4rem 0 .8rem;font-size:1.3rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}h3{margin:0 0 .3rem;font-size:1.02rem}
.meta{margin:.3rem 0 1.2rem}code{font:.86em ui-monospace,monospace;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.7rem}.tile{background:var(--soft);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem}.tile b{display:block;font-size:1.45rem;line-height:1.2}.tile span{font-size:.85rem;opacity:.8}.tile.bad b{color:#d32f2f}
.note,.fine{border:1px solid var(--line);border-radius:.5rem;padding:.6rem .9rem;background:var(--soft)}.none{opacity:.75;margin:.2rem 0}
.finding{border:1px solid var(--line);border-left:6px solid #78909c;border-radius:.4rem;padding:.8rem 1rem .5rem;margin:.9rem 0}.finding p{margin:.3rem 0}.finding ul{margin:.4rem 0;padding-left:1.3rem}
.critical{border-left-color:#b71c1c}.high{border-left-color:#e53935}.medium{border-left-color:#fb8c00}.low{border-left-color:#1e88e5}
.tag{font-size:.72rem;letter-spacing:.04em;border:1px solid;border-radius:.3rem;padding:.08rem .4rem;vertical-align:.12em}.critical .tag,.high .tag{color:#d32f2f}.medium .tag{color:#d97706}
dl{display:grid;grid-template-columns:auto 1fr;gap:.1rem .8rem;font-size:.88rem;margin:.5rem 0}dt{opacity:.75}dd{margin:0}
figure{margin:1.2rem 0}svg{display:block;width:100%;height:auto;background:var(--soft);border-radius:.4rem}svg text{font:12px system-ui,sans-serif;fill:currentColor}.grid{stroke:#8885;stroke-width:1}figcaption{font-size:.85rem;opacity:.8;margin-top:.25rem}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.85rem}.key i{display:inline-block;width:.8rem;height:.8rem;border-radius:.2rem;margin-right:.35rem;vertical-align:-.08rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line)}.n{text-align:right;font-variant-numeric:tabular-nums}`;
