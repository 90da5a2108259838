import { isJsonObject, messageOf, WritError } from '../core/index.ts';
import { type CaptureOrder, createTask, end, startCapture } from './capture.ts';
import { runCleanup } from './cleanup.ts';
import type { CloudContext } from './context.ts';
import { detectTarget } from './detect.ts';
import { drive, partnerOf } from './drive.ts';
import { ensureFolder } from './files.ts';
import { cleanContext } from './names.ts';
import { type OutsideScan, orphansNow, scanOutside } from './orphans.ts';
import { openRegistry } from './registry.ts';
import { refuse, reply } from './replies.ts';
import { readCaptureRequest } from './requests.ts';
import { isEnded } from './states.ts';
import {
  INTENTS,
  type Intent,
  type OrchestrateRequest,
  type OrchestrateResponse,
  type Orchestrator,
  type OrchestratorOptions,
  type Task,
  type VmPlace,
} from './types.ts';

/**
 * Packet captures as durable tasks over a blocking shell.
 *
 * It sequences commands and never runs one: everything goes through `shell.execute`, so everything is
 * classified, gated, processed and recorded. No background work; the caller's `check_task` drives polling.
 */
export async function createOrchestrator(options: OrchestratorOptions): Promise<Orchestrator> {
  ensureFolder(options.taskDir);
  ensureFolder(options.captureDir);
  const registry = await openRegistry(options);
  const context: CloudContext = {
    shell: options.shell,
    registry,
    clock: options.clock,
    sessionId: options.sessionId,
    taskDir: options.taskDir,
    captureDir: options.captureDir,
    progress: options.onProgress ?? (() => undefined),
    limits: {
      pollInitialSeconds: options.pollInitialSeconds ?? 5,
      pollMaxSeconds: options.pollMaxSeconds ?? 30,
      maxPolls: options.maxPolls ?? 20,
      burstSeconds: options.burstSeconds ?? 45,
      downloadRetrySeconds: options.downloadRetrySeconds ?? 5,
    },
  };
  // Once, at the start: what this session makes itself is no orphan.
  const scan = await scanOutside(context, {
    localMaxAgeDays: options.localMaxAgeDays ?? 7,
    scanAzure: options.scanAzure ?? true,
  });

  let queue: Promise<unknown> = Promise.resolve();
  return {
    orchestrate: (request) => {
      const answer = queue.then(() => safely(() => dispatch(context, scan, request)));
      queue = answer;
      return answer;
    },
    close: () => registry.close(),
  };
}

async function safely(work: () => Promise<OrchestrateResponse>): Promise<OrchestrateResponse> {
  try {
    return await work();
  } catch (error) {
    // A registry that cannot be written stops the task where it stands; nothing is created untracked.
    return error instanceof WritError
      ? refuse('registry_failure', `the task could not be recorded or continued: ${error.message}`)
      : refuse('internal_error', `the task could not be continued: ${messageOf(error)}`);
  }
}

async function dispatch(
  context: CloudContext,
  scan: OutsideScan,
  request: OrchestrateRequest,
): Promise<OrchestrateResponse> {
  if (!isJsonObject(request) || typeof request.intent !== 'string' || request.intent === '')
    return refuse('missing_parameter', 'a request needs an intent');
  if (!INTENTS.includes(request.intent as Intent))
    return refuse('unknown_intent', `unknown intent; known are ${INTENTS.join(', ')}`);
  const intent = request.intent as Intent;
  switch (intent) {
    case 'capture_traffic':
      return captureTraffic(context, request);
    case 'list_tasks':
      return listTasks(context, scan);
    case 'check_task':
    case 'cancel_task':
    case 'cleanup_task': {
      if (typeof request.task_id !== 'string' || request.task_id === '')
        return refuse('missing_parameter', `${intent} needs a task_id`);
      const task = context.registry.get(request.task_id);
      if (task === undefined)
        return refuse(
          'unknown_task',
          `no task ${cleanContext(request.task_id).slice(0, 100)}; list_tasks shows what there is`,
        );
      const ended = isEnded(task.state) && (intent !== 'cleanup_task' || isClean(task));
      if (ended) return reply(context, task);
      return withTask(context, task, (mine) => {
        if (intent === 'check_task') return checkTask(context, mine);
        return intent === 'cancel_task'
          ? cancelTask(context, mine, request.reason)
          : cleanupTask(context, mine);
      });
    }
  }
}

/** Nothing of it is left, or there never was anything: asking again changes nothing. */
function isClean(task: Task): boolean {
  return task.state === 'DONE' || task.cleanup_status === 'skipped';
}

