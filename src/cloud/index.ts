export { commands } from './commands.ts';
export { createOrchestrator } from './orchestrator.ts';
export { byBucket } from './orphans.ts';
export { loadTasks } from './registry.ts';
export { type Removal, removeOrphan } from './remove-orphan.ts';
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
