import { basename, join } from 'node:path';
import { fail } from './capture.ts';
import { runCleanup } from './cleanup.ts';
import { commands } from './commands.ts';
import { because, type CloudContext, send } from './context.ts';
import { fileExists } from './files.ts';
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
  const stem = basename(file, '.pcap');
  const products = {
    semantic: join(context.captureDir, `${stem}_semantic.json`),
    report: join(context.captureDir, `${stem}_forensic_report.md`),
  };
  if (outcome.kind !== 'ok')
    return broken(context, analyzing, outcome.kind === 'denied' ? outcome.reason : outcome.detail);
  if (!fileExists(products.report))
    return broken(context, analyzing, `the engine wrote no report at ${products.report}`);
  return complete(context, analyzing, products, mode);
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
  const problem =
    outcome.kind === 'denied'
      ? outcome.reason
      : outcome.kind === 'failed'
        ? outcome.detail
        : fileExists(products.report)
          ? null
          : `the engine wrote no report at ${products.report}`;
  const finish = (task: Task) =>
    problem === null ? complete(context, task, products, 'dual_end') : broken(context, task, problem);
  const doneA = await finish(a);
  const doneB = await finish(b);
  return one.task_id === doneA.task_id ? doneA : doneB;
}

async function enter(context: CloudContext, task: Task): Promise<Task> {
  context.progress(`${task.task_id}: analysing`);
  return task.state === 'ANALYZING' ? task : context.registry.move(task, 'ANALYZING');
}

async function broken(context: CloudContext, task: Task, detail: string): Promise<Task> {
  return runCleanup(context, await fail(context, task, 'analysis_failed', detail));
}

function complete(
  context: CloudContext,
  task: Task,
  products: { semantic: string; report: string },
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
