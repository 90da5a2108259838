/** Plans: run, resume, replay, report; the store that keeps what happened. */
export { runDocumentText, runHead, type StepDocument, stepDocuments } from './document.ts';
export { type CallJudge, createCallJudge } from './judge.ts';
export { type LoadedPlan, loadPlan, PLAN_FILE, type Plan, type PlanStep } from './plan.ts';
export { type ReplayOptions, replayRun } from './replay.ts';
export { type ResumeOptions, resumeRun } from './resume.ts';
export { type Progress, type RunOptions, type RunSummary, runPlan } from './run.ts';
export { openRunReader, type RunReader, type StepRecord } from './store/reader.ts';
export type { CallRow, ResultRow, RunRow, RunStatus } from './store/rows.ts';
export { openRunStore, type RunStore } from './store/store.ts';
export { verifyRunStore } from './store/verify.ts';
