import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A kernel bound on the number of tasks of one run, for root: RLIMIT_NPROC spares root, and a fork bomb
 * grows faster than any watcher ticks. Only where the control groups can be written; elsewhere the watcher
 * is alone.
 */
export interface ProcessCgroup {
  add(pid: number): void;
  /** Takes the folder away once nobody is left in it. */
  remove(): void;
}

/** Unified hierarchy, then the old one. */
const BASES = ['/sys/fs/cgroup', '/sys/fs/cgroup/pids'];

export function openProcessCgroup(name: string, tasks: number): ProcessCgroup | undefined {
  for (const base of BASES) {
    const folder = join(base, `writ-${name}`);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    try {
      // A folder on a plain tmpfs, or without the controller, takes no limit.
      if (!existsSync(join(folder, 'pids.max'))) throw new Error('no pids controller');
      writeFileSync(join(folder, 'pids.max'), String(tasks));
      return {
        add: (pid) => writeFileSync(join(folder, 'cgroup.procs'), String(pid)),
        remove: () => removeSoon(folder),
      };
    } catch {
      tryRemove(folder);
    }
  }
  return undefined;
}

/** Dead processes leave their group a moment after they are reaped by whoever adopted them. */
function removeSoon(folder: string, attempts = 50): void {
  if (tryRemove(folder) || attempts === 0) return;
  setTimeout(() => removeSoon(folder, attempts - 1), 20).unref();
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}
