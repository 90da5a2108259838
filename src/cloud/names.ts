import { type Clock, sha256 } from '../core/index.ts';

/**
 * Names that go into commands.
 *
 * N1 Every value is one argv element, and none begins with `-` or `@` (an option, a file for az).
 * N2 A task id is a valid Azure resource name: at most 80 characters, letters, digits, `_ . -`.
 */
const AZURE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_.()-]{0,88}[A-Za-z0-9_()-])?$/;
const STORAGE_NAME = /^[a-z0-9]{3,24}$/;
const CONTAINER_NAME = /^[a-z0-9$](?:[a-z0-9-]{1,61}[a-z0-9])$/;
const LOCATION = /^[a-z][a-z0-9]{1,40}$/;
const RESOURCE_ID =
  /^\/subscriptions\/([0-9a-fA-F-]{36})\/resourceGroups\/([A-Za-z0-9_.()-]{1,90})\/providers\/([A-Za-z0-9.]+)\/([A-Za-z]+)\/([A-Za-z0-9_.()-]{1,90})$/i;

export interface ResourceId {
  readonly id: string;
  readonly subscription: string;
  readonly group: string;
  /** Provider and type, e.g. `Microsoft.Compute/virtualMachines`. */
  readonly type: string;
  readonly name: string;
}

export function parseResourceId(text: string): ResourceId | undefined {
  const match = RESOURCE_ID.exec(text);
  if (!match) return undefined;
  return {
    id: text,
    subscription: match[1]!,
    group: match[2]!,
    type: `${match[3]}/${match[4]}`,
    name: match[5]!,
  };
}

export const isAzureName = (text: string) => AZURE_NAME.test(text);
export const isStorageName = (text: string) => STORAGE_NAME.test(text);
export const isContainerName = (text: string) => CONTAINER_NAME.test(text);
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

/** Context for people and reasoning: control characters out, length bounded. */
export function cleanContext(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 2000);
}
