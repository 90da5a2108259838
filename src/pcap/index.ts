/** The door of the forensic engine. Only the command line comes through it. */
export type {
  Analysis,
  Bounded,
  CaptureFacts,
  CaptureProblem,
  DnsFacts,
  Spread,
  TcpSide,
  TcpStream,
} from './analysis.ts';
export { analyze } from './analyze.ts';
export { type AnalyzeOptions, analyzeCommand, type CommandIo, countersCommand } from './command.ts';
export type { Counters } from './counters.ts';
export { findingsOf } from './findings/index.ts';
export { NotACapture } from './read/capture-file.ts';
export type { Narrative, Narrator } from './report/narrative.ts';
export { type Verification, verificationExit, verifyReport } from './report/verify.ts';
export { countFile } from './run.ts';
export { semanticReport } from './semantic/build.ts';
export type { Finding, SemanticReport, Severity } from './semantic/types.ts';
