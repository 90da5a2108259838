import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baseEnvironment, type RunOutcome, type RunSpec, run } from '../../src/sandbox/index.ts';
import { writForArgv } from './test-writ.ts';

/** What a child printed, as text. */
export interface Seen {
  readonly outcome: RunOutcome;
  readonly kind: RunOutcome['kind'];
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export type Options = Partial<Omit<RunSpec, 'argv'>>;

export function specFor(argv: readonly string[], options: Options = {}): RunSpec {
  return { argv, env: baseEnvironment(), cwd: tmpdir(), timeoutMs: 15_000, killAfterMs: 300, ...options };
}

export async function runs(argv: readonly string[], options: Options = {}): Promise<Seen> {
  const outcome = await run(await writForArgv(argv), specFor(argv, options));
  const output = outcome.kind === 'not_started' ? undefined : outcome.output;
  return {
    outcome,
    kind: outcome.kind,
    exitCode: 'exitCode' in outcome ? outcome.exitCode : undefined,
    stdout: Buffer.from(output?.stdout ?? []).toString('utf8'),
    stderr: Buffer.from(output?.stderr ?? []).toString('utf8'),
  };
}

/** A script the test wrote, run by the system's own shell: the test is the one who wants a shell. */
export function script(text: string, options: Options = {}): Promise<Seen> {
  return runs(['/bin/sh', '-c', text], options);
}

/** A folder of the test's own, gone afterwards. */
export function workbench() {
  const path = mkdtempSync(join(tmpdir(), 'writ-sandbox-'));
  return {
    path,
    file(name: string, text: string, mode = 0o644): string {
      const file = join(path, name);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, text);
      chmodSync(file, mode);
      return file;
    },
    read: (name: string) => readFileSync(join(path, name), 'utf8'),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** True while a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
