import { basename, join } from 'node:path';
import { fail } from './capture.ts';
import { runCleanup } from './cleanup.ts';
import { commands } from './commands.ts';
import { because, type CloudContext, type CommandOutcome, send, whyNot } from './context.ts';
import { fileExists } from './files.ts';
import { withFiles } from './plan.ts';
import type { CaptureResult, Task } from './types.ts';

/** The forensic engine is a command like any other: classified, gated, recorded, never imported. */
export async function analyzeSingle(
  context: CloudContext,
  task: Task,
  mode: CaptureResult['mode'] | null = null,
): Promise<Task> {
  const analyzing = await enter(context, task);
  const file = analyzing.local_pcap_path ?? '';
  const outcome = await send(
    context,
    commands.analyze(file, context.captureDir),
    because(`Analyse the capture of ${task.vm_name}.`, task),
  );
  const stem = join(context.captureDir, basename(file, '.pcap'));
  const products = { semantic: `${stem}_semantic.json`, report: `${stem}_forensic_report.md` };
  const problem = problemOf(outcome, products);
  return problem === null
    ? complete(context, analyzing, products, mode)
    : broken(context, analyzing, products, problem);
}

/** One comparison for both ends, source first. */
export async function analyzePair(context: CloudContext, one: Task, other: Task): Promise<Task> {
  const [source, destination] = one.pair_role === 'source' ? [one, other] : [other, one];
  const a = await enter(context, source);
  const b = await enter(context, destination);
  const [fileA, fileB] = [a.local_pcap_path ?? '', b.local_pcap_path ?? ''];
  const outcome = await send(
    context,
    commands.analyze(fileA, context.captureDir, fileB),
    because(
      `Compare the captures of ${a.vm_name} and ${b.vm_name}: where are packets lost, delayed or changed?`,
      a,
    ),
  );
  const stem = `${basename(fileA, '.pcap')}_vs_${basename(fileB, '.pcap')}_comparison`;
  const products = {
    semantic: join(context.captureDir, `${stem}.json`),
    report: join(context.captureDir, `${stem}.md`),
  };
  const problem = problemOf(outcome, products);
  const finish = (task: Task) =>
    problem === null
      ? complete(context, task, products, 'dual_end')
      : broken(context, task, products, problem);
  const doneA = await finish(a);
  const doneB = await finish(b);
  return one.task_id === doneA.task_id ? doneA : doneB;
}

/** The other end has the comparison already: a process died between the two records of it. */
export async function adoptComparison(context: CloudContext, task: Task, partner: Task): Promise<Task> {
  const products = { semantic: partner.semantic_json_path ?? '', report: partner.report_path ?? '' };
  return complete(context, await enter(context, task), products, 'dual_end');
}

interface Products {
  readonly semantic: string;
  readonly report: string;
}

function problemOf(outcome: CommandOutcome, products: Products): string | null {
  if (outcome.kind !== 'ok') return whyNot(outcome);
  return fileExists(products.report) ? null : `the engine wrote no report at ${products.report}`;
}

async function enter(context: CloudContext, task: Task): Promise<Task> {
  context.progress(`${task.task_id}: analysing`);
  return task.state === 'ANALYZING' ? task : context.registry.move(task, 'ANALYZING');
}

/** What the engine had written by then goes too: half a report is not to be read as one. */
async function broken(context: CloudContext, task: Task, products: Products, detail: string): Promise<Task> {
  const own = [products.semantic, products.report].filter(
    (path) => fileExists(path) && basename(path).startsWith(task.task_id),
  );
  const failed = await fail(
    context,
    { ...task, cleanup_plan: withFiles(task, own) },
    'analysis_failed',
    detail,
  );
  return runCleanup(context, failed);
}

function complete(
  context: CloudContext,
  task: Task,
  products: Products,
  mode: CaptureResult['mode'] | null,
): Promise<Task> {
  return context.registry.move(task, 'COMPLETED', {
    semantic_json_path: products.semantic,
    report_path: products.report,
    mode,
    cleanup_status: 'pending',
    timestamps: { ...task.timestamps, ended: context.clock.now().toISOString() },
  });
}
