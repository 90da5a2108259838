import type { Json } from '../../core/index.ts';
import type { AzCall } from './az-call.ts';

/**
 * What has to be known of a changing command before anybody may propose it: what it changes, and the way back.
 *
 * RE1 `read` prints the state that the command changes, as one JSON document that is the same for the same state.
 * RE2 `plan` answers from that state the command and the one that restores it, or why there is none.
 */
export interface Reversal {
  read(call: AzCall): readonly string[] | string;
  plan(call: AzCall, before: Json, earlier: readonly AzCall[]): Reversible | string;
}

export interface Reversible {
  readonly argv: readonly string[];
  readonly undo: readonly string[];
}
