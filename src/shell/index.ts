/**
 * The Safe-Exec Shell: classify → gate → execute → process → record.
 * `shell.ts` is the road of one command; `audit.ts` its record; `process/` what becomes of output.
 */
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
