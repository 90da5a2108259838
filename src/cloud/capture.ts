import { join } from 'node:path';
import { runCleanup } from './cleanup.ts';
import { cleanupPlan, commands } from './commands.ts';
import { because, type CloudContext, send } from './context.ts';
import { type Detection, detectTarget, vmFacts } from './detect.ts';
import { newTaskId } from './names.ts';
import { checkStorage } from './storage.ts';
import type { CaptureParameters, Task } from './types.ts';

/** One end of a capture that is about to start. */
export interface CaptureOrder {
  readonly target: string;
  readonly parameters: CaptureParameters;
  readonly investigationContext: string;
}

export type VmDetection = Extract<Detection, { kind: 'vm' }>;

export async function detect(context: CloudContext, order: CaptureOrder): Promise<Detection> {
  return detectTarget(context, order.target, order.parameters.resource_group);
}

/** A task in state CREATED: known to the registry before anything is asked of Azure on its behalf. */
export async function createTask(
  context: CloudContext,
  order: CaptureOrder,
  vm: VmDetection,
  pair?: Pick<Task, 'pair_role' | 'paired_task_id'>,
): Promise<Task> {
  const now = context.clock.now().toISOString();
  const taskId = newTaskId(vm.name, context.clock, (id) => context.registry.get(id) !== undefined);
  return context.registry.save({
    task_id: taskId,
    session_id: context.sessionId,
    intent: 'capture_traffic',
    target: order.target,
    vm_name: vm.name,
    state: 'CREATED',
    parameters: { ...order.parameters, resource_group: vm.group },
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
  });
}

/** CREATED → WAITING, or an ending. The undo is on disk before the create command is sent. */
export async function startCapture(context: CloudContext, created: Task, vm: VmDetection): Promise<Task> {
  const { registry } = context;
  const detecting = await registry.move(created, 'DETECTING');
  const facts = await vmFacts(context, vm.group, vm.name, created.parameters.location);
  if (!facts.ok) return fail(context, detecting, 'detection_failed', facts.detail);
  const storage = await checkStorage(context, created.parameters, vm);
  if (!storage.ok) return fail(context, detecting, 'storage_inaccessible', storage.detail);

  const { parameters, task_id: name } = detecting;
  const blob = { account: storage.account, container: parameters.storage_container, name: `${name}.cap` };
  const file = join(context.captureDir, `${name}.pcap`);
  const approved = await registry.move(detecting, 'APPROVED', {
    location: facts.location,
    blob,
    cleanup_plan: cleanupPlan({
      location: facts.location,
      name,
      blob,
      auth: parameters.storage_auth_mode,
      file,
    }),
    cleanup_status: 'pending',
    warnings: [...facts.warnings, ...storage.warnings],
  });
  const create = commands.createCapture({
    group: vm.group,
    vm: vm.name,
    name,
    account: storage.accountArgument,
    path: `${storage.endpoint}${blob.container}/${blob.name}`,
    seconds: parameters.duration_seconds,
  });
  const outcome = await send(
    context,
    create,
    because(`Start a ${parameters.duration_seconds} s packet capture on ${vm.name}.`, approved),
  );
  switch (outcome.kind) {
    case 'denied':
      // Nothing was created, so there is nothing to undo.
      return end(context, approved, 'CANCELLED', 'denied', outcome.reason, 'skipped');
    case 'failed':
      return runCleanup(context, await fail(context, approved, 'provisioning_failed', outcome.detail));
    case 'ok': {
      const provisioning = await registry.move(approved, 'PROVISIONING', { azure_operation_id: name });
      return registry.move(provisioning, 'WAITING');
    }
  }
}

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
