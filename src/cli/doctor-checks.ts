import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { createAuthority, type Evaluator } from '../authority/index.ts';
import { digestOf, messageOf, systemClock, systemIds, WritError } from '../core/index.ts';
import { checkPrivateDir, loadExistingSigner, statePaths } from '../ledger/index.ts';
import { baseEnvironment, bubblewrapAvailable, resolveProgram, run } from '../sandbox/index.ts';

/**
 * What a machine has and lacks. Nothing here changes anything: no folder is made, no key, and the programs
 * it starts are only asked for their version, each with a writ for exactly that.
 */
export interface Check {
  readonly name: string;
  /** `missing`: needed and not there or not usable. `optional`: not there, and only what `why` says needs it. */
  readonly state: 'ok' | 'missing' | 'optional';
  readonly found: string;
  readonly why: string;
  /** The command that mends it; empty when there is nothing to mend. */
  readonly mend: string;
}

export const OLDEST_NODE = 24;

export async function examineMachine(stateDir: string): Promise<readonly Check[]> {
  const programs = Promise.all(PROGRAMS.map(examineProgram));
  return [
    nodeVersion(process.versions.node),
    await bubblewrap(),
    ...(await programs),
    stateFolder(stateDir),
    keys(stateDir),
  ];
}

export function nodeVersion(version: string): Check {
  const enough = Number(version.split('.')[0]) >= OLDEST_NODE;
  return {
    name: 'node',
    state: enough ? 'ok' : 'missing',
    found: version,
    why: `runs Writ itself; at least ${OLDEST_NODE} is needed`,
    mend: enough ? '' : 'npm ci',
  };
}

async function bubblewrap(): Promise<Check> {
  const why = 'shuts engines in: without it a flight step fails unless its workflow says `isolation: none`';
  const state = await bubblewrapAvailable();
  if (state.available) {
    const version = await versionOf(state.path, ['--version']);
    return {
      name: 'bubblewrap',
      state: 'ok',
      found: `${version ?? state.path}, tried and working`,
      why,
      mend: '',
    };
  }
  const installed = resolveProgram('bwrap') !== undefined;
  return {
    name: 'bubblewrap',
    state: 'optional',
    found: installed ? `installed, but does not work here: ${state.reason}` : state.reason,
    why,
    mend: installed
      ? 'sudo sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0'
      : 'sudo apt-get install bubblewrap',
  };
}

interface Program {
  readonly name: string;
  /** Names it goes by; the first found counts. */
  readonly programs: readonly string[];
  readonly why: string;
  readonly mend: string;
  readonly needed?: true;
  /** Arguments that print its version at once and do nothing else; left out for those that phone home. */
  readonly version?: readonly string[];
}

const PROGRAMS: readonly Program[] = [
  {
    name: 'prlimit',
    programs: ['prlimit'],
    why: 'sets memory, file and processor limits of what is run',
    mend: 'sudo apt-get install util-linux',
    needed: true,
  },
  {
    name: 'mkfifo',
    programs: ['mkfifo'],
    why: 'makes the pipes between the stages of an approved pipeline',
    mend: 'sudo apt-get install coreutils',
    needed: true,
  },
  {
    name: 'git',
    programs: ['git'],
    why: 'the built-in `git` engine of flights',
    mend: 'sudo apt-get install git',
    version: ['--version'],
  },
  {
    name: 'tshark',
    programs: ['tshark'],
    why: 'reading captures by hand in an investigation; the forensic engine does not need it',
    mend: 'sudo apt-get install tshark',
    version: ['--version'],
  },
  {
    name: 'chromium',
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    why: 'the end-to-end tests of the console',
    mend: 'sudo apt-get install chromium',
  },
  {
    name: 'az',
    programs: ['az'],
    why: 'investigating a real Azure; the lab brings its own stand-in',
    mend: 'pipx install azure-cli && sudo ln -s ~/.local/bin/az /usr/local/bin/az',
  },
  {
    name: 'opa',
    programs: ['opa'],
    why: 'compiling your own Rego policies; the shipped ones are compiled',
    mend: 'go install github.com/open-policy-agent/opa@latest && sudo cp ~/go/bin/opa /usr/local/bin/',
    version: ['version'],
  },
  {
    name: 'terraform',
    programs: ['terraform'],
    why: 'the built-in `terraform` engine of flights',
    mend: 'see https://developer.hashicorp.com/terraform/install',
  },
];

