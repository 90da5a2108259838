import { CODES, type Writ, WritError } from '../core/index.ts';
import { Capture } from './capture.ts';
import { type Child, type Exit, type Spawned, spawnChild } from './child.ts';
import { claim } from './claim.ts';
import { exitCodeOf } from './exit-code.ts';
import { outputLimit } from './limits.ts';
import { closeEnds, closePlaces, openPipes, type Pipe, visitAsWriter } from './pipes.ts';
import { type Launch, planLaunch } from './plan-launch.ts';
import { newMark } from './process-tree.ts';
import { type ReadySandbox, takeReady } from './ready.ts';
import type { Output, PipelineOutcome, RunOutcome, RunSpec, StageOutcome } from './types.ts';
import { watchProcesses } from './watch-processes.ts';

const DEFAULT_KILL_AFTER_MS = 2000;
/** Beyond this setTimeout fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs one program to its end. Everything that can go wrong with the program itself is a value. `ready` is a
 * sandbox made for this spec; it is used up, or ended when it does not fit.
 */
export async function run(writ: Writ, spec: RunSpec, ready?: ReadySandbox): Promise<RunOutcome> {
  try {
    return (await runStages(writ, [spec], ready)).outcome;
  } finally {
    await ready?.discard();
  }
}

interface Stage {
  readonly argv: readonly string[];
  readonly child: Child;
  readonly stderr: Capture;
}

/**
 * Runs programs joined by pipes, without a shell. One timeout for all: the longest of the specs'. Only the
 * first may have stdin.
 */
export function runPipeline(writ: Writ, specs: readonly RunSpec[]): Promise<PipelineOutcome> {
  return runStages(writ, specs);
}

async function runStages(
  writ: Writ,
  specs: readonly RunSpec[],
  ready?: ReadySandbox,
): Promise<PipelineOutcome> {
  let startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const argvs = specs.map((spec) => [...spec.argv]);
  const first = specs[0];
  const last = specs.at(-1);
  if (first === undefined || last === undefined) throw invalid('a pipeline needs at least one stage');
  if (specs.slice(1).some((spec) => spec.stdin !== undefined))
    throw invalid('only the first stage has stdin');
  const timeoutMs = longestTimeout(specs);
  const mayStart = Promise.all(specs.map((spec) => spec.after));
  // Heard below, when everything else is prepared.
  mayStart.catch(() => {});
  claim(
    writ,
    argvs,
    specs.map((spec) => spec.cwd),
  );
  if (specs.some((spec) => spec.signal?.aborted))
    return {
      outcome: { kind: 'aborted', output: outputOf(new Capture(0), []), durationMs: elapsed() },
      stages: [],
    };

  // Whoever is to be done first gets the first turn; the start is made ready while they wait for the disk.
  if (specs.some((spec) => spec.after !== undefined)) await new Promise(setImmediate);
  const mark = newMark();
  const launches: Launch[] = [];
  for (const [i, spec] of specs.entries()) {
    const plan = await planLaunch(spec, argvs[i] ?? [], mark);
    if (!plan.ok) return { outcome: { ...plan.failure, durationMs: elapsed() }, stages: [] };
    launches.push(plan.launch);
  }

  const pipes = await openPipes(launches.length - 1);
  try {
    await mayStart;
  } catch (error) {
    closeEnds(pipes);
    closePlaces(pipes);
    throw error;
  }
  startedAt = performance.now();
  const started = await startStages(specs, argvs, launches, mark, pipes, ready);
  if (!started.ok) {
    closePlaces(pipes);
    return { outcome: { ...started.failure, durationMs: elapsed() }, stages: [] };
  }
  const { stages } = started;
  const stdout = new Capture(outputLimit(last.limits));
  stages.at(-1)?.child.process.stdout?.on('data', stdout.push);
  feed(first, stages[0]?.child);

  const stopWatching = watchProcesses(
    stages.map(({ child }, i) => ({ child, limit: specs[i]?.limits?.processes })),
  );
  const ended = Promise.all(stages.map(({ child }) => child.exited));
  const stopVisits = pipes.map((pipe, i) => visitAsWriter(pipe, stages[i]?.child.exited ?? ended));
  const verdict = await waitFor(ended, timeoutMs, specs);
  if (verdict !== 'exited') {
    const grace = Math.max(...specs.map((spec) => spec.killAfterMs ?? DEFAULT_KILL_AFTER_MS));
    await Promise.all(stages.map(({ child }) => child.terminate(grace)));
  }
  const exits = await ended;
  stopWatching();
  for (const stop of stopVisits) stop();
  closePlaces(pipes);
  await Promise.all(stages.map(({ child }) => child.cleanUp()));

  const output = outputOf(
    stdout,
    stages.map((stage) => stage.stderr),
  );
  const stageOutcomes = stages.map((stage, i) => stageOutcome(stage, exits[i]));
  const durationMs = elapsed();
  if (verdict !== 'exited') return { outcome: { kind: verdict, output, durationMs }, stages: stageOutcomes };
  const broken = stages.find(({ child }, i) => !child.setUp() && exits[i]?.signal === null);
  if (broken !== undefined) {
    const reason =
      Buffer.from(broken.stderr.bytes()).toString('utf8').trim() || 'the sandbox could not be set up';
    return { outcome: { kind: 'not_started', exitCode: 126, reason, durationMs }, stages: [] };
  }
  const { exitCode, signal } = stageOutcomes.at(-1) ?? { exitCode: 1, signal: null };
  return { outcome: { kind: 'exited', exitCode, signal, output, durationMs }, stages: stageOutcomes };
}

