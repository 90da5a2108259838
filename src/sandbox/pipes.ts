import { spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CODES, WritError } from '../core/index.ts';
import { SYSTEM_PATH } from './environment.ts';
import { resolveProgram } from './resolve-program.ts';

/**
 * The two ends of a pipe between two stages. Both belong to children; close ours once they have started.
 * `place` refers to the pipe without being an end of it.
 */
export interface Pipe {
  readonly read: number;
  readonly write: number;
  readonly place: number;
}

const O_PATH = 0o10000000;
const SOONEST_MS = 10;
const LATEST_MS = 500;

/**
 * Real pipes. What Node calls a pipe is a socket pair: a writer whose reader leaves gets ECONNRESET there
 * instead of SIGPIPE, and /dev/stdin cannot be opened. A named pipe, unlinked at once, is the real thing.
 */
export async function openPipes(count: number): Promise<readonly Pipe[]> {
  if (count === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), 'writ-pipe-'));
  const names = Array.from({ length: count }, (_, i) => join(folder, String(i)));
  try {
    await makeFifos(names);
    return names.map(openBothEnds);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Our copies must go once the children have theirs, or a stage never sees its reader or its writer leave. */
export function closeEnds(pipes: readonly Pipe[]): void {
  for (const { read, write } of pipes) {
    closeSync(read);
    closeSync(write);
  }
}

export function closePlaces(pipes: readonly Pipe[]): void {
  for (const { place } of pipes) closeSync(place);
}

/**
 * A stage that opens /dev/stdin after its writer has left waits for another writer: named pipes differ from
 * the shell's there. So one comes by for a moment, now and then, until told to stop; to a stage that reads
 * it is the same end of file as before.
 */
export function visitAsWriter({ place }: Pipe, writerLeft: Promise<unknown>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const visitAfter = (pause: number) => {
    if (stopped) return;
    timer = setTimeout(() => {
      try {
        closeSync(openSync(`/proc/self/fd/${place}`, constants.O_WRONLY | constants.O_NONBLOCK));
      } catch {
        // nobody reads from it
      }
      visitAfter(Math.min(pause * 2, LATEST_MS));
    }, pause);
  };
  void writerLeft.then(() => visitAfter(SOONEST_MS));
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

function openBothEnds(path: string): Pipe {
  // Opened for both first: each single end then opens without waiting for the other.
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    const place = openSync(path, O_PATH);
    return { read: openSync(path, constants.O_RDONLY), write: openSync(path, constants.O_WRONLY), place };
  } finally {
    closeSync(both);
  }
}

function makeFifos(names: readonly string[]): Promise<void> {
  const mkfifo = resolveProgram('mkfifo');
  return new Promise((resolve, reject) => {
    const fail = (why: string) =>
      reject(
        new WritError(CODES.sandbox_unavailable, `pipes cannot be made: ${why}`, {
          suggestion: 'install coreutils, and check that the temporary folder is writable',
        }),
      );
    if (mkfifo === undefined) return fail('mkfifo is not installed');
    const child = spawn(mkfifo, ['-m', '600', '--', ...names], {
      env: { PATH: SYSTEM_PATH },
      stdio: 'ignore',
    });
    child.on('error', (error) => fail(error.message));
    child.on('exit', (code) => (code === 0 ? resolve() : fail(`mkfifo ended with ${code}`)));
  });
}
