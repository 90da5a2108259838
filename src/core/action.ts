import { type Digest, digestOf } from './digest.ts';
import type { JsonObject } from './json.ts';

/** What is wanted, as data. `detail` must hold everything that decides what would happen. */
export interface Action {
  readonly kind: ActionKind;
  /** Short name for people and lists: the command line, the tool's name, the workflow step. */
  readonly subject: string;
  readonly detail: JsonObject;
}

export const ACTION_KINDS = [
  'shell.command',
  'tool.call',
  'flight.engine',
  'flight.take_off',
  'mcp.call',
  'llm.call',
  'process.start',
] as const;
export type ActionKind = (typeof ACTION_KINDS)[number];

export function actionDigest(action: Action): Digest {
  return digestOf({ kind: action.kind, subject: action.subject, detail: action.detail });
}
