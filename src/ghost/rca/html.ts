import { visible } from '../../core/index.ts';
import type { Rca } from './compile.ts';

/** One self-contained file: no script, no network, the evidence drawn as a timeline. */
export function rcaHtml(rca: Rca): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Root cause analysis ${text(rca.session_id)}</title><style>${STYLE}</style></head><body><main>
<h1>Root cause analysis</h1>
<p class="meta">${text(rca.session_id)} · ${text(rca.generated_at)} · confidence <b>${rca.confidence}</b> · verdict <b>${rca.verdict}</b></p>
<blockquote>${text(rca.symptom)}</blockquote>
<p>${text(rca.summary)}</p>
<h2>Root causes</h2>${rca.causes.length === 0 ? '<p>None established.</p>' : `<ol>${rca.causes.map((c) => `<li><b>${text(c.kind)}</b> — ${text(c.resource)}${c.detail ? ` / ${text(c.detail)}` : ''} <span class="tag ${c.verdict.toLowerCase()}">${c.verdict}</span><br>${text(c.explanation)}<br><small>evidence: ${c.evidence.map((id) => `<a href="#${text(id)}">${text(id)}</a>`).join(', ')}</small></li>`).join('')}</ol>`}
<h2>How it went</h2>${timeline(rca)}
<h2>Hypotheses</h2><table><tr><th>Id</th><th>Hypothesis</th><th>State</th><th>Denials</th></tr>${rca.hypotheses.map((h) => `<tr><td>${text(h.id)}</td><td>${text(h.description)}</td><td>${h.state}</td><td>${h.denial_count}</td></tr>`).join('')}</table>
<h2>Evidence</h2><table><tr><th>Audit id</th><th>Context</th><th>Command</th><th>Outcome</th></tr>${rca.evidence.map((r) => `<tr id="${text(r.audit_id)}"><td>${text(r.audit_id)}</td><td>${r.context}</td><td><code>${text(r.command)}</code></td><td>${r.outcome}${r.exit_code === null ? '' : ` (${r.exit_code})`}</td></tr>`).join('')}</table>
<h2>Recommended actions</h2><ul>${rca.recommended_actions.map((a) => `<li>${text(a)}</li>`).join('') || '<li>None.</li>'}</ul>
${rca.observations.length > 0 ? `<h2>Observations</h2><ul>${rca.observations.map((o) => `<li>${text(o)}</li>`).join('')}</ul>` : ''}
<h2>Integrity</h2><ul>${rca.integrity.heads.map((h) => `<li>${text(h.file)}: ${h.records} records, head <code>${text(h.head ?? 'none')}</code></li>`).join('')}${rca.integrity.warnings.map((w) => `<li><b>Warning:</b> ${text(w)}</li>`).join('')}</ul>
</main></body></html>
`;
}

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0;padding:1rem}main{max-width:70rem;margin:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{border:1px solid #8886;padding:.3rem .5rem;text-align:left;vertical-align:top}code{overflow-wrap:anywhere}blockquote{border-left:4px solid #888;margin:1rem 0;padding:.2rem 1rem}.tag{border-radius:.3rem;padding:.1rem .4rem;background:#8883}.confirmed{background:#2a72}.contradicted{background:#c333}svg{width:100%;height:auto}.meta{opacity:.8}`;

function text(value: string): string {
  return visible(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

const COLOURS: Record<Rca['evidence'][number]['outcome'], string> = {
  completed: '#2a7',
  failed: '#d90',
  denied: '#c33',
  forbidden: '#808',
  timeout: '#d60',
  error: '#666',
};

/** Commands in order, cloud above, local below; the colour is the outcome. */
function timeline(rca: Rca): string {
  const width = 1000;
  const step = Math.min(60, (width - 80) / Math.max(1, rca.evidence.length));
  const cited = new Set(rca.causes.flatMap((c) => c.evidence));
  const dots = rca.evidence.map((row, i) => {
    const x = 70 + i * step;
    const y = row.context === 'CLOUD' ? 35 : 85;
    return `<a href="#${text(row.audit_id)}"><circle cx="${x}" cy="${y}" r="${cited.has(row.audit_id) ? 11 : 7}" fill="${COLOURS[row.outcome]}"><title>${text(row.audit_id)}: ${text(row.command)} — ${row.outcome}</title></circle></a>`;
  });
  return `<svg viewBox="0 0 ${width} 120" role="img" aria-label="commands in order"><text x="0" y="40" fill="currentColor" font-size="14">CLOUD</text><text x="0" y="90" fill="currentColor" font-size="14">LOCAL</text><line x1="60" x2="${width}" y1="60" y2="60" stroke="#8886"/>${dots.join('')}</svg><p><small>Large dots are cited as evidence. Green ran, orange failed, red was denied, purple was forbidden.</small></p>`;
}
