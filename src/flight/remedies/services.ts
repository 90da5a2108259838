import { isJsonObject } from '../../core/index.ts';
import { type AzCall, az, azRead, given, option, textIn } from './az-call.ts';
import type { Reversal } from './reversal.ts';

/** Names and storage. */
const ZONE = ['--resource-group', '--zone-name'] as const;
const RECORD = [...ZONE, '--record-set-name', '--ipv4-address'] as const;

const readAddresses = (call: AzCall) =>
  azRead(
    'network private-dns record-set a list',
    given(call, ...ZONE),
    `[?name=='${option(call, '--record-set-name').toLowerCase()}'].aRecords[].ipv4Address`,
  );

/** Addresses of the name now; undefined when that could not be read. */
const addresses = (before: unknown) => (Array.isArray(before) ? before.map(String) : undefined);

const recordAdd: Reversal = {
  read: readAddresses,
  plan: (call, before) => {
    const now = addresses(before);
    if (now === undefined) return 'the records could not be read';
    if (now.includes(option(call, '--ipv4-address'))) return 'the record is there already';
    return {
      argv: call.argv,
      undo: az('network private-dns record-set a remove-record', ...given(call, ...RECORD)),
    };
  },
};

const recordRemove: Reversal = {
  read: readAddresses,
  plan: (call, before) => {
    if (addresses(before)?.includes(option(call, '--ipv4-address')) !== true)
      return 'the record is not there';
    return {
      argv: call.argv,
      undo: az('network private-dns record-set a add-record', ...given(call, ...RECORD)),
    };
  },
};

const LINK = [...ZONE, '--name'] as const;

const linkCreate: Reversal = {
  read: (call) =>
    azRead(
      'network private-dns link vnet list',
      given(call, ...ZONE),
      '[].{name:name,state:virtualNetworkLinkState}',
    ),
  plan: (call, before) => {
    if (!Array.isArray(before)) return 'the links could not be read';
    const name = option(call, '--name').toLowerCase();
    if (before.filter(isJsonObject).some((l) => textIn(l, 'name').toLowerCase() === name))
      return `a link ${name} exists already`;
    return {
      argv: call.argv,
      undo: az('network private-dns link vnet delete', ...given(call, ...LINK), '--yes'),
    };
  },
};

const NETWORK_RULE = [
  '--resource-group',
  '--account-name',
  '--vnet-name',
  '--subnet',
  '--ip-address',
] as const;

const networkRuleAdd: Reversal = {
  read: (call) =>
    azRead(
      'storage account network-rule list',
      given(call, '--resource-group', '--account-name'),
      '{subnets:virtualNetworkRules[].virtualNetworkResourceId,addresses:ipRules[].ipAddressOrRange}',
    ),
  plan: (call, before) =>
    isJsonObject(before)
      ? {
          argv: call.argv,
          undo: az('storage account network-rule remove', ...given(call, ...NETWORK_RULE)),
        }
      : 'the firewall could not be read',
};

export const SERVICES: Readonly<Record<string, Reversal>> = {
  'network private-dns record-set a add-record': recordAdd,
  'network private-dns record-set a remove-record': recordRemove,
  'network private-dns link vnet create': linkCreate,
  'storage account network-rule add': networkRuleAdd,
};
