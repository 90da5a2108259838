import { accessSync, constants, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { bubblewrapArgs } from './bubblewrap.ts';
import { Capture } from './capture.ts';
import { spawnChild } from './child.ts';
import type { Look } from './mounts.ts';
import { newMark } from './process-tree.ts';
import { resolveProgram } from './resolve-program.ts';
import { seccompFilter } from './seccomp.ts';

/** What this machine offers and what on it must be hidden. */
export type BubblewrapState =
  | {
      readonly available: true;
      readonly path: string;
      /** Older versions of bubblewrap go without. */
      readonly disableUserns: boolean;
      readonly filter: Uint8Array;
    }
  | { readonly available: false; readonly reason: string };

const PROBE_MS = 5000;
let probed: Promise<BubblewrapState> | undefined;

/** Whether bubblewrap really works here, in the hardened form; tried once a process. */
export function bubblewrapAvailable(): Promise<BubblewrapState> {
  probed ??= probe();
  return probed;
}

async function probe(): Promise<BubblewrapState> {
  const path = resolveProgram('bwrap');
  const yes = resolveProgram('true');
  if (path === undefined) return { available: false, reason: 'bwrap is not installed' };
  if (yes === undefined) return { available: false, reason: 'there is no program `true` to try it with' };
  const filter = seccompFilter();
  let reason = '';
  for (const disableUserns of [true, false]) {
    const args = bubblewrapArgs({ mounts: [], network: 'none', cwd: '/', disableUserns, command: [yes] });
    const result = await tryOnce(path, args, filter);
    if (result === undefined) return { available: true, path, disableUserns, filter };
    reason = result;
  }
  return { available: false, reason };
}

/** Undefined when it worked, else why not. A fixed command without effect: the one start without a writ. */
async function tryOnce(
  path: string,
  args: readonly string[],
  filter: Uint8Array,
): Promise<string | undefined> {
  const launch = { file: path, args, argv0: 'bwrap', env: {}, cwd: '/', box: { filter, bound: [] } };
  const spawned = spawnChild(launch, newMark(), ['ignore', 'ignore', 'pipe']);
  if (!spawned.ok) return (await spawned.failure).reason;
  const { child } = spawned;
  child.release();
  const stderr = new Capture(500);
  child.process.stderr?.on('data', stderr.push);
  const timer = setTimeout(child.killNow, PROBE_MS);
  const { code, signal } = await child.exited;
  clearTimeout(timer);
  await child.cleanUp();
  if (code === 0) return undefined;
  return Buffer.from(stderr.bytes()).toString('utf8').trim() || `bwrap ended with ${code ?? signal}`;
}

export const lookOnDisk: Look = (path) => {
  try {
    // Most of what is looked for is not there, and an exception costs ten times the look.
    const found = statSync(path, { throwIfNoEntry: false });
    return found && { real: realpathSync.native(path), file: !found.isDirectory() };
  } catch {
    return undefined;
  }
};

const HIDDEN_ALWAYS = ['/tmp', '/var/tmp', '/run', '/var/run'];
/** Readable to a child that is root on the host, capabilities or not. */
const HIDDEN_SECRETS = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/ssl/private'];
const HIDDEN_IN_HOME = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.netrc',
  '.git-credentials',
  '.npmrc',
  '.pypirc',
  '.vault-token',
];

/** Paths hidden from every shut-in child unless the caller names them: scratch, sockets, credentials. */
export function hostMasks(): readonly string[] {
  return [
    ...HIDDEN_ALWAYS,
    ...[...HIDDEN_SECRETS, ...sshHostKeys()].filter(isReadable),
    ...homes().flatMap((home) => HIDDEN_IN_HOME.map((name) => join(home, name))),
    ...listeningSockets().filter(isSocket),
  ];
}

/** What we cannot read ourselves no child of ours can: each mount less is a third of a millisecond. */
function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function homes(): readonly string[] {
  const found = new Set([process.env.HOME ?? '/root']);
  try {
    found.add(userInfo().homedir);
  } catch {
    // a user without an entry in passwd has no other home
  }
  return [...found].filter((home) => home.startsWith('/'));
}

function sshHostKeys(): readonly string[] {
  try {
    return readdirSync('/etc/ssh')
      .filter((name) => name.startsWith('ssh_host_') && !name.endsWith('.pub'))
      .map((name) => join('/etc/ssh', name));
  } catch {
    return [];
  }
}

/** Unix sockets bound to a path: no network namespace keeps a child away from those. */
export function listeningSockets(table: string = readTable()): readonly string[] {
  const paths = new Set<string>();
  for (const line of table.split('\n').slice(1)) {
    // Num RefCount Protocol Flags Type St Inode Path
    const at = line.indexOf(' /');
    if (at !== -1) paths.add(line.slice(at + 1));
  }
  return [...paths];
}

/** The table also names sockets of other mount namespaces; only what lies here is hidden. */
function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false;
  }
}

function readTable(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return '';
  }
}
