import { captureFile, end, fail } from './capture.ts';
import { runCleanup } from './cleanup.ts';
import { commands } from './commands.ts';
import { because, type CloudContext, send } from './context.ts';
import { capturePlace, withBlob } from './plan.ts';
import { blobIn } from './storage.ts';
import type { BlobPlace, Task } from './types.ts';

/** DOWNLOADING: the file comes here, tried twice; or the task ends and what it created is removed. */
export async function download(context: CloudContext, task: Task): Promise<Task> {
  const { registry, clock, limits } = context;
  const blob = (await realBlob(context, task)) ?? task.blob;
  if (blob === null)
    return fail(context, task, 'download_failed', 'the place of the capture file is unknown');
  const file = captureFile(context, task.task_id);
  const command = commands.downloadBlob(blob, file, task.parameters.storage_auth_mode);
  const reasoning = because(`Download the finished capture of ${task.vm_name} for analysis.`, task);
  // The blob's true place goes into the undo before the file exists.
  const located =
    blob.name === task.blob?.name && blob.container === task.blob.container
      ? task
      : await registry.save({ ...task, blob, cleanup_plan: withBlob(task, blob) });
  let outcome = await send(context, command, reasoning);
  if (outcome.kind === 'failed') {
    context.progress(
      `${task.task_id}: download failed, trying once more in ${limits.downloadRetrySeconds} s`,
    );
    await clock.sleep(limits.downloadRetrySeconds * 1000);
    outcome = await send(context, command, reasoning);
  }
  switch (outcome.kind) {
    case 'ok':
      return registry.save({ ...located, downloaded: true, local_pcap_path: file });
    case 'denied':
      return runCleanup(
        context,
        await end(context, located, 'CANCELLED', 'denied', outcome.reason, 'pending'),
      );
    case 'failed':
      return runCleanup(context, await fail(context, located, 'download_failed', outcome.detail));
  }
}

/** Azure may have put the file elsewhere than asked: the capture itself says where. */
async function realBlob(context: CloudContext, task: Task): Promise<BlobPlace | undefined> {
  const outcome = await send(
    context,
    commands.capturePath(capturePlace(task)),
    because('Read where Azure stored the capture file.', task),
  );
  if (outcome.kind !== 'ok' || task.blob === null) return undefined;
  return blobIn(outcome.output, task.blob);
}