/** Acts on a task that no living session has in hand; a pair goes together. */
async function withTask(
  context: CloudContext,
  task: Task,
  act: (task: Task) => Promise<OrchestrateResponse>,
): Promise<OrchestrateResponse> {
  const taken = await context.registry.take(task.task_id);
  const partner = partnerOf(context, task);
  const other = partner && !isEnded(partner.state) ? await context.registry.take(partner.task_id) : taken;
  for (const hand of [taken, other])
    if ('heldBy' in hand)
      return refuse(
        'task_in_use',
        `${task.task_id} is in the hands of session ${hand.heldBy}, which is running; wait until it ends`,
      );
  return 'task' in taken ? act(taken.task) : refuse('internal_error', 'the task was not taken');
}

async function captureTraffic(
  context: CloudContext,
  request: OrchestrateRequest,
): Promise<OrchestrateResponse> {
  const read = readCaptureRequest(request);
  if (!read.ok) return read.reply;
  const found: { order: CaptureOrder; vm: VmPlace }[] = [];
  for (const order of read.orders) {
    const detection = await detectTarget(context, order.machine, order.parameters.resource_group);
    switch (detection.kind) {
      case 'vm':
        found.push({ order, vm: detection });
        break;
      case 'aks':
        return {
          status: 'task_completed',
          target_type: 'aks',
          message: `${detection.name} is an AKS cluster. Captures of pods are not supported; capture on a node's VM, or use kubectl debug by hand.`,
        };
      case 'unsupported':
        return refuse(
          'unsupported_target',
          `${order.target} is a ${detection.type}; captures run on virtual machines`,
        );
      case 'failed':
        return refuse('detection_failed', `the target could not be found: ${detection.detail}`);
    }
  }
  const [first, second] = found;
  if (first === undefined) return refuse('internal_error', 'nothing to capture');
  if (second === undefined)
    return reply(
      context,
      await startCapture(context, await createTask(context, first.order, first.vm), first.vm),
    );
  return captureBothEnds(context, first, second);
}

/** Two tasks that know each other before either of them starts. */
async function captureBothEnds(
  context: CloudContext,
  first: { order: CaptureOrder; vm: VmPlace },
  second: { order: CaptureOrder; vm: VmPlace },
): Promise<OrchestrateResponse> {
  const a = await createTask(context, first.order, first.vm, { pair_role: 'source', paired_task_id: null });
  const b = await createTask(context, second.order, second.vm, {
    pair_role: 'destination',
    paired_task_id: a.task_id,
  });
  const linked = await context.registry.save({ ...a, paired_task_id: b.task_id });
  const startedA = await startCapture(context, linked, first.vm);
  const startedB = await startCapture(context, b, second.vm);
  // The end that lives is the one to follow.
  return reply(context, isEnded(startedA.state) && !isEnded(startedB.state) ? startedB : startedA);
}

async function checkTask(context: CloudContext, task: Task): Promise<OrchestrateResponse> {
  const burst = await drive(context, task);
  return reply(context, burst.task, burst);
}

async function cancelTask(context: CloudContext, task: Task, reason: unknown): Promise<OrchestrateResponse> {
  const why =
    typeof reason === 'string' && reason.trim() !== '' ? cleanContext(reason) : 'cancelled on request';
  const nothingCreated = task.cleanup_plan.length === 0;
  const cancelled = await end(
    context,
    task,
    'CANCELLED',
    'cancelled',
    why,
    nothingCreated ? 'skipped' : 'pending',
  );
  return reply(context, nothingCreated ? cancelled : await runCleanup(context, cancelled));
}

async function cleanupTask(context: CloudContext, task: Task): Promise<OrchestrateResponse> {
  if (!isEnded(task.state)) {
    if (task.session_id === context.sessionId)
      return refuse('invalid_parameter', `${task.task_id} is still ${task.state}; cancel_task first`);
    // A task of a session that is gone: nobody will finish it.
    return cleanupTask(
      context,
      await end(context, task, 'ABANDONED', 'abandoned', 'its session ended before it did', 'pending'),
    );
  }
  const cleaning = task.state === 'CLEANING_UP' ? task : await context.registry.move(task, 'CLEANING_UP');
  const cleaned = await runCleanup(context, cleaning);
  return reply(
    context,
    cleaned.cleanup_status === 'completed' ? await context.registry.move(cleaned, 'DONE') : cleaned,
  );
}

async function listTasks(context: CloudContext, scan: OutsideScan): Promise<OrchestrateResponse> {
  await context.registry.refresh();
  const tasks = context.registry
    .all()
    .map((held) => held.task)
    .sort((x, y) => x.timestamps.created.localeCompare(y.timestamps.created));
  const { orphans, problems } = orphansNow(context, scan);
  return {
    status: 'task_completed',
    message: `${tasks.length} task(s), ${orphans.length} left behind by earlier sessions`,
    tasks,
    orphans,
    ...(problems.length > 0 ? { scan_problems: problems } : {}),
  };
}
