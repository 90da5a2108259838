import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Writ } from '../core/index.ts';
import {
  baseEnvironment,
  type Output,
  type RunSpec,
  resolveProgram,
  runPipeline,
  SYSTEM_PATH,
} from '../sandbox/index.ts';

/** How commands of this shell are started. */
export interface ExecuteOptions {
  readonly cwd: string;
  /** Folders before the system's own, named by the composition root only (the lab's stand-ins). */
  readonly programPath: readonly string[];
  /** Variables our own code adds; nothing of the caller's environment passes otherwise. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly azTimeoutMs: number;
  readonly maxOutputBytes: number;
  /** Where programs were found. What is no longer there fails to start and is looked for again. */
  readonly found: Map<string, string>;
}

export type Executed =
  | { readonly kind: 'exited'; readonly exitCode: number; readonly output: Output; readonly seconds: number }
  | { readonly kind: 'timeout' | 'interrupted'; readonly output: Output; readonly seconds: number }
  | {
      readonly kind: 'not_started';
      readonly exitCode: 126 | 127;
      readonly reason: string;
      readonly seconds: number;
    };

/**
 * The argvs that will run: what was classified, with each program as an absolute path on our own PATH.
 * A program that cannot be found keeps its name, so that starting it fails with 127.
 */
export function resolvePipeline(
  pipeline: readonly (readonly string[])[],
  options: ExecuteOptions,
): readonly (readonly string[])[] {
  const path = [...options.programPath, SYSTEM_PATH].join(':');
  return pipeline.map(([program = '', ...args]) => [resolve(program, path, options.found), ...args]);
}

const ownBin = fileURLToPath(new URL('../../bin/', import.meta.url));

function resolve(program: string, path: string, found: Map<string, string>): string {
  if (program.includes('/')) return program;
  // The forensic engine is part of the product, wherever that is installed.
  if (program === 'pcap-forensics') return join(ownBin, 'pcap-forensics.js');
  const known = found.get(program);
  if (known !== undefined) return known;
  const resolved = resolveProgram(program, path);
  if (resolved !== undefined) found.set(program, resolved);
  return resolved ?? program;
}

/** What differs from one command to the next. */
export interface ExecuteNow {
  readonly isAzure: boolean;
  /** Nothing starts before this has resolved. */
  readonly after: Promise<unknown>;
  readonly signal: AbortSignal | undefined;
}

export async function executePipeline(
  writ: Writ,
  pipeline: readonly (readonly string[])[],
  options: ExecuteOptions,
  { isAzure, after, signal }: ExecuteNow,
): Promise<Executed> {
  const nodeDir = join(process.execPath, '..');
  const specs = pipeline.map(
    (argv): RunSpec => ({
      argv,
      env: baseEnvironment({
        ...options.env,
        PATH: [...options.programPath, nodeDir, SYSTEM_PATH].join(':'),
      }),
      cwd: options.cwd,
      timeoutMs: isAzure ? options.azTimeoutMs : options.timeoutMs,
      limits: { maxOutputBytes: options.maxOutputBytes },
      after,
      ...(signal ? { signal } : {}),
    }),
  );
  const { outcome } = await runPipeline(writ, specs);
  const seconds = outcome.durationMs / 1000;
  switch (outcome.kind) {
    case 'exited':
      return { kind: 'exited', exitCode: outcome.exitCode, output: outcome.output, seconds };
    case 'timeout':
      return { kind: 'timeout', output: outcome.output, seconds };
    case 'aborted':
      return { kind: 'interrupted', output: outcome.output, seconds };
    case 'not_started':
      options.found.clear();
      return { kind: 'not_started', exitCode: outcome.exitCode, reason: outcome.reason, seconds };
  }
}
