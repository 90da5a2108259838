import type { Authority, DurableApprovalQueue, Evaluator } from '../../authority/index.ts';
import type { Clock, Digest, Ids, JsonObject } from '../../core/index.ts';
import type { Journal } from '../../ledger/index.ts';
import type { Gate } from '../gate.ts';
import type { Metrics } from '../metrics.ts';
import type { RateLimiter } from '../rate-limit.ts';
import type { Telemetry } from '../telemetry.ts';
import type { McpConfig, McpRule } from './config.ts';
import type { Held } from './held.ts';
import type { Outcomes } from './outcomes.ts';
import type { Pins } from './pins.ts';

export interface McpGatewayDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authority: Authority;
  readonly journal: Journal;
  /** Without one, what needs a person is denied. */
  readonly queue?: DurableApprovalQueue;
  /** SQLite file for the pins of tools and for answers that wait. */
  readonly database: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative paths of the configuration start from. */
  readonly baseDir: string;
  readonly log?: (line: JsonObject) => void;
}

export interface McpContext {
  readonly config: McpConfig;
  readonly deps: McpGatewayDeps;
  readonly gate: Gate;
  readonly pins: Pins;
  readonly held: Held;
  readonly outcomes: Outcomes;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  readonly policyDigest: Digest;
  readonly rules: readonly McpRule[];
  /** Requests a minute, of callers and of what rules count. */
  readonly rates: RateLimiter;
  readonly policies: readonly Evaluator[];
  readonly answerRules: readonly McpRule[];
  readonly answerPolicies: readonly Evaluator[];
  readonly prefixed: boolean;
  /** Unlike any other of this or another gateway. */
  readonly nextRequestId: () => string;
  /** Set when an outcome could not be recorded: from then on everything is refused. */
  recordFailed: boolean;
}

/** Who is at the other end of a session, and what of it they may see. */
export interface McpCaller {
  readonly name: string;
  readonly servers: readonly string[];
  readonly names: readonly string[];
}
