import { isJsonObject } from '../core/index.ts';
import type { CaptureOrder } from './capture.ts';
import {
  cleanContext,
  isAzureName,
  isContainerName,
  isLocation,
  isStorageName,
  parseResourceId,
  parseTarget,
} from './names.ts';
import { refuse } from './replies.ts';
import type { CaptureParameters, OrchestrateRequest, OrchestrateResponse } from './types.ts';

/** A request that passed: one order, or two for both ends. Anything else is the reply that says what is wrong. */
export type CaptureRequest =
  | { readonly ok: true; readonly orders: readonly [CaptureOrder] | readonly [CaptureOrder, CaptureOrder] }
  | { readonly ok: false; readonly reply: OrchestrateResponse };

const MAX_SECONDS = 300;
/** Two resource ids and the word between them. */
const MAX_TARGET = 1000;
const STORAGE_TYPE = 'microsoft.storage/storageaccounts';

export function readCaptureRequest(request: OrchestrateRequest): CaptureRequest {
  const no = (error: 'missing_parameter' | 'invalid_parameter', message: string): CaptureRequest => ({
    ok: false,
    reply: refuse(error, message),
  });
  const given = isJsonObject(request.parameters) ? request.parameters : {};
  const target = request.target;
  if (!isText(target))
    return no('missing_parameter', 'capture_traffic needs a target: a VM name, a resource id, or "a to b"');
  if (!isText(given.storage_account))
    return no('missing_parameter', 'capture_traffic needs parameters.storage_account');
  if (target.length > MAX_TARGET)
    return no('invalid_parameter', `the target is longer than ${MAX_TARGET} characters`);
  const texts = target.trim().split(/\s+to\s+/i);
  const machines = texts.map(parseTarget);
  const bad = texts.length > 2 ? target : texts.find((_, i) => machines[i] === undefined);
  if (bad !== undefined)
    return no(
      'invalid_parameter',
      `"${cleanContext(bad).slice(0, 100)}" is not a VM name, group/name or resource id; for both ends write "a to b"`,
    );
  const investigationContext = isText(request.investigation_context)
    ? cleanContext(request.investigation_context)
    : '';
  const orders: CaptureOrder[] = [];
  for (const [i, machine] of machines.entries()) {
    const group = machine?.group ?? given.resource_group;
    if (machine === undefined || !isText(group))
      return no('missing_parameter', 'capture_traffic needs parameters.resource_group');
    const parameters = readParameters({ ...given, resource_group: group });
    if (typeof parameters === 'string') return no('invalid_parameter', parameters);
    orders.push({ target: texts[i] ?? '', machine, parameters, investigationContext });
  }
  const [a, b] = orders;
  if (a === undefined) return no('missing_parameter', 'capture_traffic needs a target');
  if (b !== undefined && sameMachine(a, b))
    return no('invalid_parameter', `both ends are ${a.machine.name}; name two machines, or one alone`);
  return { ok: true, orders: b === undefined ? [a] : [a, b] };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Azure's names are the same in any case. */
function sameMachine(a: CaptureOrder, b: CaptureOrder): boolean {
  const key = ({ machine, parameters }: CaptureOrder) =>
    `${machine.subscription ?? ''}/${parameters.resource_group}/${machine.name}`.toLowerCase();
  return key(a) === key(b);
}

/** Complete parameters, or a sentence that says what is wrong with them. */
function readParameters(given: { readonly [key: string]: unknown }): CaptureParameters | string {
  const {
    duration_seconds: duration = 60,
    location = null,
    storage_auth_mode: auth = 'login',
    storage_container: container = 'captures',
  } = given;
  const account = given.storage_account as string;
  const group = given.resource_group as string;
  const id = parseResourceId(account);
  if (!isStorageName(id?.name ?? account) || (id && id.type.toLowerCase() !== STORAGE_TYPE)) {
    return 'storage_account must be an account name (3-24 lower-case letters and digits) or its full resource id';
  }
  if (!isAzureName(group)) return 'resource_group is not a resource group name';
  if (typeof duration !== 'number' || !Number.isInteger(duration) || duration < 1)
    return 'duration_seconds must be a whole number of at least 1';
  if (location !== null && (typeof location !== 'string' || !isLocation(location)))
    return 'location must be a region such as westeurope';
  if (auth !== 'login' && auth !== 'key') return 'storage_auth_mode must be login or key';
  if (typeof container !== 'string' || !isContainerName(container))
    return 'storage_container is not a container name';
  return {
    // Azure takes hours; an investigation does not.
    duration_seconds: Math.min(duration, MAX_SECONDS),
    storage_account: account,
    resource_group: group,
    location,
    storage_auth_mode: auth,
    storage_container: container,
  };
}
