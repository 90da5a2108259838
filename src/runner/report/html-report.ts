import { isJsonObject, type Json } from '../../core/index.ts';
import { durationOf, type StepDocument, stepDocuments } from '../document.ts';
import { json, type RunReader } from '../store/reader.ts';
import type { RunRow } from '../store/rows.ts';
import { subjectOf } from './console-report.ts';
import { COLOURS, cut, plain } from './html-text.ts';
import { duration, type ShownStep, timeline } from './html-timeline.ts';
import { SummaryBuilder } from './json-report.ts';

/**
 * One file, nothing loaded from anywhere: styles inside, no script, and a content policy that forbids both.
 * Every text from a plan or a tool is escaped; none of it is markup.
 */
const STYLE = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6875; --line: #d8dee5; --paper: #fff; --card: #f6f8fa; --bad: #c0392b }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa7b4; --line: #303a45; --paper: #0f151c; --card: #18212b; --bad: #ef7a6d } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; margin: 0 0 .2rem } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem } p { margin: .4rem 0 } a { color: inherit }
code, pre, .mono { font: 13px/1.45 ui-monospace, monospace } pre { white-space: pre-wrap; background: var(--card); padding: .6rem .8rem; border-radius: 6px; max-height: 22rem; overflow: auto; margin: .4rem 0 }
.wide { overflow-x: auto; background: var(--card); border-radius: 6px } .wide > * { min-width: 40rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top } tr:last-child td { border: 0 }
td:not(:last-child) { white-space: nowrap; width: 1% } th { color: var(--soft); font-weight: 600; white-space: nowrap } .soft { color: var(--soft) } .badge { padding: .1rem .6rem; border-radius: 1rem; color: #fff; font-size: .8rem; font-weight: 600; white-space: nowrap; vertical-align: middle }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .6rem; margin: 1.2rem 0 0 } .tile { background: var(--card); border-radius: 6px; padding: .5rem .8rem } .tile b { display: block; font-size: 1.4rem; line-height: 1.3 } .tile.bad b { color: var(--bad) }
svg { display: block; width: 100%; height: auto } svg text { font: 11px system-ui, sans-serif; fill: var(--ink) } svg .soft { fill: var(--soft) } svg a:hover .step { opacity: .75 }
details { border-bottom: 1px solid var(--line); padding: .4rem 0 } details:target { background: var(--card) } details > :not(summary) { margin-left: 1.1rem } summary { cursor: pointer }
`;

/** Steps drawn in the picture, and written out below it; a longer run is cut there and says so. */
const MAX_STEPS = 500;
const MAX_TEXT = 20_000;

export function htmlReport(reader: RunReader, run: RunRow, generatedAt: Date): string {
  const summary = new SummaryBuilder();
  const shown: ShownStep[] = [];
  let total = 0;
  for (const { record, ...step } of stepDocuments(reader, run)) {
    const args = record ? json(record.call.args_json) : null;
    summary.add(step, args);
    if (total++ < MAX_STEPS) shown.push({ step, args });
  }
  const took = durationOf(reader, run.run_id);
  const { resources, denials } = summary.build(run, took);
  const plan = json(run.plan_json);
  const name = isJsonObject(plan) && typeof plan.name === 'string' ? plan.name : 'A plan without a name';
  const status = run.status === 'completed' ? 'success' : run.status === 'failed' ? 'error' : 'waiting';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${plain(`Run ${run.run_id}`)}</title><style>${STYLE}</style></head><body>
<h1>${plain(name)} ${badge(run.status, status)}</h1>
<p class="soft"><code>${plain(run.run_id)}</code> · ${plain(run.mode)}${run.replay_of === null ? '' : ` of ${plain(run.replay_of)}`} · started ${plain(run.created_at)}</p>
<div class="tiles">${tile(`${run.completed_steps} of ${run.total_steps}`, 'steps done')}${tile(run.denied_steps, 'denied', run.denied_steps > 0)}${tile(run.failed_steps, 'failed', run.failed_steps > 0)}${tile(duration(took), 'duration')}</div>
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
<h2>Plan and policy</h2>
<details><summary>Plan <code class="soft">${plain(run.plan_hash)}</code></summary><pre>${pretty(plan)}</pre></details>
<details><summary>Policy <code class="soft">${plain(run.policy_hash)}</code></summary><pre>${pretty(json(run.policy_json))}</pre></details>
<p class="soft">generated ${plain(generatedAt.toISOString())} by Writ, report version 1.0</p>
</body></html>
`;
}

function stepDetails({ step, args }: ShownStep): string {
  const decision = isJsonObject(step.decision) ? step.decision : {};
  const place = typeof decision.line === 'number' ? ` (${String(decision.file)}:${decision.line})` : '';
  const why =
    decision.rule === undefined
      ? ''
      : `<p>${plain(`${String(decision.decision)} by ${String(decision.rule)}: ${String(decision.reason)}${place}`)}</p>`;
  return `<details id="step-${step.index}"><summary>${badge(step.status, step.status)} <b>${step.index}</b> ${plain(step.tool)} <span class="soft">${plain(subjectOf(args))}</span></summary>
${why}${step.error === null ? '' : `<p>${plain(step.error)}</p>`}<pre>${pretty(args)}</pre>${step.output === null ? '' : `<pre>${pretty(step.output)}</pre>`}
<p class="soft mono">input ${plain(step.input_hash ?? '–')}<br>output ${plain(step.output_hash ?? '–')}</p></details>`;
}

function tile(value: string | number, label: string, bad = false): string {
  return `<div class="tile${bad ? ' bad' : ''}"><b>${value}</b><span class="soft">${label}</span></div>`;
}

function badge(text: string, status: StepDocument['status']): string {
  return `<span class="badge" style="background:${COLOURS[status]}">${plain(text)}</span>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '<p class="soft">nothing</p>';
  return `<div class="wide"><table><tr>${head.map((h) => `<th>${plain(h)}</th>`).join('')}</tr>${rows.map((row) => `<tr>${row.map((cell) => `<td class="mono">${plain(cell)}</td>`).join('')}</tr>`).join('')}</table></div>`;
}

function pretty(value: Json): string {
  return plain(cut(JSON.stringify(value, null, 2) ?? '', MAX_TEXT));
}
