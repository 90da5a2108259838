import { resolveProgram } from './resolve-program.ts';
import type { Limits } from './types.ts';

const DEFAULT_MAX_OUTPUT = 10 * 1024 * 1024;
const MOST_OUTPUT = 1024 * 1024 * 1024;

/** Bytes kept of a stream: what was asked for, never without a bound. */
export function outputLimit(limits: Limits | undefined): number {
  const wanted = limits?.maxOutputBytes ?? DEFAULT_MAX_OUTPUT;
  return wanted >= 0 ? Math.floor(Math.min(wanted, MOST_OUTPUT)) : DEFAULT_MAX_OUTPUT;
}

/**
 * The kernel's limits on a child, set by `prlimit` (util-linux), which then becomes the program.
 * `memoryBytes` bounds private writable memory (RLIMIT_DATA): address space (RLIMIT_AS) would refuse
 * every runtime that reserves more than it uses.
 * RLIMIT_NPROC counts a user's tasks everywhere and spares root; it goes in only where a user namespace gives
 * it a count of its own. `process-cgroup.ts` does the same for root, and `watch-processes.ts` counts exactly.
 */
export function limitArgs(limits: Limits, ownUserNamespace: boolean): readonly string[] {
  const args: string[] = [];
  if (limits.memoryBytes !== undefined) args.push(`--data=${whole(limits.memoryBytes)}`);
  if (limits.fileBytes !== undefined) args.push(`--fsize=${whole(limits.fileBytes)}`);
  if (limits.cpuSeconds !== undefined) args.push(`--cpu=${whole(limits.cpuSeconds)}`);
  if (limits.processes !== undefined && ownUserNamespace) args.push(`--nproc=${taskLimit(limits.processes)}`);
  return args.length === 0 ? [] : ['--core=0', ...args];
}

/** The kernel counts threads too and a runtime has a dozen: its bound only holds back an explosion. */
export function taskLimit(processes: number): number {
  return whole(processes) * 8 + 64;
}

/** The words to put before a command so that it runs under `limits`; undefined when that is impossible. */
export function limitPrefix(
  limits: Limits | undefined,
  ownUserNamespace: boolean,
): readonly string[] | undefined {
  const args = limits === undefined ? [] : limitArgs(limits, ownUserNamespace);
  if (args.length === 0) return [];
  const prlimit = resolveProgram('prlimit');
  return prlimit === undefined ? undefined : [prlimit, ...args, '--'];
}

function whole(n: number): number {
  return Math.max(0, Math.ceil(n));
}
