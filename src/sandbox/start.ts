import { CODES, type Writ, WritError } from '../core/index.ts';
import { spawnChild } from './child.ts';
import { claim } from './claim.ts';
import { exitCodeOf } from './exit-code.ts';
import { type Launch, planLaunch } from './plan-launch.ts';
import { newMark } from './process-tree.ts';
import type { InteractiveSpec, NotStarted, RunningProcess, RunOutcome, StartSpec } from './types.ts';
import { watchProcesses } from './watch-processes.ts';

const DEFAULT_KILL_AFTER_MS = 2000;
const TERMINAL_SIGNALS = ['SIGINT', 'SIGQUIT'] as const;
const NOTHING = {
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  stdoutBytes: 0,
  stderrBytes: 0,
  stdoutTruncated: false,
  stderrTruncated: false,
};

/**
 * Starts a process that stays, with its streams in the caller's hands. The caller must read stdout and
 * stderr and call `stop()`. Throws `program_missing` when it cannot be started.
 */
export async function start(writ: Writ, spec: StartSpec): Promise<RunningProcess> {
  const argv = [...spec.argv];
  claim(writ, [argv], [spec.cwd]);
  spec.signal?.throwIfAborted();
  const mark = newMark();
  const plan = await planLaunch(spec, argv, mark);
  if (!plan.ok) throw missing(plan.failure);
  const spawned = spawnChild(plan.launch, mark, ['pipe', 'pipe', 'pipe']);
  if (!spawned.ok) throw missing(await spawned.failure);
  const { child } = spawned;
  child.release();
  const { stdin, stdout, stderr } = child.process;
  if (!stdin || !stdout || !stderr)
    throw missing({ kind: 'not_started', exitCode: 126, reason: 'no streams' });
  // Its stdin breaks when it ends before us; that is told by `exited`.
  stdin.on('error', () => {});

  const stopWatching = watchProcesses([{ child, limit: spec.limits?.processes }]);
  const settled = new AbortController();
  const gone = child.exited.then(async (exit) => {
    stopWatching();
    await child.cleanUp('leave');
    settled.abort();
    return { exitCode: exit.code, signal: exit.signal };
  });
  const stop = once(async () => {
    await child.terminate(spec.killAfterMs ?? DEFAULT_KILL_AFTER_MS);
    await gone;
  });
  spec.signal?.addEventListener('abort', () => void stop(), { once: true, signal: settled.signal });
  if (spec.signal?.aborted) void stop();
  return { pid: child.pid, stdin, stdout, stderr, exited: gone, stop };
}

/** Runs a program on this very terminal: same session, same streams, no capture and no timeout. */
export async function runInteractive(writ: Writ, spec: InteractiveSpec): Promise<RunOutcome> {
  const startedAt = performance.now();
  const argv = [...spec.argv];
  claim(writ, [argv], [spec.cwd]);
  const mark = newMark();
  const plan = await planLaunch(spec, argv, mark);
  if (!plan.ok) return { ...plan.failure, durationMs: performance.now() - startedAt };
  return await onTerminal(plan.launch, mark, startedAt);
}

async function onTerminal(launch: Launch, mark: string, startedAt: number): Promise<RunOutcome> {
  const spawned = spawnChild(launch, mark, ['inherit', 'inherit', 'inherit'], 'terminal');
  if (!spawned.ok) return { ...(await spawned.failure), durationMs: performance.now() - startedAt };
  const { child } = spawned;
  child.release();
  // Ctrl-C at this terminal is meant for the program, though it reaches us as well.
  const leaveIt = () => {};
  for (const signal of TERMINAL_SIGNALS) process.on(signal, leaveIt);
  const exit = await child.exited;
  for (const signal of TERMINAL_SIGNALS) process.off(signal, leaveIt);
  await child.cleanUp();
  return {
    kind: 'exited',
    exitCode: exitCodeOf(exit),
    signal: exit.signal,
    output: NOTHING,
    durationMs: performance.now() - startedAt,
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

function missing(failure: Omit<NotStarted, 'durationMs'>): WritError {
  return new WritError(CODES.program_missing, failure.reason, {
    suggestion: 'check the program name and its permissions',
    context: { exit_code: failure.exitCode },
  });
}
