import { commands } from './commands.ts';
import type { CloudContext } from './context.ts';
import { send, whyNot } from './context.ts';
import type { Orchestrator, Orphan } from './types.ts';

export interface Removal {
  readonly gone: boolean;
  /** What is still there and why, when it is. */
  readonly why: string;
}

/** Removes one thing that was left behind: by its task where it has one, each deletion through the gate. */
export async function removeOrphan(
  orchestrator: Orchestrator,
  shell: CloudContext['shell'],
  orphan: Orphan,
): Promise<Removal> {
  if (orphan.task_id !== null) {
    const reply = await orchestrator.orchestrate({ intent: 'cleanup_task', task_id: orphan.task_id });
    const gone = reply.status !== 'error' && reply.cleanup_status !== 'partial';
    return { gone, why: gone ? '' : reply.message };
  }
  const command = removalOf(orphan);
  if (command === undefined) return { gone: false, why: 'there is no command that removes it' };
  const outcome = await send(
    { shell },
    command,
    `Remove ${orphan.resource}, left behind by an earlier session.`,
  );
  switch (outcome.kind) {
    case 'ok':
      return { gone: !outcome.modified, why: outcome.modified ? 'another command was run in its place' : '' };
    case 'denied':
      return { gone: false, why: `denied: ${outcome.reason}` };
    case 'failed':
      return { gone: outcome.absent, why: outcome.absent ? '' : whyNot(outcome) };
  }
}

function removalOf({ bucket, resource, location }: Orphan): string | undefined {
  if (bucket === 'stale_local_files') return commands.removeFile(resource);
  if (bucket === 'untracked_azure' && location !== null)
    return commands.deleteCapture({ location, name: resource, subscription: null });
  return undefined;
}
