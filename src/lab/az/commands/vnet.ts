import type { Json, JsonObject } from '../../../core/index.ts';
import { isAligned, parsePrefix } from '../../network/ipv4.ts';
import type { PatchOperation, Peering, Subnet, Vnet, World } from '../../world/types.ts';
import { type Call, type Commands, commit, findIn, needGroup, optionalGroup } from '../call.ts';
import { armError, childNotFound, resourceNotFound } from '../errors.ts';
import { genericSettings } from '../generic-update.ts';
import { nameOf, resourceId } from '../ids.ts';
import { TYPES } from '../shapes/common.ts';
import { peeringShape, subnetId, subnetShape, vnetShape } from '../shapes/network.ts';
import { nsgByNameOrId } from './nsg.ts';

function needVnet(call: Call, argument: string): Vnet {
  const group = needGroup(call.world, call.args.need('--resource-group'));
  const name = call.args.need(argument);
  const vnet = findIn(call.world.vnets, group, name, (v) => v.name);
  if (!vnet) throw resourceNotFound(TYPES.vnet, name, group);
  return vnet;
}

function needSubnet(call: Call, vnet: Vnet): Subnet {
  const name = call.args.need('--name');
  const subnet = vnet.subnets.find((s) => s.name.toLowerCase() === name.toLowerCase());
  if (!subnet) throw childNotFound(resourceId(vnet.group, TYPES.subnet, vnet.name, name));
  return subnet;
}

function needPeering(call: Call, vnet: Vnet): Peering {
  const name = call.args.need('--name');
  const peering = vnet.peerings.find((p) => p.name.toLowerCase() === name.toLowerCase());
  if (!peering) throw childNotFound(resourceId(vnet.group, TYPES.peering, vnet.name, name));
  return peering;
}

async function updateSubnet(call: Call): Promise<JsonObject> {
  const vnet = needVnet(call, '--vnet-name');
  const subnet = needSubnet(call, vnet);
  const i = call.world.vnets.indexOf(vnet);
  const j = vnet.subnets.indexOf(subnet);
  const set = genericSettings(call.args);
  const patch: PatchOperation[] = [];
  const replace = (key: string, value: Json) =>
    patch.push({ op: 'replace', path: `/vnets/${i}/subnets/${j}/${key}`, value });
  const nsg =
    call.args.text('--nsg') ?? set.get('networkSecurityGroup') ?? set.get('networkSecurityGroup.id');
  if (nsg !== undefined) replace('nsg', nsgByNameOrId(call, vnet.group, nsg));
  const table = call.args.text('--route-table') ?? set.get('routeTable') ?? set.get('routeTable.id');
  if (table !== undefined) replace('route_table', tableName(call, vnet, table));
  const endpoints = call.args.list('--service-endpoints') ?? (set.has('serviceEndpoints') ? [] : undefined);
  const unknown = endpoints?.find((e) => e !== '' && !/^Microsoft\.[A-Za-z.]+$/.test(e));
  if (unknown !== undefined)
    throw armError('ServiceEndpointNotSupported', `${unknown} is not a service that has endpoints.`);
  if (endpoints !== undefined)
    replace(
      'service_endpoints',
      endpoints.filter((e) => e !== ''),
    );
  const prefix = call.args.list('--address-prefixes')?.[0] ?? set.get('addressPrefix');
  if (prefix !== undefined) replace('prefix', checkedPrefix(prefix));
  const world = await commit(call, patch, {
    operation: 'Microsoft.Network/virtualNetworks/subnets/write',
    resource: subnetId(vnet, subnet),
    group: vnet.group,
  });
  return subnetShape(world, world.vnets[i]!, world.vnets[i]!.subnets[j]!);
}

function checkedPrefix(text: string): string {
  const prefix = text.includes('/') ? parsePrefix(text) : undefined;
  if (!prefix || !isAligned(prefix))
    throw armError('InvalidCIDRNotation', `The address prefix ${text} has an invalid CIDR notation.`);
  return text;
}

