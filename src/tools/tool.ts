import type { z } from 'zod';
import type { Clock, JsonObject, Writ } from '../core/index.ts';
import type { Finding, Policy } from '../policy/index.ts';

/**
 * A tool: one file that says what it takes, what a policy can say about it, and what it does.
 *
 * T1 `prepare` only looks; `execute` alone has effects, and it takes a writ for exactly what was judged.
 * T2 What a call means is settled by `prepare` and becomes part of the action, so an approval is for that.
 */
export interface Tool<A = unknown, R = unknown> {
  readonly name: string;
  readonly description: string;
  /** `none`: running it twice or not knowing whether it ran makes no difference to the world. */
  readonly effect: 'none' | 'external';
  readonly args: z.ZodType<A>;
  /** The tool's block in a policy. */
  readonly rules: z.ZodType<R>;
  /** Looks at the world: what would this call touch? The answer joins the action. */
  prepare(args: A, ground: Ground, rules: R, policy: Policy): JsonObject | Promise<JsonObject>;
  /** Turns the rules into a judge, once a run. The judge is pure. */
  evaluator(rules: R, policy: Policy, ground: Ground): Judge<A>;
  execute(writ: Writ, context: ToolContext<R>): Promise<ToolOutput>;
}

export type Judge<A = unknown> = (call: { readonly args: A; readonly facts: JsonObject }) => Finding;

/** Where a run happens. */
export interface Ground {
  /** Real path of the folder that relative paths start from. */
  readonly workingDir: string;
  /** Folders no command may see: state, keys. */
  readonly masked: readonly string[];
  /** DNS servers to ask instead of the system's resolver (`127.0.0.1:5353`). */
  readonly dnsServers?: readonly string[];
}

export interface ToolContext<R = unknown> {
  readonly rules: R;
  readonly policy: Policy;
  readonly ground: Ground;
  readonly clock: Clock;
  /** Ends when the step's or the run's time is over. */
  readonly signal: AbortSignal;
  /** Milliseconds this step may take; a tool may take less, never more. */
  readonly timeoutMs: number;
}

export type ToolOutput =
  | { readonly status: 'success'; readonly data: JsonObject }
  | {
      readonly status: 'error';
      readonly code: number;
      readonly message: string;
      readonly suggestion?: string;
    }
  /** A rule that only execution can apply: a redirect, a resolved address, a file that was swapped. */
  | { readonly status: 'denied'; readonly finding: Finding };

/** A tool whose types have been checked where it was defined. */
export function defineTool<A, R>(tool: Tool<A, R>): Tool {
  return tool as unknown as Tool;
}

export function failed(code: number, message: string, suggestion?: string): ToolOutput {
  return { status: 'error', code, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

export function refused(rule: string, reason: string): ToolOutput {
  return { status: 'denied', finding: { verdict: 'deny', rule, at: [rule], reason } };
}
