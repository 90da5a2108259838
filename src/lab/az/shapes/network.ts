/** Resources of Microsoft.Network as the CLI prints them (properties flattened, names as in ARM). */
import type { JsonObject } from '../../../core/index.ts';
import { DEFAULT_RULES } from '../../network/nsg.ts';
import { macAddress, regionOfGroup, vnetOf } from '../../network/places.ts';
import type {
  Nsg,
  NsgRule,
  Peering,
  RouteTable,
  Subnet,
  UserRoute,
  Vm,
  Vnet,
  World,
} from '../../world/types.ts';
import { resourceId } from '../ids.ts';
import { child, guidFor, object, ref, resource, TYPES } from './common.ts';

export function nsgShape(world: World, nsg: Nsg): JsonObject {
  const subnets = world.vnets.flatMap((v) =>
    v.subnets.filter((s) => s.nsg === nsg.name).map((s) => subnetId(v, s)),
  );
  const nics = world.vms.filter((v) => v.nic_nsg === nsg.name).map(nicId);
  return object({
    ...resource(world, nsg.group, TYPES.nsg, nsg.name),
    defaultSecurityRules: DEFAULT_RULES.map((r) => ruleShape(nsg, r)),
    networkInterfaces: nics.length === 0 ? undefined : nics.map(ref),
    securityRules: nsg.rules.map((r) => ruleShape(nsg, r)),
    subnets: subnets.length === 0 ? undefined : subnets.map(ref),
  });
}

export function ruleShape(nsg: Nsg, rule: NsgRule): JsonObject {
  const isDefault = rule.priority >= 65000;
  return object({
    ...child(nsg.group, isDefault ? TYPES.defaultRule : TYPES.rule, nsg.name, rule.name),
    access: rule.access,
    direction: rule.direction,
    priority: rule.priority,
    protocol: rule.protocol,
    ...oneOrList('destinationAddressPrefix', 'destinationAddressPrefixes', rule.destination),
    ...oneOrList('destinationPortRange', 'destinationPortRanges', rule.destination_port),
    ...oneOrList('sourceAddressPrefix', 'sourceAddressPrefixes', rule.source),
    ...oneOrList('sourcePortRange', 'sourcePortRanges', rule.source_port),
  });
}

/** ARM has a field for one value and a list for more. */
function oneOrList(one: string, many: string, values: readonly string[]) {
  return values.length === 1 ? { [one]: values[0]!, [many]: [] } : { [many]: values };
}

export function routeTableShape(world: World, table: RouteTable): JsonObject {
  const subnets = world.vnets.flatMap((v) =>
    v.subnets.filter((s) => s.route_table === table.name).map((s) => subnetId(v, s)),
  );
  return object({
    ...resource(world, table.group, TYPES.table, table.name),
    disableBgpRoutePropagation: false,
    routes: table.routes.map((r) => routeShape(table, r)),
    subnets: subnets.length === 0 ? undefined : subnets.map(ref),
  });
}

export function routeShape(table: RouteTable, route: UserRoute): JsonObject {
  return object({
    ...child(table.group, TYPES.route, table.name, route.name),
    addressPrefix: route.prefix,
    hasBgpOverride: false,
    nextHopIpAddress: route.next_hop_ip ?? undefined,
    nextHopType: route.next_hop_type,
  });
}

export function vnetShape(world: World, vnet: Vnet): JsonObject {
  return {
    ...resource(world, vnet.group, TYPES.vnet, vnet.name),
    addressSpace: { addressPrefixes: vnet.prefixes },
    dhcpOptions: { dnsServers: [] },
    enableDdosProtection: false,
    privateEndpointVNetPolicies: 'Disabled',
    subnets: vnet.subnets.map((s) => subnetShape(world, vnet, s)),
    virtualNetworkPeerings: vnet.peerings.map((p) => peeringShape(world, vnet, p)),
  };
}

export function subnetShape(world: World, vnet: Vnet, subnet: Subnet): JsonObject {
  const nsg = world.nsgs.find((n) => n.name === subnet.nsg);
  const table = world.route_tables.find((t) => t.name === subnet.route_table);
  const members = world.vms.filter((v) => v.subnet === `${vnet.name}/${subnet.name}`);
  return object({
    ...child(vnet.group, TYPES.subnet, vnet.name, subnet.name),
    addressPrefix: subnet.prefix,
    delegations: [],
    ipConfigurations: members.length === 0 ? undefined : members.map((v) => ref(ipConfigId(v))),
    networkSecurityGroup: nsg && ref(resourceId(nsg.group, TYPES.nsg, nsg.name)),
    privateEndpointNetworkPolicies: 'Disabled',
    privateLinkServiceNetworkPolicies: 'Enabled',
    routeTable: table && ref(resourceId(table.group, TYPES.table, table.name)),
    serviceEndpoints: subnet.service_endpoints.map((service) => ({
      locations: service === 'Microsoft.Storage' ? [regionOfGroup(world, vnet.group)] : ['*'],
      provisioningState: 'Succeeded',
      service,
    })),
  });
}

