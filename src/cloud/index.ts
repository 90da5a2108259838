export { commands } from './commands.ts';
export { createOrchestrator } from './orchestrator.ts';
export { byBucket, removalCommand } from './orphans.ts';
export { loadTasks } from './registry.ts';
export { isEnded, TASK_STATES, type TaskState, TRANSITIONS } from './states.ts';
export type {
  CaptureResult,
  CleanupStatus,
  CleanupStep,
  Intent,
  OrchestrateRequest,
  OrchestrateResponse,
  Orchestrator,
  OrchestratorOptions,
  Orphan,
  OrphanBucket,
  Task,
} from './types.ts';
