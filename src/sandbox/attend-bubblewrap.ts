import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { FILTER_FD, GATE_FD, STATUS_FD } from './bubblewrap.ts';
import type { ProcessCgroup } from './process-cgroup.ts';

export { STATUS_FD } from './bubblewrap.ts';

/** What bubblewrap has told so far. */
export interface StatusReport {
  /** The init of its pid namespace, as the host counts. */
  initPid?: number;
  /** bubblewrap reports an exit code only for a program it got as far as starting. */
  finished: boolean;
}

/** Serves the extra descriptors of a bubblewrap: hands it the filter, hears its status, opens its gate. */
export function attend(
  child: ChildProcess,
  filter: Uint8Array | undefined,
  cgroup: ProcessCgroup | undefined,
): StatusReport {
  const report: StatusReport = { finished: false };
  const streams: readonly (Readable | Writable | null | undefined)[] = child.stdio;
  // One that ended early reads and writes no more; its exit tells.
  for (const stream of streams.slice(STATUS_FD)) stream?.on('error', () => {});
  (streams[FILTER_FD] as Writable).end(filter ?? Buffer.alloc(0));
  let text = '';
  (streams[STATUS_FD] as Readable).on('data', (chunk: Buffer) => {
    if (text.length > 4096) return;
    text += chunk.toString('latin1');
    const init = /"child-pid": *(\d+)/.exec(text)?.[1];
    if (init !== undefined && report.initPid === undefined) {
      report.initPid = Number(init);
      join(cgroup, report.initPid);
      if (cgroup) (streams[GATE_FD] as Writable).end('x');
    }
    if (/"exit-code": *\d+/.test(text)) report.finished = true;
  });
  return report;
}

/** The control group is the second line behind the watcher: a run that cannot join it is still watched. */
function join(cgroup: ProcessCgroup | undefined, pid: number): void {
  try {
    cgroup?.add(pid);
  } catch {
    // gone already, or the group was taken away under us
  }
}
