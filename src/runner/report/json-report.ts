import { isJsonObject, type Json } from '../../core/index.ts';
import { durationOf, stepDocuments } from '../document.ts';
import { json, type RunReader } from '../store/reader.ts';
import type { RunRow } from '../store/rows.ts';

/** What a run touched, for the summary. */
export interface Resources {
  readonly files_read: readonly string[];
  readonly files_written: readonly string[];
  readonly domains_contacted: readonly string[];
  readonly commands_run: readonly string[];
}

export interface ReportSummary {
  readonly total_duration_ms: number;
  readonly total_steps: number;
  readonly completed_steps: number;
  readonly denied_steps: number;
  readonly failed_steps: number;
  readonly resources: Resources;
  readonly denials: readonly {
    readonly step: number;
    readonly tool: string;
    readonly rule: string;
    readonly reason: string;
  }[];
}

/** Gathers the summary while the steps go by, so that they need not be kept. */
export class SummaryBuilder {
  readonly #read = new Set<string>();
  readonly #written = new Set<string>();
  readonly #domains = new Set<string>();
  readonly #commands = new Set<string>();
  readonly #denials: { step: number; tool: string; rule: string; reason: string }[] = [];

  add(
    step: {
      readonly index: number;
      readonly tool: string;
      readonly status: string;
      readonly output: Json;
      readonly decision: Json;
    },
    args: Json,
  ): void {
    const { output, decision } = step;
    if (step.status === 'denied' && isJsonObject(decision))
      this.#denials.push({
        step: step.index,
        tool: step.tool,
        rule: String(decision.rule),
        reason: String(decision.reason),
      });
    if (step.status !== 'success' || !isJsonObject(output)) return;
    const path = typeof output.path === 'string' ? output.path : undefined;
    if (step.tool === 'fs.read' && path !== undefined) this.#read.add(path);
    if (step.tool === 'fs.write' && path !== undefined) this.#written.add(path);
    if (step.tool === 'http.get')
      for (const url of [
        isJsonObject(args) ? args.url : null,
        output.url,
        ...(Array.isArray(output.redirects) ? output.redirects : []),
      ])
        this.#domain(url as Json);
    if (step.tool === 'shell.run' && isJsonObject(args) && Array.isArray(args.cmd))
      this.#commands.add(args.cmd.map(String).join(' '));
  }

  #domain(url: Json): void {
    if (typeof url === 'string' && URL.canParse(url)) this.#domains.add(new URL(url).host);
  }

  build(run: RunRow, durationMs: number): ReportSummary {
    return {
      total_duration_ms: durationMs,
      total_steps: run.total_steps,
      completed_steps: run.completed_steps,
      denied_steps: run.denied_steps,
      failed_steps: run.failed_steps,
      resources: {
        files_read: [...this.#read].sort(),
        files_written: [...this.#written].sort(),
        domains_contacted: [...this.#domains].sort(),
        commands_run: [...this.#commands],
      },
      denials: this.#denials,
    };
  }
}

/** The JSON report in pieces of text: `report_version, generated_at, run, plan, policy, steps, summary`. */
export function* jsonReport(reader: RunReader, run: RunRow, generatedAt: Date): Iterable<string> {
  const steps = stepDocuments(reader, run);
  const { plan_json, policy_json, ...meta } = run;
  const head = {
    report_version: '1.0',
    generated_at: generatedAt.toISOString(),
    run: meta,
    plan: json(plan_json),
    policy: json(policy_json),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"steps":[`;
  const summary = new SummaryBuilder();
  let first = true;
  for (const { record, ...step } of steps) {
    const args = record ? json(record.call.args_json) : null;
    summary.add(step, args);
    yield `${first ? '' : ','}${JSON.stringify({ ...step, args, call_id: record?.call.call_id ?? null, approval_id: record?.call.approval_id ?? null })}`;
    first = false;
  }
  yield `],"summary":${JSON.stringify(summary.build(run, durationOf(reader, run.run_id)))}}\n`;
}