function tableName(call: Call, vnet: Vnet, nameOrId: string): string | null {
  if (nameOrId === '' || nameOrId === 'null') return null;
  const name = nameOf(nameOrId).toLowerCase();
  const table = call.world.route_tables.find((t) => t.name.toLowerCase() === name);
  if (!table) throw resourceNotFound(TYPES.table, nameOf(nameOrId), vnet.group);
  return table.name;
}

const peeringActivity = (vnet: Vnet, name: string, verb: 'write' | 'delete') => ({
  operation: `Microsoft.Network/virtualNetworks/virtualNetworkPeerings/${verb}`,
  resource: resourceId(vnet.group, TYPES.peering, vnet.name, name),
  group: vnet.group,
});

async function createPeering(call: Call): Promise<JsonObject> {
  const vnet = needVnet(call, '--vnet-name');
  const name = call.args.need('--name');
  const remoteName = nameOf(call.args.need('--remote-vnet')).toLowerCase();
  const remote = call.world.vnets.find((v) => v.name.toLowerCase() === remoteName);
  if (!remote) throw resourceNotFound(TYPES.vnet, nameOf(call.args.need('--remote-vnet')), vnet.group);
  const twin = vnet.peerings.findIndex((p) => p.name.toLowerCase() === name.toLowerCase());
  if (twin < 0 && vnet.peerings.some((p) => p.remote === remote.name))
    throw armError(
      'AnotherPeeringAlreadyReferencesRemoteVnet',
      `Another peering already references remote vnet ${remote.name}.`,
    );
  const back = remote.peerings.find((p) => p.remote === vnet.name);
  const peering: Peering = {
    name,
    remote: remote.name,
    // A side without its counterpart waits; with it both are connected.
    state: back ? 'Connected' : 'Initiated',
    allow_forwarded: call.args.flag('--allow-forwarded-traffic') ?? false,
    allow_gateway:
      (call.args.flag('--allow-gateway-transit') || call.args.flag('--use-remote-gateways')) ?? false,
  };
  const i = call.world.vnets.indexOf(vnet);
  const at = `/vnets/${i}/peerings`;
  const world = await commit(
    call,
    [
      twin < 0
        ? { op: 'add', path: `${at}/-`, value: peering }
        : { op: 'replace', path: `${at}/${twin}`, value: peering },
      ...connectBack(call.world, remote, vnet),
    ],
    peeringActivity(vnet, name, 'write'),
  );
  return peeringShape(world, world.vnets[i]!, peering);
}

/** The other side comes up when this one does. */
function connectBack(world: World, remote: Vnet, vnet: Vnet): PatchOperation[] {
  const j = remote.peerings.findIndex((p) => p.remote === vnet.name);
  if (j < 0) return [];
  return [
    { op: 'replace', path: `/vnets/${world.vnets.indexOf(remote)}/peerings/${j}/state`, value: 'Connected' },
  ];
}

async function updatePeering(call: Call): Promise<JsonObject> {
  const vnet = needVnet(call, '--vnet-name');
  const peering = needPeering(call, vnet);
  const set = genericSettings(call.args);
  const flag = (option: string, key: string) =>
    call.args.flag(option) ?? (set.has(key) ? /^true$/i.test(set.get(key)!) : undefined);
  const changed: Peering = {
    ...peering,
    allow_forwarded: flag('--allow-forwarded-traffic', 'allowForwardedTraffic') ?? peering.allow_forwarded,
    allow_gateway: flag('--allow-gateway-transit', 'allowGatewayTransit') ?? peering.allow_gateway,
  };
  const i = call.world.vnets.indexOf(vnet);
  const j = vnet.peerings.indexOf(peering);
  await commit(
    call,
    [{ op: 'replace', path: `/vnets/${i}/peerings/${j}`, value: changed }],
    peeringActivity(vnet, peering.name, 'write'),
  );
  return peeringShape(call.world, vnet, changed);
}

