import type { DurableApprovalQueue } from '../authority/index.ts';
import type { AggregationMethod, Clock, Evaluation, Ids } from '../core/index.ts';
import type { Ledger } from '../ledger/index.ts';

/** How the commands of a `command` step are judged and run. The composition root gives it the Safe-Exec Shell. */
export interface CommandRunner {
  judge(argv: readonly string[]): Evaluation | Promise<Evaluation>;
  run(
    argv: readonly string[],
    why: { readonly reasoning: string; readonly approver: string },
  ): Promise<{
    readonly exitCode: number | null;
    /** What it printed on standard output, redacted. */
    readonly output: string;
    readonly error: string | null;
  }>;
}

/** What a flight needs of the outside. */
export interface FlightDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly queue: DurableApprovalQueue;
  /** Who starts or continues it. An approval is bound to who started. */
  readonly requester: string;
  /** Where mapped secrets are read from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folders no engine sees beside the state folder (audit). */
  readonly hidden?: readonly string[];
  readonly defaultVerdict?: 'warn' | 'require_approval' | 'deny';
  readonly aggregation?: AggregationMethod;
  readonly approvalLifeMs?: number;
  readonly commands?: CommandRunner;
  readonly signal?: AbortSignal;
}
