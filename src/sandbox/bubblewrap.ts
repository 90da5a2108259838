import type { Mount } from './mounts.ts';
import type { Network } from './types.ts';

/** File descriptor on which bubblewrap reports the pid inside and that the set-up is finished. */
export const STATUS_FD = 3;
/** File descriptor from which bubblewrap reads the seccomp filter: the last thing it does before the program. */
export const FILTER_FD = 4;

/** Temporary space of a child lives in memory: bounded, or it would be a way to exhaust the host. */
const SCRATCH_BYTES = 256 * 1024 * 1024;
const SHM_BYTES = 64 * 1024 * 1024;

export interface BubblewrapInput {
  readonly mounts: readonly Mount[];
  readonly network: Network;
  readonly cwd: string;
  /** bubblewrap ≥ 0.8 can forbid new user namespaces inside. */
  readonly disableUserns: boolean;
  readonly command: readonly string[];
}

/**
 * Arguments of `bwrap` for a set of mounts. Pure; the order matters and is pinned by golden tests.
 *
 * B1 `--cap-drop ALL` and a new user namespace, also as root: without them a remount gives the host away.
 * B2 Own pid namespace that dies with us: nothing inside outlives the run, whatever it forks or detaches.
 * B3 /proc is read-only: to the kernel a child of root's is root there, capabilities or not, and could set
 *    `kernel.core_pattern` to a program that then runs outside.
 * B4 Masked folders are empty and read-only; `/tmp` and `/dev/shm` are fresh and bounded.
 * B5 Always a filter, so that the program always waits for it: see `attend-bubblewrap.ts`.
 */
export function bubblewrapArgs(input: BubblewrapInput): readonly string[] {
  const args = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
  args.push('--size', String(SHM_BYTES), '--tmpfs', '/dev/shm');
  for (const mount of input.mounts) args.push(...mountArgs(mount));
  // Last, because bubblewrap makes the folders of deeper mounts inside a mask while it is still writable.
  for (const { path, access, file } of input.mounts)
    if (access === 'masked' && !file && !isScratch(path)) args.push('--remount-ro', path);
  args.push('--remount-ro', '/dev', '--remount-ro', '/proc');
  if (input.network !== 'host') args.push('--unshare-net');
  args.push('--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try');
  args.push('--die-with-parent', '--new-session', '--unshare-user');
  if (input.disableUserns) args.push('--disable-userns');
  args.push('--uid', '65534', '--gid', '65534', '--cap-drop', 'ALL');
  args.push('--chdir', input.cwd, '--json-status-fd', String(STATUS_FD), '--seccomp', String(FILTER_FD));
  return [...args, '--', ...input.command];
}

function mountArgs({ path, access, file, from }: Mount): readonly string[] {
  switch (access) {
    case 'writable':
      return ['--bind', path, path];
    case 'readonly':
      return ['--ro-bind', path, path];
    case 'masked':
      if (file) return ['--ro-bind', '/dev/null', path];
      return isScratch(path) && from === 'host'
        ? ['--size', String(SCRATCH_BYTES), '--tmpfs', path]
        : ['--size', '1048576', '--tmpfs', path];
  }
}

/** `/tmp` is masked and yet usable: programs expect to write there. */
function isScratch(path: string): boolean {
  return path === '/tmp';
}
