import type { JsonObject } from '../../../core/index.ts';
import type { Call, Commands } from '../call.ts';
import { needGroup } from '../call.ts';
import { AzError } from '../errors.ts';
import { groupId, SUBSCRIPTION, SUBSCRIPTION_NAME, TENANT, USER } from '../ids.ts';

const account = (): JsonObject => ({
  environmentName: 'AzureCloud',
  homeTenantId: TENANT,
  id: SUBSCRIPTION,
  isDefault: true,
  managedByTenants: [],
  name: SUBSCRIPTION_NAME,
  state: 'Enabled',
  tenantDefaultDomain: 'writ-lab.example',
  tenantDisplayName: SUBSCRIPTION_NAME,
  tenantId: TENANT,
  user: { name: USER, type: 'user' },
});

function checkSubscription(call: Call): void {
  const wanted = call.args.text('--subscription');
  if (
    wanted === undefined ||
    wanted === SUBSCRIPTION ||
    wanted.toLowerCase() === SUBSCRIPTION_NAME.toLowerCase()
  )
    return;
  throw new AzError(`The subscription of '${wanted}' doesn't exist in cloud 'AzureCloud'.`);
}

function groupShape(call: Call, name: string): JsonObject {
  const group = call.world.groups.find((g) => g.name === name)!;
  return {
    id: groupId(group.name),
    location: group.location,
    managedBy: null,
    name: group.name,
    properties: { provisioningState: 'Succeeded' },
    tags: {},
    type: 'Microsoft.Resources/resourceGroups',
  };
}

export const accountCommands: Commands = {
  'account show': {
    run: (call) => {
      checkSubscription(call);
      return account();
    },
  },
  'account list': { run: () => [{ ...account(), cloudName: 'AzureCloud' }] },
  'account set': {
    run: (call) => {
      checkSubscription(call);
      return undefined;
    },
  },
  login: {
    writes: true,
    run: (call) => {
      call.change({ state: (s) => ({ ...s, loggedOut: false }) });
      return [account()];
    },
  },
  logout: {
    writes: true,
    run: (call) => {
      call.change({ state: (s) => ({ ...s, loggedOut: true }) });
      return undefined;
    },
  },
  'group list': { run: (call) => call.world.groups.map((g) => groupShape(call, g.name)) },
  'group show': { run: (call) => groupShape(call, needGroup(call.world, call.args.need('--name'))) },
  'group exists': {
    run: (call) =>
      call.world.groups.some((g) => g.name.toLowerCase() === call.args.need('--name').toLowerCase()),
  },
  version: {
    run: () => ({
      'azure-cli': '2.91.0',
      'azure-cli-core': '2.91.0',
      'azure-cli-telemetry': '1.1.0',
      extensions: {},
    }),
  },
};
