import { isJsonObject, type Json } from '../../core/index.ts';
import { durationOf, type StepDocument, stepDocuments } from '../document.ts';
import { json, type RunReader } from '../store/reader.ts';
import type { RunRow } from '../store/rows.ts';
import { subjectOf } from './console-report.ts';
import { SummaryBuilder } from './json-report.ts';

/**
 * One file, nothing loaded from anywhere: styles inside, no script, and a content policy that forbids both.
 * Every text from a plan or a tool is escaped; none of it is markup.
 */
const COLOURS: Record<StepDocument['status'], string> = {
  success: '#2a8a4a',
  denied: '#c0392b',
  error: '#c0392b',
  waiting: '#b7791f',
  unknown: '#b7791f',
  skipped: '#9aa3ad',
};

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6875; --line: #d8dee5; --paper: #fff; --card: #f6f8fa }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa7b4; --line: #303a45; --paper: #0f151c; --card: #18212b } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.3rem; margin: 0 } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem }
code, pre, td.mono { font: 13px/1.45 ui-monospace, monospace } pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card); padding: .6rem .8rem; border-radius: 6px; max-height: 22rem; overflow: auto }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
th { color: var(--soft); font-weight: 600 } .soft { color: var(--soft) } .badge { padding: .05rem .5rem; border-radius: 1rem; color: #fff; font-size: .85rem }
svg { width: 100%; height: auto; background: var(--card); border-radius: 6px } svg text { font: 11px system-ui, sans-serif; fill: var(--ink) } svg .soft { fill: var(--soft) }
details { border-bottom: 1px solid var(--line); padding: .35rem 0 } summary { cursor: pointer }
`;

/** Steps drawn in the picture, and written out below it; a longer run is cut there and says so. */
const MAX_STEPS = 500;
const MAX_TEXT = 20_000;

export function htmlReport(reader: RunReader, run: RunRow, generatedAt: Date): string {
  const summary = new SummaryBuilder();
  const shown: { step: StepDocument; args: Json }[] = [];
  let total = 0;
  for (const { record, ...step } of stepDocuments(reader, run)) {
    const args = record ? json(record.call.args_json) : null;
    summary.add(step, args);
    if (total++ < MAX_STEPS) shown.push({ step, args });
  }
  const duration = durationOf(reader, run.run_id);
  const { resources, denials } = summary.build(run, duration);
  const title = `Run ${run.run_id}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${plain(title)}</title><style>${STYLE}</style></head><body>
<h1>${plain(title)} ${badge(run.status, run.status === 'completed' ? 'success' : run.status === 'failed' ? 'error' : 'waiting')}</h1>
<p class="soft">${plain(run.mode)}${run.replay_of === null ? '' : ` of ${plain(run.replay_of)}`} · started ${plain(run.created_at)} · ${duration} ms · ${run.completed_steps} of ${run.total_steps} done, ${run.denied_steps} denied, ${run.failed_steps} failed</p>
<h2>Timeline</h2>
${timeline(shown, run)}
${total > MAX_STEPS ? `<p class="soft">The first ${MAX_STEPS} of ${total} steps are shown; the JSON report has all of them.</p>` : ''}
${
  denials.length === 0
    ? ''
    : `<h2>Denials</h2>${table(
        ['step', 'tool', 'rule', 'reason'],
        denials.map((d) => [String(d.step), d.tool, d.rule, d.reason]),
      )}`
}
<h2>Touched</h2>
${table(['what', 'which'], [...resources.files_read.map((p) => ['file read', p]), ...resources.files_written.map((p) => ['file written', p]), ...resources.domains_contacted.map((d) => ['domain', d]), ...resources.commands_run.map((c) => ['command', c])])}
<h2>Steps</h2>
${shown.map(stepDetails).join('\n')}
<h2>Plan</h2><pre>${pretty(json(run.plan_json))}</pre>
<h2>Policy</h2><pre>${pretty(json(run.policy_json))}</pre>
<p class="soft">plan ${plain(run.plan_hash)}<br>policy ${plain(run.policy_hash)}<br>generated ${plain(generatedAt.toISOString())} by Writ, report version 1.0</p>
</body></html>
`;
}

/** One bar a step: where it begins and how long it is, to scale. */
function timeline(
  shown: readonly { readonly step: StepDocument; readonly args: Json }[],
  run: RunRow,
): string {
  const times = shown.flatMap(({ step }) =>
    [step.started_at, step.ended_at].flatMap((t) => (t === null ? [] : [Date.parse(t)])),
  );
  const from = Math.min(Date.parse(run.created_at), ...times);
  const span = Math.max(1, Math.max(from, ...times) - from);
  const [left, width, row] = [230, 740, 20];
  const height = 30 + shown.length * row;
  const x = (time: number) => left + ((time - from) / span) * width;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = left + part * width;
    return `<line x1="${at}" y1="18" x2="${at}" y2="${height}" stroke="#8884" /><text class="soft" x="${at}" y="12" text-anchor="middle">${Math.round(part * span)} ms</text>`;
  });
  const bars = shown.map(({ step, args }, i) => {
    const y = 24 + i * row;
    const label = `${step.index} ${step.tool}${step.id === null ? '' : ` (${step.id})`}`;
    const start = step.started_at === null ? undefined : x(Date.parse(step.started_at));
    const end = step.ended_at === null ? undefined : x(Date.parse(step.ended_at));
    const bar =
      start === undefined
        ? `<text class="soft" x="${left}" y="${y + 12}">${step.status}</text>`
        : `<rect class="step ${step.status}" x="${start.toFixed(1)}" y="${y}" width="${Math.max(3, (end ?? start) - start).toFixed(1)}" height="${row - 6}" rx="3" fill="${COLOURS[step.status]}"><title>${plain(`${label}: ${step.status} ${subjectOf(args)}`)}</title></rect>`;
    return `<text x="8" y="${y + 12}">${plain(cut(label, 34))}</text>${bar}`;
  });
  return `<svg role="img" aria-label="timeline of the steps" viewBox="0 0 1000 ${height}">${ticks.join('')}${bars.join('')}</svg>`;
}

function stepDetails({ step, args }: { readonly step: StepDocument; readonly args: Json }): string {
  const decision = isJsonObject(step.decision) ? step.decision : {};
  const place = typeof decision.line === 'number' ? ` (${String(decision.file)}:${decision.line})` : '';
  const why =
    decision.rule === undefined
      ? ''
      : `<p>${plain(`${String(decision.decision)} by ${String(decision.rule)}: ${String(decision.reason)}${place}`)}</p>`;
  return `<details id="step-${step.index}"><summary>${badge(step.status, step.status)} <b>${step.index}</b> ${plain(step.tool)} <span class="soft">${plain(subjectOf(args))}</span></summary>
${why}${step.error === null ? '' : `<p>${plain(step.error)}</p>`}<pre>${pretty(args)}</pre>${step.output === null ? '' : `<pre>${pretty(step.output)}</pre>`}
<p class="soft">input ${plain(step.input_hash ?? '–')} · output ${plain(step.output_hash ?? '–')}</p></details>`;
}

function badge(text: string, status: StepDocument['status']): string {
  return `<span class="badge" style="background:${COLOURS[status]}">${plain(text)}</span>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '<p class="soft">nothing</p>';
  return `<table><tr>${head.map((h) => `<th>${plain(h)}</th>`).join('')}</tr>${rows.map((row) => `<tr>${row.map((cell) => `<td class="mono">${plain(cell)}</td>`).join('')}</tr>`).join('')}</table>`;
}

function pretty(value: Json): string {
  return plain(cut(JSON.stringify(value, null, 2) ?? '', MAX_TEXT));
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

/** Text as text: nothing in it is markup. */
function plain(text: string): string {
  const named: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  // Characters that hide or turn text round would make a page say what it does not.
  return text
    .replace(/[&<>"']/g, (c) => named[c] as string)
    .replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
      '\ufffd',
    );
}
