import { isJsonObject } from '../core/index.ts';
import type { CaptureOrder } from './capture.ts';
import {
  cleanContext,
  isAzureName,
  isContainerName,
  isLocation,
  isStorageName,
  parseResourceId,
} from './names.ts';
import { refuse } from './replies.ts';
import type { CaptureParameters, OrchestrateRequest, OrchestrateResponse } from './types.ts';

/** A request that passed: one order, or two for both ends. Anything else is the reply that says what is wrong. */
export type CaptureRequest =
  | { readonly ok: true; readonly orders: readonly [CaptureOrder] | readonly [CaptureOrder, CaptureOrder] }
  | { readonly ok: false; readonly reply: OrchestrateResponse };

const MAX_SECONDS = 300;

export function readCaptureRequest(request: OrchestrateRequest): CaptureRequest {
  const no = (error: 'missing_parameter' | 'invalid_parameter', message: string): CaptureRequest => ({
    ok: false,
    reply: refuse(error, message),
  });
  const given = isJsonObject(request.parameters) ? request.parameters : {};
  const target = request.target;
  if (typeof target !== 'string' || target.trim() === '')
    return no('missing_parameter', 'capture_traffic needs a target: a VM name, a resource id, or "a to b"');
  for (const key of ['storage_account', 'resource_group'] as const) {
    if (typeof given[key] !== 'string' || given[key].trim() === '')
      return no('missing_parameter', `capture_traffic needs parameters.${key}`);
  }
  const ends = target.trim().split(/\s+to\s+/i);
  const bad =
    ends.length > 2 ? target : ends.find((end) => !isAzureName(end) && parseResourceId(end) === undefined);
  if (bad !== undefined)
    return no(
      'invalid_parameter',
      `"${cleanContext(bad).slice(0, 100)}" is not a VM name or resource id; for both ends write "a to b"`,
    );
  const parameters = readParameters(given);
  if (typeof parameters === 'string') return no('invalid_parameter', parameters);
  const investigationContext =
    typeof request.investigation_context === 'string' ? cleanContext(request.investigation_context) : '';
  const order = (end: string): CaptureOrder => ({ target: end, parameters, investigationContext });
  const [a, b] = ends as [string, string?];
  return { ok: true, orders: b === undefined ? [order(a)] : [order(a), order(b)] };
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
  if (
    !isStorageName(account) &&
    parseResourceId(account)?.type.toLowerCase() !== 'microsoft.storage/storageaccounts'
  ) {
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
