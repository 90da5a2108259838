import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { FILTER_FD, STATUS_FD } from './bubblewrap.ts';
import type { ProcessCgroup } from './process-cgroup.ts';

export { STATUS_FD } from './bubblewrap.ts';

/**
 * Serves the extra descriptors of a bubblewrap: hears its status, hands it the filter.
 *
 * A1 The filter is the gate. bubblewrap reads it when everything else stands; without a whole one it gives up
 *    and the program never starts. When we are killed the stream ends, and that is all it ever reads.
 * A2 The filter is handed over when the program may start, and not before bubblewrap has named its init: by then
 *    it has bound its life to ours. The init has joined its control group by then, too.
 */
export interface Attended {
  /** The init of its pid namespace, as the host counts; undefined until it is told. */
  readonly initPid: number | undefined;
  /** bubblewrap reports an exit code only for a program it got as far as starting. */
  readonly finished: boolean;
  /** Lets the program start. */
  release(): void;
}

export function attend(child: ChildProcess, filter: Uint8Array, cgroup: ProcessCgroup | undefined): Attended {
  let initPid: number | undefined;
  let finished = false;
  let released = false;
  let text = '';
  const streams: readonly (Readable | Writable | null | undefined)[] = child.stdio;
  // One that ended early reads and writes no more; its exit tells.
  for (const stream of streams.slice(STATUS_FD)) stream?.on('error', () => {});
  const handOver = () => {
    if (released && initPid !== undefined) (streams[FILTER_FD] as Writable).end(filter);
  };
  (streams[STATUS_FD] as Readable).on('data', (chunk: Buffer) => {
    if (text.length > 4096) return;
    text += chunk.toString('latin1');
    const init = /"child-pid": *(\d+)\D/.exec(text)?.[1];
    if (init !== undefined && initPid === undefined) {
      initPid = Number(init);
      join(cgroup, initPid);
      handOver();
    }
    if (/"exit-code": *\d+/.test(text)) finished = true;
  });
  return {
    get initPid() {
      return initPid;
    },
    get finished() {
      return finished;
    },
    release: () => {
      if (released) return;
      released = true;
      handOver();
    },
  };
}

/** The control group is the second line behind the watcher: a run that cannot join it is still watched. */
function join(cgroup: ProcessCgroup | undefined, pid: number): void {
  try {
    cgroup?.add(pid);
  } catch {
    // gone already, or the group was taken away under us
  }
}
