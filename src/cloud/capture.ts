import { join } from 'node:path';
import { runCleanup } from './cleanup.ts';
import { commands } from './commands.ts';
import { because, type CloudContext, send } from './context.ts';
import { vmFacts } from './detect.ts';
import { newTaskId, type TargetName } from './names.ts';
import { cleanupPlan } from './plan.ts';
import { checkStorage } from './storage.ts';
import { type CaptureParameters, TASK_VERSION, type Task, type VmPlace } from './types.ts';

/** One end of a capture that is about to start. */
export interface CaptureOrder {
  /** As the caller wrote it. */
  readonly target: string;
  readonly machine: TargetName;
  readonly parameters: CaptureParameters;
  readonly investigationContext: string;
}

/** A task in state CREATED: known to the registry before anything is asked of Azure on its behalf. */
export async function createTask(
  context: CloudContext,
  order: CaptureOrder,
  vm: VmPlace,
  pair?: Pick<Task, 'pair_role' | 'paired_task_id'>,
): Promise<Task> {
  const now = context.clock.now().toISOString();
  return context.registry.add((taken) => ({
    version: TASK_VERSION,
    revision: 0,
    task_id: newTaskId(vm.name, context.clock, taken),
    session_id: context.sessionId,
    intent: 'capture_traffic',
    target: order.target,
    vm_name: vm.name,
    subscription: vm.subscription,
    state: 'CREATED',
    parameters: order.parameters,
    investigation_context: order.investigationContext,
    azure_operation_id: null,
    location: null,
    blob: null,
    cleanup_plan: [],
    cleanup_status: null,
    poll_count: 0,
    downloaded: false,
    paired_task_id: pair?.paired_task_id ?? null,
    pair_role: pair?.pair_role ?? null,
    local_pcap_path: null,
    semantic_json_path: null,
    report_path: null,
    mode: null,
    error: null,
    error_detail: null,
    warnings: [],
    timestamps: { created: now, updated: now, last_polled: null, ended: null },
  }));
}

/** Where a task's capture is downloaded to. Named after the task, so that no two share a file. */
export function captureFile(context: CloudContext, taskId: string): string {
  return join(context.captureDir, `${taskId}.pcap`);
}

/** CREATED → WAITING, or an ending. The undo is on disk before the create command is sent. */
export async function startCapture(context: CloudContext, created: Task, vm: VmPlace): Promise<Task> {
  const { registry } = context;
  const detecting = await registry.move(created, 'DETECTING');
  const facts = await vmFacts(context, vm, created.parameters.location);
  if (!facts.ok) return fail(context, detecting, 'detection_failed', facts.detail);
  const storage = await checkStorage(context, created.parameters, vm);
  if (!storage.ok) return fail(context, detecting, 'storage_inaccessible', storage.detail);

  const { parameters, task_id: name } = detecting;
  const blob = { ...storage.place, name: `${name}.cap` };
  const located = { ...detecting, location: facts.location, blob };
  const approved = await registry.move(located, 'APPROVED', {
    cleanup_plan: cleanupPlan(located, captureFile(context, name)),
    cleanup_status: 'pending',
    warnings: [...facts.warnings, ...storage.warnings],
  });
  const path = `${storage.endpoint}${blob.container}/${blob.name}`;
  const outcome = await send(
    context,
    commands.createCapture(vm, name, storage.accountArgument, path, parameters.duration_seconds),
    because(`Start a ${parameters.duration_seconds} s packet capture on ${vm.name}.`, approved),
  );
  switch (outcome.kind) {
    case 'denied':
      // Nothing was created, so there is nothing to undo.
      return end(context, approved, 'CANCELLED', 'denied', outcome.reason, 'skipped');
    case 'failed':
      return runCleanup(context, await fail(context, approved, 'provisioning_failed', outcome.detail));
    case 'ok': {
      const provisioning = await registry.move(approved, 'PROVISIONING', {
        azure_operation_id: name,
        warnings: [...approved.warnings, ...(outcome.modified ? [MODIFIED] : [])],
      });
      return registry.move(provisioning, 'WAITING');
    }
  }
}

const MODIFIED =
  'the create command was changed at the gate: what it created under another name is not in the cleanup plan';

export function fail(context: CloudContext, task: Task, error: string, detail: string): Promise<Task> {
  // Before the plan exists nothing can have been created.
  return end(context, task, 'FAILED', error, detail, task.cleanup_plan.length === 0 ? 'skipped' : 'pending');
}

export function end(
  context: CloudContext,
  task: Task,
  state: 'FAILED' | 'CANCELLED' | 'TIMED_OUT' | 'ABANDONED',
  error: string,
  detail: string,
  cleanup: Task['cleanup_status'],
): Promise<Task> {
  return context.registry.move(task, state, {
    error,
    error_detail: detail,
    cleanup_status: cleanup,
    timestamps: { ...task.timestamps, ended: context.clock.now().toISOString() },
  });
}
