/**
 * The Safe-Exec Shell: classify → gate → execute → process → record.
 * `road.ts` is the road of one command; `gate/` the question; `process/` what becomes of output; `audit.ts` its record.
 */
export { classify } from './classify/index.ts';
export { alertBox, displayWidth, wrapDisplay } from './gate/box.ts';
export { terminalApprover } from './gate/terminal.ts';
export { readShellAudit, type ShellAuditRecord } from './read.ts';
export { createShell, type OwnedShell, type ShellOptions } from './shell.ts';
export type {
  Classification,
  OutputMetadata,
  Shell,
  ShellAction,
  ShellClass,
  ShellError,
  ShellRequest,
  ShellResponse,
} from './types.ts';
export { type Explanation, explain } from './why.ts';
