export { ACTION_KINDS, type Action, type ActionKind, actionDigest, frozenAction } from './action.ts';
export { CAUSE_KINDS, type CauseKind } from './cause.ts';
export {
  AGGREGATION_METHODS,
  type AggregationMethod,
  aggregate,
  type Decision,
  decidingEvaluation,
  type Evaluation,
  severityOf,
  strictest,
  VERDICTS,
  type Verdict,
} from './decision.ts';
export { type Digest, digestOf, isDigest, sha256, ZERO_DIGEST } from './digest.ts';
export {
  CODES,
  type ErrorContext,
  type ErrorFamily,
  EXIT,
  type ExitCode,
  invalid,
  messageOf,
  WritError,
} from './errors.ts';
export { fileError } from './file-error.ts';
export { canonicalJson, isJsonObject, type Json, type JsonObject, parseJson } from './json.ts';
export { type DuplicateKey, duplicateKey } from './json-places.ts';
export type {
  ApprovalAnswer,
  ApprovalQuestion,
  Approver,
  AuditSink,
  Brain,
  Clock,
  Ids,
  ToolDeclaration,
  ToolRequest,
  Turn,
} from './ports.ts';
export { quoteArgv } from './quote.ts';
export type { Redacted } from './redacted.ts';
export { systemClock, systemIds } from './system.ts';
export { visible } from './visible.ts';
export { Writ, type WritGrounds } from './writ.ts';
