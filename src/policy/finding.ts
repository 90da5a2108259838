import type { Json } from '../core/index.ts';

/** What one tool's rules say about one call, before it is tied to a file and a line. */
export interface Finding {
  readonly verdict: 'allow' | 'require_approval' | 'deny';
  /** Name of the rule within the tool's block: `deny_paths`. */
  readonly rule: string;
  /** Where in the block it is written: `['deny_paths', 2]`; empty for the block itself. */
  readonly at: readonly (string | number)[];
  readonly reason: string;
  /** The block the rule is written in, when it is another tool's: a command keeps to the files of fs.read. */
  readonly block?: string;
  /** The smallest edit of the tool's block after which this check would pass; none when no edit could. */
  readonly mend?: Edit;
}

/** A change of a policy: `add` to a list, `remove` what is there, `set` a value. */
export type Edit =
  | { readonly op: 'add' | 'set'; readonly at: readonly (string | number)[]; readonly value: Json }
  | { readonly op: 'remove'; readonly at: readonly (string | number)[] };

export const PASSED: Finding = Object.freeze({
  verdict: 'allow',
  rule: 'allow',
  at: Object.freeze([]),
  reason: 'every check passed',
});
