import type { Authority, DurableApprovalQueue, Evaluator } from '../../authority/index.ts';
import type { Clock, Digest, Ids, Json, JsonObject, Verdict } from '../../core/index.ts';
import type { Journal } from '../../ledger/index.ts';
import type { Gate } from '../gate.ts';
import type { Metrics } from '../metrics.ts';
import type { CallSpan, Telemetry } from '../telemetry.ts';
import type { Budgets } from './budget.ts';
import type { Caller, LlmConfig } from './config.ts';
import type { Conversations } from './conversations.ts';
import type { Upstream } from './forward.ts';
import type { HeldAnswers } from './held-answers.ts';
import type { Operation, Usage } from './protocol.ts';
import type { Router } from './route.ts';

/** What the gateway is given by whoever starts it. */
export interface LlmGatewayDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authority: Authority;
  /** Where every request and answer is recorded, durably, before and after it is sent. */
  readonly journal: Journal;
  /** Without one, what needs a person is denied. */
  readonly queue?: DurableApprovalQueue;
  /** SQLite file for budgets; needed when a caller has one. */
  readonly database?: string;
  /** Keys by provider name. They stay in the gateway. */
  readonly keys: ReadonlyMap<string, string>;
  /** Folder that relative paths of the configuration start from. Default: the current one. */
  readonly baseDir?: string;
  /** One structured line a request. */
  readonly log?: (line: JsonObject) => void;
}

/** The gateway's parts, as one call sees them. */
export interface Context {
  readonly config: LlmConfig;
  readonly deps: LlmGatewayDeps;
  readonly gate: Gate;
  readonly router: Router;
  readonly upstream: Upstream;
  readonly budgets: Budgets | undefined;
  readonly held: HeldAnswers;
  readonly conversations: Conversations;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  readonly policyDigest: Digest;
  /** Evaluators beside the rules. They see the action. */
  readonly evaluators: readonly Evaluator[];
  /** Judges of answers, over `{caller, model, operation, text}`. */
  readonly responseEvaluators: readonly Evaluator[];
}

/** One request, read and attributed. */
export interface Asked {
  readonly requestId: string;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly model: string;
  readonly query: string;
  /** Redacted and rewritten: what is judged, recorded and sent. */
  readonly body: JsonObject | undefined;
  /** The same as text. */
  readonly bodyText: string;
  readonly original: Json;
  readonly redactions: number;
  readonly rewrites: readonly string[];
  readonly signal: AbortSignal;
  readonly span: CallSpan;
  /** Hears every answer, or every piece of it. */
  readonly note: ((answer: Json) => void) | undefined;
}

/** One request that may go out. */
export interface Call extends Asked {
  /** Of the action that was judged. */
  readonly digest: Digest;
}

/** How a request ended, for logs, numbers and spans. */
export interface Done {
  readonly status: number;
  readonly code?: string | undefined;
  readonly verdict?: Verdict;
  readonly usage?: Usage | undefined;
  readonly target?: string;
}
