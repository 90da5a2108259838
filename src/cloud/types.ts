import type { Clock } from '../core/index.ts';
import type { Shell } from '../shell/index.ts';
import type { OpenRegistryJournal } from './registry.ts';
import type { TaskState } from './states.ts';

export const INTENTS = [
  'capture_traffic',
  'check_task',
  'cancel_task',
  'cleanup_task',
  'list_tasks',
] as const;
export type Intent = (typeof INTENTS)[number];

/** The shape of a task's record. Records of another are reported and left alone. */
export const TASK_VERSION = 1;

/** What a brain or the command line asks for. Everything in it is hostile until validated. */
export interface OrchestrateRequest {
  readonly intent: string;
  readonly target?: unknown;
  readonly parameters?: unknown;
  readonly investigation_context?: unknown;
  readonly task_id?: unknown;
  readonly reason?: unknown;
}

export interface CaptureParameters {
  readonly duration_seconds: number;
  /** Account name, or its full resource id when it lives in another group than the VM. */
  readonly storage_account: string;
  readonly resource_group: string;
  readonly location: string | null;
  readonly storage_auth_mode: 'login' | 'key';
  readonly storage_container: string;
}

/** Where things are, as commands name them. A subscription is null when the one az is set to is meant. */
export interface VmPlace {
  readonly group: string;
  readonly name: string;
  readonly subscription: string | null;
}

export interface CapturePlace {
  readonly location: string;
  readonly name: string;
  readonly subscription: string | null;
}

export interface BlobPlace {
  readonly account: string;
  readonly container: string;
  readonly name: string;
  readonly subscription: string | null;
}

export type CleanupStatus = 'pending' | 'completed' | 'partial' | 'skipped';

export const CLEANUP_KINDS = ['capture', 'blob', 'local'] as const;

export interface CleanupStep {
  readonly kind: (typeof CLEANUP_KINDS)[number];
  /** What is removed, for people. */
  readonly resource: string;
  readonly command: string;
  readonly executed: boolean;
  readonly outcome: 'deleted' | 'absent' | 'denied' | 'failed' | null;
}

export interface CaptureResult {
  readonly local_pcap_path: string;
  readonly semantic_json_path: string;
  readonly report_path: string;
  readonly mode?: 'dual_end' | 'single_end_fallback';
}

/** One capture at one VM. The registry holds the whole task at every transition. */
export interface Task {
  readonly version: typeof TASK_VERSION;
  /** Grows with every record: the highest is the newest, whatever clocks did in between. */
  readonly revision: number;
  readonly task_id: string;
  readonly session_id: string;
  readonly intent: 'capture_traffic';
  readonly target: string;
  readonly vm_name: string;
  readonly subscription: string | null;
  readonly state: TaskState;
  readonly parameters: CaptureParameters;
  readonly investigation_context: string;
  readonly azure_operation_id: string | null;
  readonly location: string | null;
  readonly blob: BlobPlace | null;
  readonly cleanup_plan: readonly CleanupStep[];
  readonly cleanup_status: CleanupStatus | null;
  readonly poll_count: number;
  readonly downloaded: boolean;
  readonly paired_task_id: string | null;
  /** Which end of a pair this is; the source end runs the comparison. */
  readonly pair_role: 'source' | 'destination' | null;
  readonly local_pcap_path: string | null;
  readonly semantic_json_path: string | null;
  readonly report_path: string | null;
  readonly mode: CaptureResult['mode'] | null;
  readonly error: string | null;
  readonly error_detail: string | null;
  readonly warnings: readonly string[];
  readonly timestamps: {
    readonly created: string;
    readonly updated: string;
    readonly last_polled: string | null;
    readonly ended: string | null;
  };
}

export type ResponseStatus =
  | 'task_pending'
  | 'task_completed'
  | 'task_failed'
  | 'task_cancelled'
  | 'task_timed_out'
  | 'error';

export type OrchestratorError =
  | 'unknown_intent'
  | 'unknown_task'
  | 'missing_parameter'
  | 'invalid_parameter'
  | 'detection_failed'
  | 'unsupported_target'
  | 'task_in_use'
  | 'registry_failure'
  | 'internal_error';

export interface OrchestrateResponse {
  readonly status: ResponseStatus;
  readonly message: string;
  readonly task_id?: string;
  readonly state?: TaskState;
  readonly target_type?: string;
  readonly investigation_context?: string;
  readonly result?: CaptureResult | null;
  readonly cleanup_status?: CleanupStatus | null;
  readonly error?: string | null;
  readonly error_detail?: string | null;
  readonly poll_count?: number;
  readonly max_polls?: number;
  readonly burst_polls?: number;
  readonly burst_duration_seconds?: number;
  readonly elapsed_seconds?: number;
  readonly duration_seconds?: number;
  readonly paired_task?: { readonly task_id: string; readonly state: TaskState } | null;
  readonly warnings?: readonly string[];
  readonly tasks?: readonly Task[];
  readonly orphans?: readonly Orphan[];
  /** Scans that could not be made, so that "no orphans" is never a guess. */
  readonly scan_problems?: readonly string[];
}

export type OrphanBucket =
  | 'abandoned_tasks'
  | 'needs_cleanup'
  | 'partially_cleaned'
  | 'untracked_azure'
  | 'stale_local_files';

/** Something left behind: a task of another session, a capture in Azure nobody knows, an old local file. */
export interface Orphan {
  readonly bucket: OrphanBucket;
  readonly task_id: string | null;
  readonly session_id: string | null;
  readonly state: TaskState | null;
  readonly resource: string;
  readonly location: string | null;
  readonly detail: string;
}

export interface OrchestratorOptions {
  readonly shell: Shell;
  readonly sessionId: string;
  /** Folder of the registries, `audit/` by default. */
  readonly taskDir: string;
  /** Folder captures are downloaded to. */
  readonly captureDir: string;
  readonly clock: Clock;
  readonly pollInitialSeconds?: number;
  readonly pollMaxSeconds?: number;
  readonly maxPolls?: number;
  readonly burstSeconds?: number;
  readonly downloadRetrySeconds?: number;
  readonly localMaxAgeDays?: number;
  /** False leaves out the Azure layer of the orphan scan (no cloud at hand). */
  readonly scanAzure?: boolean;
  /** Opens the registry's journal with the project's key and catalogue. */
  readonly openJournal?: OpenRegistryJournal;
  readonly onProgress?: (line: string) => void;
}

export interface Orchestrator {
  /** Never throws: every failure is a response. */
  orchestrate(request: OrchestrateRequest): Promise<OrchestrateResponse>;
  close(): Promise<void>;
}
