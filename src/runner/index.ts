/** Plans: run, resume, replay, report; the store that keeps what happened. */
export { type CaseResult, testPolicy } from './cases.ts';
export { type ChangedDecision, diffPolicy, type PolicyDiff } from './diff.ts';
export { runDocumentText, runHead, type StepDocument, stepDocuments } from './document.ts';
export { type Explanation, explainCall } from './explain.ts';
export { type CallJudge, createCallJudge } from './judge.ts';
export { type LoadedPlan, loadPlan, PLAN_FILE, type Plan, type PlanStep } from './plan.ts';
export { type ReplayOptions, replayRun } from './replay.ts';
export { consoleReport, type Paint, stepMark, subjectOf } from './report/console-report.ts';
export { htmlReport } from './report/html-report.ts';
export { jsonReport } from './report/json-report.ts';
export { type ResumeOptions, resumeRun } from './resume.ts';
export { type Progress, type RunOptions, type RunSummary, runPlan } from './run.ts';
export { findRunStores } from './store/locate.ts';
export { openRunReader, type RunReader, type StepRecord } from './store/reader.ts';
export type { CallRow, ResultRow, RunRow, RunStatus } from './store/rows.ts';
export { openRunStore, type RunStore } from './store/store.ts';
export { verifyRunStore } from './store/verify.ts';
export { readToolCases, type ToolCaseResult, testTool } from './tool-cases.ts';
