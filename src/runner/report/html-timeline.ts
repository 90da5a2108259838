import type { Json } from '../../core/index.ts';
import type { StepDocument } from '../document.ts';
import type { RunRow } from '../store/rows.ts';
import { subjectOf } from './console-report.ts';
import { COLOURS, cut, plain } from './html-text.ts';

export interface ShownStep {
  readonly step: StepDocument;
  readonly args: Json;
}

const [LEFT, WIDTH, ROW] = [230, 690, 20];

/** One bar a step: where it begins and how long it is, to scale; a click on its row leads to the step. */
export function timeline(shown: readonly ShownStep[], run: RunRow): string {
  const times = shown.flatMap(({ step }) =>
    [step.started_at, step.ended_at].flatMap((time) => (time === null ? [] : [Date.parse(time)])),
  );
  const from = Math.min(Date.parse(run.created_at), ...times);
  const span = Math.max(1, Math.max(from, ...times) - from);
  const height = 30 + shown.length * ROW;
  const x = (time: string) => LEFT + ((Date.parse(time) - from) / span) * WIDTH;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = LEFT + part * WIDTH;
    return `<line x1="${at}" y1="18" x2="${at}" y2="${height}" stroke="#8884" /><text class="soft" x="${at}" y="12" text-anchor="middle">${duration(part * span)}</text>`;
  });
  const bars = shown.map(({ step, args }, i) => {
    const y = 24 + i * ROW;
    const name = `${step.index} ${step.tool}${step.id === null ? '' : ` (${step.id})`}`;
    const label = `<text x="8" y="${y + 11}">${plain(cut(name, 34))}</text>`;
    if (step.started_at === null)
      return `${label}<text class="soft" x="${LEFT}" y="${y + 11}">${step.status}</text>`;
    const [start, end] = [x(step.started_at), x(step.ended_at ?? step.started_at)];
    const took = Date.parse(step.ended_at ?? step.started_at) - Date.parse(step.started_at);
    const said = step.status === 'success' ? duration(took) : `${duration(took)} ${step.status}`;
    // Beside the bar where there is room, else in front of it.
    const after = Math.max(end, start + 3) + 5;
    const place =
      after < LEFT + WIDTH - 20
        ? `x="${after.toFixed(1)}"`
        : `x="${(start - 5).toFixed(1)}" text-anchor="end"`;
    return `<a href="#step-${step.index}"><rect x="0" y="${y - 3}" width="1000" height="${ROW}" fill="transparent" />${label}<rect class="step ${step.status}" x="${start.toFixed(1)}" y="${y}" width="${Math.max(3, end - start).toFixed(1)}" height="${ROW - 6}" rx="3" fill="${COLOURS[step.status]}"><title>${plain(`${name}: ${step.status} ${subjectOf(args)}`)}</title></rect><text class="soft" ${place} y="${y + 11}">${said}</text></a>`;
  });
  return `<div class="wide"><svg role="img" aria-label="timeline of the steps" viewBox="0 0 1000 ${height}">${ticks.join('')}${bars.join('')}</svg></div>`;
}

export function duration(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
