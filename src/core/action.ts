import { type Digest, digestOf, sha256 } from './digest.ts';
import { canonicalJson, type JsonObject } from './json.ts';

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

/** Of frozen copies alone: what cannot change has one digest, worked out once. */
const digests = new WeakMap<Action, Digest>();

export function actionDigest(action: Action): Digest {
  return digests.get(action) ?? digestOf(fieldsOf(action));
}

/**
 * A copy nobody else holds, frozen to the bottom, so that what is judged cannot change before it is done.
 * A frozen copy is its own copy. Throws when the action has no canonical form.
 */
export function frozenAction(action: Action): Action {
  if (digests.has(action)) return action;
  const text = canonicalJson(fieldsOf(action));
  const copy = deepFreeze(JSON.parse(text) as Action);
  digests.set(copy, sha256(text));
  return copy;
}

function fieldsOf({ kind, subject, detail }: Action): Action {
  return { kind, subject, detail };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
