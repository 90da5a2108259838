import type { z } from 'zod';
import type { Json } from '../../core/index.ts';

/**
 * What a third-party tool is: one file that exports `tool`, a function that gets the kit and gives the
 * definition. It imports nothing at run time, so it works from any folder.
 */
export type ToolFactory = (kit: ToolKit) => ToolDefinition;

export interface ToolKit {
  /** The zod library, for the two schemas. */
  readonly z: typeof z;
}

export interface ToolDefinition<A = never, R = never> {
  /** `group.name`, in lower case. */
  readonly name: string;
  readonly description: string;
  /** Arguments of a call. Use `z.strictObject`. */
  readonly args: z.ZodObject;
  /** The tool's own keys in a policy. Use `z.strictObject`. */
  readonly rules: z.ZodObject;
  /** May this call happen? Looks only; runs without network and on a read-only disk. */
  evaluate(call: ToolCall<A, R>): ToolVerdict | Promise<ToolVerdict>;
  /** Does it. The answer must be JSON. A throw is the step's error. */
  execute(call: ToolCall<A, R>): Json | Promise<Json>;
}

export interface ToolCall<A, R> {
  readonly args: A;
  readonly rules: R;
  readonly workingDir: string;
}

export type ToolVerdict =
  | { readonly verdict: 'allow' }
  | { readonly verdict: 'deny' | 'require_approval'; readonly rule: string; readonly reason: string };
