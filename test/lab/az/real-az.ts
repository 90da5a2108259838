import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/**
 * A real azure-cli, for tests that hold ours against it: the one WRIT_REAL_AZ names, or one on PATH that is
 * no lab's stand-in. It is never logged in, has a home of its own, and runs in a network namespace without
 * interfaces, so that nothing it does can leave the machine.
 */
export const REAL_AZ: string | undefined = process.env.WRIT_REAL_AZ ?? onPath();

function onPath(): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, 'az'));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return !/enableCompileCache|writ/.test(readFileSync(file, 'latin1').slice(0, 2000));
    } catch {
      return false;
    }
  });
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const home = mkdtempSync(join(tmpdir(), 'writ-real-az-'));
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  AZURE_CONFIG_DIR: join(home, 'azure'),
  AZURE_CORE_COLLECT_TELEMETRY: '0',
};

export function runRealAz(argv: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const offline = ['--user', '--map-root-user', '--net', REAL_AZ!, ...argv];
    const child = execFile('unshare', offline, { env, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}