async function startStages(
  specs: readonly RunSpec[],
  argvs: readonly (readonly string[])[],
  launches: readonly Launch[],
  mark: string,
  pipes: readonly Pipe[],
  ready: ReadySandbox | undefined,
) {
  const stages: Stage[] = [];
  try {
    for (const [i, launch] of launches.entries()) {
      const stdin = pipes[i - 1]?.read ?? (specs[0]?.stdin === undefined ? 'ignore' : 'pipe');
      const waiting = ready && stdin === 'pipe' ? takeReady(ready, launch) : undefined;
      const spawned: Spawned = waiting
        ? { ok: true, child: waiting }
        : spawnChild(launch, mark, [stdin, pipes[i]?.write ?? 'pipe', 'pipe']);
      if (!spawned.ok) {
        for (const { child } of stages) child.killNow();
        await Promise.all(stages.map(({ child }) => child.cleanUp()));
        return { ok: false, failure: await spawned.failure } as const;
      }
      spawned.child.release();
      const spec = specs[i];
      const stderr = new Capture(outputLimit(spec?.limits));
      spawned.child.process.stderr?.on('data', stderr.push);
      tell(spawned.child, spec?.onStderr);
      stages.push({ argv: argvs[i] ?? [], child: spawned.child, stderr });
    }
    return { ok: true, stages } as const;
  } finally {
    closeEnds(pipes);
  }
}

/** Live progress is a courtesy: a listener that fails is no longer told, and the run goes on. */
function tell(child: Child, listener: RunSpec['onStderr']): void {
  if (listener === undefined) return;
  const pass = (chunk: Buffer) => {
    try {
      listener(chunk);
    } catch {
      child.process.stderr?.off('data', pass);
    }
  };
  child.process.stderr?.on('data', pass);
}

function feed(spec: RunSpec, child: Child | undefined): void {
  const pipe = child?.process.stdin;
  if (spec.stdin === undefined || !pipe) return;
  // A program that does not read its input closes the pipe; that is its right.
  pipe.on('error', () => {});
  pipe.end(spec.stdin);
}

async function waitFor(
  ended: Promise<unknown>,
  timeoutMs: number,
  specs: readonly RunSpec[],
): Promise<'exited' | 'timeout' | 'aborted'> {
  const cut = Promise.withResolvers<'timeout' | 'aborted'>();
  const timeout = setTimeout(() => cut.resolve('timeout'), timeoutMs);
  const abort = () => cut.resolve('aborted');
  for (const { signal } of specs) {
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
  }
  try {
    return await Promise.race([ended.then(() => 'exited' as const), cut.promise]);
  } finally {
    clearTimeout(timeout);
    for (const { signal } of specs) signal?.removeEventListener('abort', abort);
  }
}

function longestTimeout(specs: readonly RunSpec[]): number {
  const longest = Math.max(...specs.map((spec) => spec.timeoutMs));
  if (!(longest > 0)) throw invalid(`timeoutMs must be a positive number, not ${longest}`);
  return Math.min(longest, LONGEST_TIMER_MS);
}

function outputOf(stdout: Capture, stderrs: readonly Capture[]): Output {
  return {
    stdout: stdout.bytes(),
    stderr:
      stderrs.length === 1 && stderrs[0] ? stderrs[0].bytes() : Buffer.concat(stderrs.map((s) => s.bytes())),
    stdoutBytes: stdout.total,
    stderrBytes: stderrs.reduce((sum, s) => sum + s.total, 0),
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderrs.some((s) => s.truncated),
  };
}

function stageOutcome({ argv, stderr }: Stage, exit: Exit | undefined): StageOutcome {
  return {
    argv,
    exitCode: exitCodeOf(exit),
    signal: exit?.signal ?? null,
    stderr: stderr.bytes(),
    stderrBytes: stderr.total,
    stderrTruncated: stderr.truncated,
  };
}

function invalid(message: string): WritError {
  return new WritError(CODES.invalid_input, message, { suggestion: 'correct the run specification' });
}
