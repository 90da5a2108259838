/** The door of the forensic engine. Only the command line comes through it. */
export type { Analysis, Bounded, CaptureProblem, Spread, TcpStream } from './analysis.ts';
export type { Counters } from './counters.ts';
export { NotACapture, readCapture } from './read/capture-file.ts';
export type { Finding, SemanticReport, Severity } from './semantic/types.ts';
