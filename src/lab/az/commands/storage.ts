import type { Json, JsonObject } from '../../../core/index.ts';
import { parsePrefix } from '../../network/ipv4.ts';
import { stableNumber } from '../../network/service-tags.ts';
import type { StorageAccount } from '../../world/types.ts';
import { type Call, type Commands, commit, optionalGroup } from '../call.ts';
import { AzError, armError, resourceNotFound, usage } from '../errors.ts';
import { parseResourceId, resourceId } from '../ids.ts';
import { TYPES } from '../shapes/common.ts';
import { networkRules, storageShape } from '../shapes/services.ts';

/** Account names are unique in all of Azure, so the group may be left out. */
function needAccount(call: Call, argument: string): StorageAccount {
  const group = optionalGroup(call);
  const name = call.args.need(argument);
  const account = call.world.storage.find(
    (s) => s.name === name.toLowerCase() && (group === undefined || s.group === group),
  );
  if (account) return account;
  if (group === undefined) throw new AzError(`Storage account '${name}' not found.`);
  throw resourceNotFound(TYPES.storage, name, group);
}

/** `--subnet` as a full id, or a name with `--vnet-name`. */
function subnetOf(call: Call): string | undefined {
  const subnet = call.args.text('--subnet');
  if (subnet === undefined) return undefined;
  const parts = parseResourceId(subnet);
  const vnet = parts ? parts.names[0] : call.args.text('--vnet-name');
  const name = parts ? parts.names[1] : subnet;
  if (vnet === undefined || name === undefined)
    throw usage('usage error: --subnet ID | --subnet NAME --vnet-name NAME');
  const found = call.world.vnets.find((v) => v.name.toLowerCase() === vnet.toLowerCase());
  const inside = found?.subnets.find((s) => s.name.toLowerCase() === name.toLowerCase());
  if (!found || !inside)
    throw armError('SubnetNotFound', `Subnet ${name} of virtual network ${vnet} was not found.`);
  return `${found.name}/${inside.name}`;
}

async function changeRules(
  call: Call,
  change: (old: readonly string[], value: string) => readonly string[],
): Promise<JsonObject> {
  const account = needAccount(call, '--account-name');
  const i = call.world.storage.indexOf(account);
  const subnet = subnetOf(call);
  const addresses = call.args.list('--ip-address') ?? [];
  if (subnet === undefined && addresses.length === 0) throw usage('usage error: --subnet | --ip-address');
  for (const address of addresses)
    if (parsePrefix(address) === undefined)
      throw armError(
        'InvalidValuesForRequestParameters',
        `Values for request parameters are invalid: networkAcls.ipRule[*].value (${address}).`,
      );
  const world = await commit(
    call,
    [
      ...(subnet === undefined
        ? []
        : [
            {
              op: 'replace' as const,
              path: `/storage/${i}/subnet_rules`,
              value: change(account.subnet_rules, subnet),
            },
          ]),
      ...(addresses.length === 0
        ? []
        : [
            {
              op: 'replace' as const,
              path: `/storage/${i}/ip_rules`,
              value: addresses.reduce(change, account.ip_rules),
            },
          ]),
    ],
    written(account),
  );
  return storageShape(world, world.storage[i]!);
}

const written = (account: StorageAccount) => ({
  operation: 'Microsoft.Storage/storageAccounts/write',
  resource: resourceId(account.group, TYPES.storage, account.name),
  group: account.group,
});

async function update(call: Call): Promise<JsonObject> {
  const account = needAccount(call, '--name');
  const i = call.world.storage.indexOf(account);
  const action = call.args.text('--default-action');
  const keys = call.args.flag('--allow-shared-key-access');
  const world = await commit(
    call,
    [
      ...(action === undefined
        ? []
        : [{ op: 'replace' as const, path: `/storage/${i}/default_action`, value: action }]),
      ...(keys === undefined ? [] : [{ op: 'replace' as const, path: `/storage/${i}/keys`, value: keys }]),
    ],
    written(account),
  );
  return storageShape(world, world.storage[i]!);
}

/** Made up, the same each time, and opening nothing. */
function keyOf(account: StorageAccount, which: string): string {
  const bytes = Array.from({ length: 16 }, (_, i) => stableNumber(`${which}:${i}:${account.name}`));
  return Buffer.from(Uint32Array.from(bytes).buffer).toString('base64');
}

export const storageCommands: Commands = {
  'storage account list': {
    run: (call) => {
      const group = optionalGroup(call);
      return call.world.storage
        .filter((s) => group === undefined || s.group === group)
        .map((s) => storageShape(call.world, s));
    },
  },
  'storage account show': { run: (call) => storageShape(call.world, needAccount(call, '--name')) },
  'storage account update': { writes: true, run: update },
  'storage account keys list': {
    run: (call) => {
      const account = needAccount(call, '--account-name');
      return ['key1', 'key2'].map((keyName) => ({
        creationTime: call.world.now,
        keyName,
        permissions: 'FULL',
        value: keyOf(account, keyName),
      })) as Json;
    },
  },
  'storage account network-rule list': {
    run: (call) => networkRules(call.world, needAccount(call, '--account-name')),
  },
  'storage account network-rule add': {
    writes: true,
    run: (call) => changeRules(call, (old, value) => [...new Set([...old, value])]),
  },
  'storage account network-rule remove': {
    writes: true,
    run: (call) => changeRules(call, (old, value) => old.filter((v) => v !== value)),
  },
};