async function examineProgram(program: Program): Promise<Check> {
  const { name, why, mend, version } = program;
  const path = program.programs.map((p) => resolveProgram(p)).find((p) => p !== undefined);
  if (path === undefined) {
    const state = program.needed ? 'missing' : 'optional';
    return { name, state, found: 'not on the system path', why, mend };
  }
  const told = version && (await versionOf(path, version));
  return { name, state: 'ok', found: told ? `${told} (${path})` : path, why, mend: '' };
}

/** First line a program says about its version, or undefined. */
async function versionOf(path: string, args: readonly string[]): Promise<string | undefined> {
  const argv = [path, ...args];
  const onlyVersions: Evaluator = {
    name: 'doctor',
    evaluate: () => ({
      evaluator: 'doctor',
      verdict: 'allow',
      rule: 'doctor.version',
      reason: 'asks a version',
    }),
  };
  try {
    const answer = await createAuthority({ clock: systemClock, ids: systemIds }).authorize({
      action: { kind: 'process.start', subject: path, detail: { argv } },
      evaluators: [onlyVersions],
      reasoning: 'doctor',
      requester: 'doctor',
      policyDigest: digestOf(['doctor.version']),
      whenApprovalNeeded: 'never',
    });
    if (answer.outcome !== 'granted') return undefined;
    const outcome = await run(answer.writ, {
      argv,
      env: baseEnvironment(),
      cwd: '/',
      timeoutMs: 5000,
      limits: { maxOutputBytes: 4096 },
    });
    if (outcome.kind !== 'exited' || outcome.exitCode !== 0) return undefined;
    return Buffer.from(outcome.output.stdout).toString('utf8').split('\n')[0]?.trim().slice(0, 100);
  } catch {
    return undefined;
  }
}

function stateFolder(stateDir: string): Check {
  const check = {
    name: 'state folder',
    why: 'holds runs, approvals, flights and keys; nobody else may write it',
  };
  if (!existsSync(stateDir)) {
    const parent = nearestParent(stateDir);
    const can = writable(parent);
    return {
      ...check,
      state: can ? 'ok' : 'missing',
      found: can ? `${stateDir} will be made when it is first needed` : `${parent} cannot be written`,
      mend: can ? '' : 'writ <command> --state-dir <a folder of yours>',
    };
  }
  const problem = failure(() => checkPrivateDir(stateDir));
  return {
    ...check,
    state: problem ? 'missing' : 'ok',
    found: problem?.what ?? `${stateDir}, yours alone to write`,
    mend: problem?.mend ?? '',
  };
}

function keys(stateDir: string): Check {
  const check = { name: 'keys', why: 'sign the ledger, so that nobody can rewrite it unseen' };
  const folder = statePaths(stateDir).keys;
  if (!existsSync(folder))
    return { ...check, state: 'ok', found: 'made when something is first recorded', mend: '' };
  let id: string | undefined;
  const problem = failure(() => {
    checkPrivateDir(folder);
    id = loadExistingSigner(folder)?.keyId;
  });
  const found =
    id === undefined ? 'made when something is first recorded' : `key ${id.slice(0, 16)}… in ${folder}`;
  return {
    ...check,
    state: problem ? 'missing' : 'ok',
    found: problem?.what ?? found,
    mend: problem?.mend ?? '',
  };
}

function failure(work: () => void): { readonly what: string; readonly mend: string } | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return {
      what: messageOf(error),
      mend: (error instanceof WritError ? error.suggestion : undefined) ?? 'ls -la',
    };
  }
}

function nearestParent(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder))
    if (existsSync(folder) || folder === '/') return folder;
}

function writable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
