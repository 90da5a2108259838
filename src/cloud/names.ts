import { type Clock, sha256 } from '../core/index.ts';

/**
 * Names that go into commands.
 *
 * N1 Every value is one argv element, and none begins with `-` or `@` (an option, a file for az).
 * N2 A task id is a valid Azure resource name: at most 80 characters, letters, digits, `_ . -`.
 */
const AZURE_NAME = /^[A-Za-z0-9_(](?:[A-Za-z0-9_.()-]{0,88}[A-Za-z0-9_()-])?$/;
const STORAGE_NAME = /^[a-z0-9]{3,24}$/;
const CONTAINER_NAME = /^[a-z0-9$](?:[a-z0-9-]{1,61}[a-z0-9])$/;
const BLOB_NAME = /^\w[\w./-]{0,500}$/;
const LOCATION = /^[a-z][a-z0-9]{1,40}$/;
const SUBSCRIPTION = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const RESOURCE_ID =
  /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/([A-Za-z][A-Za-z0-9.]*)\/([A-Za-z]+)\/([^/]+)$/i;

export interface ResourceId {
  readonly id: string;
  readonly subscription: string;
  readonly group: string;
  /** Provider and type, e.g. `Microsoft.Compute/virtualMachines`. */
  readonly type: string;
  readonly name: string;
}

export function parseResourceId(text: string): ResourceId | undefined {
  const [, subscription, group, provider, type, name] = RESOURCE_ID.exec(text) ?? [];
  if (!subscription || !group || !name) return undefined;
  // The parts become arguments of their own, so each must be a name of its own (N1).
  if (!SUBSCRIPTION.test(subscription) || !isAzureName(group) || !isAzureName(name)) return undefined;
  return { id: text, subscription, group, type: `${provider}/${type}`, name };
}

/** A machine as people write it: a name, `group/name`, or a full resource id. */
export interface TargetName {
  readonly name: string;
  /** Null when the target leaves it to the request's `resource_group`. */
  readonly group: string | null;
  readonly subscription: string | null;
  readonly id: string | null;
}

export function parseTarget(text: string): TargetName | undefined {
  const id = parseResourceId(text);
  if (id) return id;
  const words = text.split('/');
  const [group, name] = words.length === 2 ? words : [null, text];
  if (name === undefined || !isAzureName(name) || (group !== null && !isAzureName(group ?? '')))
    return undefined;
  return { name, group: group ?? null, subscription: null, id: null };
}

export const isAzureName = (text: string) => AZURE_NAME.test(text);
export const isStorageName = (text: string) => STORAGE_NAME.test(text);
export const isContainerName = (text: string) => CONTAINER_NAME.test(text);
export const isBlobName = (text: string) => BLOB_NAME.test(text);
export const isSubscription = (text: string) => SUBSCRIPTION.test(text);
export const isLocation = (text: string) => LOCATION.test(text);

export const TASK_PREFIX = 'ghost_';
const MAX_NAME = 80;
const STAMP = 15;

/** `ghost_{target}_{YYYYMMDDTHHMMSS}`, shortened with a hash when too long, numbered when taken. */
export function newTaskId(vmName: string, clock: Clock, taken: (id: string) => boolean): string {
  const stamp = clock.now().toISOString().replace(/[-:]/g, '').slice(0, STAMP);
  const clean = vmName.replace(/[^A-Za-z0-9_.-]/g, '-');
  // Room for a `-NN` that a second task in the same second needs.
  const room = MAX_NAME - TASK_PREFIX.length - 1 - STAMP - 3;
  const target = clean.length <= room ? clean : `${clean.slice(0, room - 9)}-${sha256(vmName).slice(0, 8)}`;
  const base = `${TASK_PREFIX}${target}_${stamp}`;
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`;
    if (!taken(id)) return id;
  }
}

export function isTaskId(text: string): boolean {
  return text.startsWith(TASK_PREFIX) && text.length <= MAX_NAME && /^[A-Za-z0-9_.-]+$/.test(text);
}

/** Context for people and reasoning: nothing that drives a terminal or turns text around, length bounded. */
export function cleanContext(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
    .slice(0, 2000)
    .toWellFormed();
}
