import { realpathSync, statSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CODES, WritError } from '../core/index.ts';
import { bubblewrapArgs } from './bubblewrap.ts';
import { bubblewrapAvailable, hostMasks, lookOnDisk } from './host.ts';
import { limitPrefix, taskLimit } from './limits.ts';
import { planMounts } from './mounts.ts';
import { markValue, RUN_MARK } from './process-tree.ts';
import { lookUpProgram } from './resolve-program.ts';
import { type NotStarted, RELAY_PORT, type RunSpec } from './types.ts';

/** What is handed to the kernel. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly argv0: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Shut in by bubblewrap: it reports on the status descriptor and its pid namespace ends with it. */
  readonly box?: Box;
}

export interface Box {
  readonly filter: Uint8Array;
  /** What is shown inside by a mount of its own, the program included. */
  readonly bound: readonly string[];
  /** Most tasks the kernel may let it have. */
  readonly tasks?: number;
}
export type LaunchPlan =
  | { readonly ok: true; readonly launch: Launch }
  | { readonly ok: false; readonly failure: Omit<NotStarted, 'durationMs'> };

export type Launchable = Pick<RunSpec, 'argv' | 'env' | 'cwd' | 'limits' | 'profile'>;

/**
 * From a spec to the words that will be executed. A bad program or path is a value; a machine that cannot
 * give the isolation or the limits asked for is an error: less protection than asked for is never given.
 */
export async function planLaunch(
  spec: Launchable,
  argv: readonly string[],
  mark: string,
): Promise<LaunchPlan> {
  const [word, ...rest] = argv;
  if (word === undefined) return cannot(127, 'there is no program to run');
  const folder = folderProblem(spec.cwd);
  if (folder !== undefined) return cannot(126, folder);
  if (argv.some((arg) => arg.includes('\0'))) return cannot(126, `${word}: an argument holds a NUL byte`);
  const nul = Object.entries(spec.env).find(([name, value]) => `${name}${value}`.includes('\0'));
  if (nul !== undefined) return cannot(126, `${word}: an environment variable holds a NUL byte`);
  const program = lookUpProgram(word, spec.cwd, spec.env.PATH);
  if (!program.ok) return cannot(program.exitCode, program.reason);
  const profile = spec.profile ?? { kind: 'none' };
  const prefix = limitPrefix(spec.limits, profile.kind === 'bubblewrap');
  if (prefix === undefined)
    throw unavailable('prlimit is not installed, so limits cannot be set', 'util-linux');

  if (profile.kind === 'none') {
    // The mark lets the clean-up find descendants that left the process group.
    const env = { ...spec.env, [RUN_MARK]: markValue(mark) };
    const [file, ...before] = prefix;
    if (file === undefined)
      return planned({ file: program.path, args: rest, argv0: word, env, cwd: spec.cwd });
    const args = [...before, program.path, ...rest];
    return planned({ file, args, argv0: file, env, cwd: spec.cwd });
  }

  const bubblewrap = await bubblewrapAvailable();
  if (!bubblewrap.available)
    throw unavailable(`bubblewrap does not work here: ${bubblewrap.reason}`, 'bubblewrap');
  const relay = typeof profile.network === 'object' ? relayWords(profile.network.relay) : [];
  const wanted = {
    profile: {
      ...profile,
      readonly: [...(profile.readonly ?? []), ...relay.filter((w) => w.startsWith('/'))],
    },
    cwd: spec.cwd,
    program: program.path,
    hostMasks: hostMasks(),
  };
  const plan = planMounts(wanted, lookOnDisk);
  if (!plan.ok) return cannot(126, plan.reason);
  const processes = spec.limits?.processes;
  const args = bubblewrapArgs({
    mounts: plan.mounts,
    network: profile.network,
    cwd: plan.cwd,
    disableUserns: bubblewrap.disableUserns,
    command: [...relay, ...prefix, program.path, ...rest],
  });
  const bound = plan.mounts.filter((m) => m.access !== 'masked').map((m) => m.path);
  const box: Box = {
    filter: bubblewrap.filter,
    bound: [...bound, program.path],
    ...(processes === undefined ? {} : { tasks: taskLimit(processes) }),
  };
  return planned({ file: bubblewrap.path, args, argv0: 'bwrap', env: spec.env, cwd: '/', box });
}

function planned(launch: Launch): LaunchPlan {
  return { ok: true, launch };
}

/** The relay before the program: our own Node, our own file, the socket it leads to. */
function relayWords(socket: string): readonly string[] {
  const file = fileURLToPath(import.meta.url);
  const relay = join(dirname(file), `relay${extname(file)}`);
  return [realpathSync(process.execPath), relay, socket, String(RELAY_PORT), '--'];
}

function folderProblem(cwd: string): string | undefined {
  if (!cwd.startsWith('/') || cwd.includes('\0')) return `${JSON.stringify(cwd)}: not an absolute folder`;
  try {
    return statSync(cwd).isDirectory() ? undefined : `${cwd}: not a folder`;
  } catch {
    return `${cwd}: no such folder`;
  }
}

function cannot(exitCode: 126 | 127, reason: string): LaunchPlan {
  return { ok: false, failure: { kind: 'not_started', exitCode, reason } };
}

function unavailable(message: string, debianPackage: string): WritError {
  return new WritError(CODES.sandbox_unavailable, message, {
    suggestion: `install it (Debian: apt-get install ${debianPackage}) and see \`writ doctor\``,
  });
}