export function peeringShape(world: World, vnet: Vnet, peering: Peering): JsonObject {
  const remote = world.vnets.find((v) => v.name === peering.remote)!;
  const space = { addressPrefixes: remote.prefixes };
  return {
    ...child(vnet.group, TYPES.peering, vnet.name, peering.name),
    allowForwardedTraffic: peering.allow_forwarded,
    allowGatewayTransit: peering.allow_gateway,
    allowVirtualNetworkAccess: true,
    doNotVerifyRemoteGateways: false,
    peerCompleteVnets: true,
    peeringState: peering.state,
    peeringSyncLevel: peering.state === 'Connected' ? 'FullyInSync' : 'RemoteNotInSync',
    remoteAddressSpace: space,
    remoteVirtualNetwork: ref(vnetId(remote)),
    remoteVirtualNetworkAddressSpace: space,
    resourceGuid: guidFor(`peering:${[vnet.name, remote.name].sort().join('|')}`),
    useRemoteGateways: false,
  };
}

export function nicShape(world: World, vm: Vm): JsonObject {
  const nsg = world.nsgs.find((n) => n.name === vm.nic_nsg);
  const suffix = `${guidFor(vnetOf(world, vm).name).slice(0, 8)}.internal.cloudapp.net`;
  return object({
    ...resource(world, vm.group, TYPES.nic, vm.nic),
    auxiliaryMode: 'None',
    auxiliarySku: 'None',
    disableTcpStateTracking: false,
    dnsSettings: { appliedDnsServers: [], dnsServers: [], internalDomainNameSuffix: suffix },
    enableAcceleratedNetworking: false,
    enableIPForwarding: vm.ip_forwarding,
    hostedWorkloads: [],
    ipConfigurations: [ipConfigShape(world, vm)],
    macAddress: macAddress(vm).replaceAll(':', '-').toUpperCase(),
    networkSecurityGroup: nsg && ref(resourceId(nsg.group, TYPES.nsg, nsg.name)),
    nicType: 'Standard',
    primary: true,
    tapConfigurations: [],
    virtualMachine: ref(vmId(vm)),
    vnetEncryptionSupported: false,
  });
}

export function ipConfigShape(world: World, vm: Vm): JsonObject {
  const vnet = vnetOf(world, vm);
  const subnet = vnet.subnets.find((s) => `${vnet.name}/${s.name}` === vm.subnet)!;
  return object({
    ...child(vm.group, TYPES.ipConfig, vm.nic, 'ipconfig1'),
    primary: true,
    privateIPAddress: vm.ip,
    privateIPAddressVersion: 'IPv4',
    privateIPAllocationMethod: 'Static',
    publicIPAddress: vm.public_ip === null ? undefined : ref(publicIpId(vm)),
    subnet: ref(subnetId(vnet, subnet)),
  });
}

export function publicIpShape(world: World, vm: Vm): JsonObject {
  return {
    ...resource(world, vm.group, TYPES.publicIp, publicIpName(vm)),
    idleTimeoutInMinutes: 4,
    ipAddress: vm.public_ip!,
    ipConfiguration: ref(ipConfigId(vm)),
    ipTags: [],
    publicIPAddressVersion: 'IPv4',
    publicIPAllocationMethod: 'Static',
    sku: { name: 'Standard', tier: 'Regional' },
  };
}

export const vmId = (vm: Vm) => resourceId(vm.group, TYPES.vm, vm.name);
export const nicId = (vm: Vm) => resourceId(vm.group, TYPES.nic, vm.nic);
export const ipConfigId = (vm: Vm) => resourceId(vm.group, TYPES.ipConfig, vm.nic, 'ipconfig1');
export const publicIpName = (vm: Vm) => `${vm.name}-pip`;
export const publicIpId = (vm: Vm) => resourceId(vm.group, TYPES.publicIp, publicIpName(vm));
export const vnetId = (vnet: Vnet) => resourceId(vnet.group, TYPES.vnet, vnet.name);
export const subnetId = (vnet: Vnet, subnet: Subnet) =>
  resourceId(vnet.group, TYPES.subnet, vnet.name, subnet.name);
