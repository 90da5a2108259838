/** Process execution has one door: this one. Every call takes a writ. */
export { baseEnvironment, SYSTEM_PATH } from './environment.ts';
export { type BubblewrapState, bubblewrapAvailable } from './host.ts';
export { endOrphans } from './orphans.ts';
export { makeReady, type ReadySandbox } from './ready.ts';
export { resolveProgram } from './resolve-program.ts';
export { run, runPipeline } from './run.ts';
export { runInteractive, start } from './start.ts';
export { distrust } from './trusted-folder.ts';
export type {
  InteractiveSpec,
  Limits,
  Network,
  NotStarted,
  Output,
  PipelineOutcome,
  Profile,
  RunningProcess,
  RunOutcome,
  RunSpec,
  StageOutcome,
  StartSpec,
} from './types.ts';
export { RELAY_ADDRESS } from './types.ts';
