import { spawnSync } from 'node:child_process';

/** A program that tests or users need beyond npm, and the Debian package that has it. */
interface SystemProgram {
  readonly program: string;
  readonly debian: string;
  readonly why: string;
}

const PROGRAMS: readonly SystemProgram[] = [
  { program: 'bwrap', debian: 'bubblewrap', why: 'sandbox for engines, tools and flights' },
  { program: 'prlimit', debian: 'util-linux', why: 'resource limits of sandboxed programs' },
  { program: 'tshark', debian: 'tshark', why: 'oracle for the packet tests' },
  { program: 'tcpdump', debian: 'tcpdump', why: 'captures of real traffic in the packet tests' },
  { program: 'ip', debian: 'iproute2', why: 'network namespaces in tests' },
  { program: 'tmux', debian: 'tmux', why: 'terminal tests' },
  { program: 'git', debian: 'git', why: 'the git engine' },
  { program: 'chromium', debian: 'chromium', why: 'reports opened in a real browser' },
];

function present(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}

/** Installs what is missing when it may (root and apt), and answers what is still missing and why it matters. */
export function ensureSystemPackages(
  wanted: readonly string[] = PROGRAMS.map((p) => p.program),
): readonly string[] {
  const missing = PROGRAMS.filter((p) => wanted.includes(p.program) && !present(p.program));
  if (missing.length === 0) return [];
  const mayInstall = process.getuid?.() === 0 && present('apt-get');
  if (mayInstall) {
    process.stderr.write(`writ: installing ${missing.map((p) => p.debian).join(', ')} …\n`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 'ignore', 2], env });
    spawnSync(
      'apt-get',
      ['install', '-y', '-qq', '--no-install-recommends', ...missing.map((p) => p.debian)],
      { stdio: ['ignore', 'ignore', 2], env },
    );
  }
  return missing
    .filter((p) => !present(p.program))
    .map((p) => `${p.program} (Debian package ${p.debian}): ${p.why}`);
}