/** Brings a peering that has lost its partner back, when the partner is there. */
async function syncPeering(call: Call): Promise<JsonObject> {
  const vnet = needVnet(call, '--vnet-name');
  const peering = needPeering(call, vnet);
  const remote = call.world.vnets.find((v) => v.name === peering.remote)!;
  if (!remote.peerings.some((p) => p.remote === vnet.name))
    throw armError(
      'RemotePeeringIsDisconnected',
      `Cannot sync peering ${peering.name}: there is no peering from ${remote.name} to ${vnet.name}.`,
    );
  const i = call.world.vnets.indexOf(vnet);
  const j = vnet.peerings.indexOf(peering);
  const world = await commit(
    call,
    [
      { op: 'replace', path: `/vnets/${i}/peerings/${j}/state`, value: 'Connected' },
      ...connectBack(call.world, remote, vnet),
    ],
    peeringActivity(vnet, peering.name, 'write'),
  );
  return peeringShape(world, vnet, { ...peering, state: 'Connected' });
}

async function deletePeering(call: Call): Promise<undefined> {
  const vnet = needVnet(call, '--vnet-name');
  const name = call.args.need('--name').toLowerCase();
  const i = call.world.vnets.indexOf(vnet);
  const j = vnet.peerings.findIndex((p) => p.name.toLowerCase() === name);
  const peering = vnet.peerings[j];
  if (!peering) return undefined;
  const remote = call.world.vnets.find((v) => v.name === peering.remote)!;
  const back = remote.peerings.findIndex((p) => p.remote === vnet.name);
  const lonely: PatchOperation[] =
    back < 0
      ? []
      : [
          {
            op: 'replace',
            path: `/vnets/${call.world.vnets.indexOf(remote)}/peerings/${back}/state`,
            value: 'Disconnected',
          },
        ];
  await commit(
    call,
    [{ op: 'remove', path: `/vnets/${i}/peerings/${j}` }, ...lonely],
    peeringActivity(vnet, peering.name, 'delete'),
  );
  return undefined;
}

export const vnetCommands: Commands = {
  'network vnet list': {
    run: (call) => {
      const group = optionalGroup(call);
      return call.world.vnets
        .filter((v) => group === undefined || v.group === group)
        .map((v) => vnetShape(call.world, v));
    },
    table: (result) =>
      (result as readonly Record<string, Json>[]).map((v) => ({
        Name: v.name!,
        ResourceGroup: v.resourceGroup!,
        Location: v.location!,
        NumSubnets: (v.subnets as readonly Json[]).length,
        Prefixes: (v.addressSpace as { addressPrefixes: string[] }).addressPrefixes.join(', '),
        DnsServers: ' ',
        DDOSProtection: false,
        VMProtection: ' ',
      })),
  },
  'network vnet show': { run: (call) => vnetShape(call.world, needVnet(call, '--name')) },
  'network vnet subnet list': {
    run: (call) => {
      const vnet = needVnet(call, '--vnet-name');
      return vnet.subnets.map((s) => subnetShape(call.world, vnet, s));
    },
  },
  'network vnet subnet show': {
    run: (call) => {
      const vnet = needVnet(call, '--vnet-name');
      return subnetShape(call.world, vnet, needSubnet(call, vnet));
    },
  },
  'network vnet subnet update': { writes: true, run: updateSubnet },
  'network vnet peering list': {
    run: (call) => {
      const vnet = needVnet(call, '--vnet-name');
      return vnet.peerings.map((p) => peeringShape(call.world, vnet, p));
    },
  },
  'network vnet peering show': {
    run: (call) => {
      const vnet = needVnet(call, '--vnet-name');
      return peeringShape(call.world, vnet, needPeering(call, vnet));
    },
  },
  'network vnet peering create': { writes: true, run: createPeering },
  'network vnet peering update': { writes: true, run: updatePeering },
  'network vnet peering sync': { writes: true, run: syncPeering },
  'network vnet peering delete': { writes: true, run: deletePeering },
};
