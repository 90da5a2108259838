import type { Action } from './action.ts';
import type { Decision } from './decision.ts';
import type { Json } from './json.ts';

/** The narrowest ports, each with a real and a test version (`system.ts`, `testing.ts`). */

export interface Clock {
  /** Wall-clock now. */
  now(): Date;
  /** Monotonic milliseconds, for durations. */
  monotonic(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** A fresh id `<prefix>_<random>`, at least 128 bits of entropy in the real version. */
  next(prefix: string): string;
}

/** What a person is asked. Everything shown to them must be in here, nothing else is. */
export interface ApprovalQuestion {
  readonly action: Action;
  readonly decision: Decision;
  /** Why the caller wants it, in the caller's words: hostile text. */
  readonly reasoning: string;
  readonly approvalId: string;
  /** True when the answer may carry another command instead (Modify). */
  readonly modifiable: boolean;
}

export type ApprovalAnswer =
  | { readonly kind: 'approve'; readonly approver: string; readonly role?: string; readonly reason?: string }
  | { readonly kind: 'deny'; readonly approver: string; readonly reason?: string }
  | { readonly kind: 'modify'; readonly approver: string; readonly replacement: string }
  /** Nobody answered: closed terminal, no terminal, timeout, exception. Counts as a denial. */
  | { readonly kind: 'abandoned'; readonly reason: string };

/** Asks a person and waits. A throw or a rejected promise is `abandoned`. */
export interface Approver {
  ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer>;
}

/** Where records go. `append` resolves when the record is durable. */
export interface AuditSink {
  append(record: { readonly [key: string]: Json }): Promise<void>;
}

export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: Json;
}

export interface ToolRequest {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
  /** Opaque data the provider wants back with the answer (e.g. a thought signature). */
  readonly opaque?: Json;
}

export type Turn =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'model'; readonly text: string; readonly calls: readonly ToolRequest[] }
  | {
      readonly role: 'tools';
      readonly results: readonly { readonly id: string; readonly name: string; readonly result: Json }[];
    };

/** A model, or something that behaves like one: reads the history, says text and wants calls. */
export interface Brain {
  readonly name: string;
  next(
    history: readonly Turn[],
    tools: readonly ToolDeclaration[],
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly calls: readonly ToolRequest[] }>;
}
