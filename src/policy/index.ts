/** Policy: what may happen, decided by rules that a person wrote. */
export { canonicalAddress, isMetadataAddress, parseAddress, privateReason } from './addresses.ts';
export { variableMistake } from './command/environment.ts';
export { inspectCommand, programFamily } from './command/inspect.ts';
export type { InnerCommand, Inspection, Unproven } from './command/inspection.ts';
export {
  type CommandFacts,
  type CommandGround,
  compileCommand,
  type JudgeCommand,
  type Program,
} from './command/judge.ts';
export { applyEdit, type Flip, findFlip, sayEdit } from './explain.ts';
export { type Edit, type Finding, PASSED } from './finding.ts';
export { exactPath, patternFolder, wholeFolder } from './glob.ts';
export { onnxModel } from './onnx/model.ts';
export { modelFile } from './onnx/shipped.ts';
export {
  type DocumentDecision,
  type DocumentJudge,
  evaluationOf,
} from './opa/decision-document.ts';
export { opaServer } from './opa/server.ts';
export { opaWasmPolicy } from './opa/wasm.ts';
export {
  asPattern,
  compilePaths,
  type JudgePath,
  type PathLists,
  type PathSubject,
  pathMistake,
} from './paths.ts';
export {
  type CallToDecide,
  decideCall,
  findCall,
  type LoadedPolicy,
  loadPolicy,
  policyFromJson,
  toEvaluation,
} from './policy.ts';
export { POLICY_FILE, readTextFile } from './read-text.ts';
export {
  commonRules,
  type FsRules,
  fsRules,
  type HttpRules,
  httpRules,
  type Policy,
  type PolicyCase,
  policySchema,
  type ShellRules,
  seenFiles,
  shellRules,
} from './schema.ts';
export { compileDomains, type JudgeUrl, matchesDomain } from './urls.ts';
