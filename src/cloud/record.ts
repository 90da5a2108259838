import { z } from 'zod';
import {
  isBlobName,
  isContainerName,
  isLocation,
  isStorageName,
  isSubscription,
  isTaskId,
  parseResourceId,
} from './names.ts';
import { isOwnStep } from './plan.ts';
import { TASK_STATES } from './states.ts';
import { CLEANUP_KINDS, TASK_VERSION, type Task } from './types.ts';

/**
 * A task as it comes back from disk. Files there may be old, new, torn or forged: what is not exactly a task
 * of this version is answered with the reason, and nobody acts on it.
 */
export type ReadTask =
  | { readonly ok: true; readonly task: Task }
  | { readonly ok: false; readonly reason: string };

const text = z.string().max(10_000);
const time = z.iso.datetime();
const name = (is: (value: string) => boolean) => text.refine(is);
const subscription = name(isSubscription).nullable().default(null);

const blob = z.object({
  account: name(isStorageName),
  container: name(isContainerName),
  name: name(isBlobName),
  subscription,
});

const step = z.object({
  kind: z.enum(CLEANUP_KINDS),
  resource: text,
  command: text,
  executed: z.boolean(),
  outcome: z.enum(['deleted', 'absent', 'denied', 'failed']).nullable(),
});

const schema = z.object({
  version: z.literal(TASK_VERSION).default(TASK_VERSION),
  revision: z.int().min(0).default(0),
  task_id: name(isTaskId),
  session_id: text,
  intent: z.literal('capture_traffic'),
  target: text,
  vm_name: text,
  subscription,
  state: z.enum(TASK_STATES),
  parameters: z.object({
    duration_seconds: z.int(),
    storage_account: name((s) => isStorageName(s) || parseResourceId(s) !== undefined),
    resource_group: text,
    location: text.nullable(),
    storage_auth_mode: z.enum(['login', 'key']),
    storage_container: name(isContainerName),
  }),
  investigation_context: text,
  azure_operation_id: text.nullable(),
  location: name(isLocation).nullable(),
  blob: blob.nullable(),
  cleanup_plan: z.array(step).max(20),
  cleanup_status: z.enum(['pending', 'completed', 'partial', 'skipped']).nullable(),
  poll_count: z.int().min(0),
  downloaded: z.boolean(),
  paired_task_id: name(isTaskId).nullable(),
  pair_role: z.enum(['source', 'destination']).nullable(),
  local_pcap_path: text.nullable(),
  semantic_json_path: text.nullable(),
  report_path: text.nullable(),
  mode: z.enum(['dual_end', 'single_end_fallback']).nullable(),
  error: text.nullable(),
  error_detail: text.nullable(),
  warnings: z.array(text).max(100),
  timestamps: z.object({
    created: time,
    updated: time,
    last_polled: time.nullable(),
    ended: time.nullable(),
  }),
});

export function readTask(record: { readonly [key: string]: unknown }): ReadTask {
  const no = (reason: string): ReadTask => ({ ok: false, reason });
  if (record.version !== undefined && record.version !== TASK_VERSION)
    return no('a record of another version of Writ');
  const read = schema.safeParse(record);
  if (!read.success) {
    const place = read.error.issues[0]?.path.join('.');
    return no(`not a task this version knows${place ? ` (${place})` : ''}`);
  }
  const forged = read.data.cleanup_plan.find((s) => !isOwnStep(s, read.data));
  if (forged !== undefined) return no(`a cleanup command that is not the task's own (${forged.kind})`);
  return { ok: true, task: read.data };
}
