import type { Json, JsonObject } from '../../../core/index.ts';
import { regionOfGroup } from '../../network/places.ts';
import { stableNumber } from '../../network/service-tags.ts';
import type { World } from '../../world/types.ts';
import { resourceId } from '../ids.ts';

/** A GUID that is always the same for the same thing. */
export function guidFor(text: string): string {
  const hex = [0, 1, 2, 3].map((i) => stableNumber(`${i}:${text}`).toString(16).padStart(8, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** What every resource shows about itself. */
export function resource(world: World, group: string, type: string, name: string): Record<string, Json> {
  return {
    ...child(group, type, name),
    location: regionOfGroup(world, group),
    resourceGuid: guidFor(`${type}/${name}`),
  };
}

/** What every part of a resource (a rule, a route, a subnet) shows. */
export function child(group: string, type: string, ...names: readonly string[]): Record<string, Json> {
  const id = resourceId(group, type, ...names);
  return {
    id,
    name: names.at(-1)!,
    type,
    etag: `W/"${guidFor(`etag:${id}`)}"`,
    provisioningState: 'Succeeded',
    resourceGroup: group,
  };
}

/** A reference to another resource. */
export function ref(id: string): JsonObject {
  return { id };
}

/** The CLI adds the group to whatever has an id. */
export function withGroups(value: Json): Json {
  if (Array.isArray(value)) return value.map(withGroups);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as JsonObject).map(([key, v]) => [key, withGroups(v)] as const);
  const out: Record<string, Json> = Object.fromEntries(members);
  const group = typeof out.id === 'string' ? /\/resourceGroups\/([^/]+)\//i.exec(out.id)?.[1] : undefined;
  if (group !== undefined && out.resourceGroup === undefined) out.resourceGroup = group;
  return out;
}

export const TYPES = {
  vm: 'Microsoft.Compute/virtualMachines',
  extension: 'Microsoft.Compute/virtualMachines/extensions',
  disk: 'Microsoft.Compute/disks',
  nic: 'Microsoft.Network/networkInterfaces',
  ipConfig: 'Microsoft.Network/networkInterfaces/ipConfigurations',
  nsg: 'Microsoft.Network/networkSecurityGroups',
  rule: 'Microsoft.Network/networkSecurityGroups/securityRules',
  defaultRule: 'Microsoft.Network/networkSecurityGroups/defaultSecurityRules',
  table: 'Microsoft.Network/routeTables',
  route: 'Microsoft.Network/routeTables/routes',
  vnet: 'Microsoft.Network/virtualNetworks',
  subnet: 'Microsoft.Network/virtualNetworks/subnets',
  peering: 'Microsoft.Network/virtualNetworks/virtualNetworkPeerings',
  publicIp: 'Microsoft.Network/publicIPAddresses',
  privateZone: 'Microsoft.Network/privateDnsZones',
  publicZone: 'Microsoft.Network/dnszones',
  link: 'Microsoft.Network/privateDnsZones/virtualNetworkLinks',
  storage: 'Microsoft.Storage/storageAccounts',
  watcher: 'Microsoft.Network/networkWatchers',
  capture: 'Microsoft.Network/networkWatchers/packetCaptures',
} as const;

export const WATCHER_GROUP = 'NetworkWatcherRG';

export function watcherName(region: string): string {
  return `NetworkWatcher_${region}`;
}

/** Members whose value is undefined are left out, as the generated commands do. */
export function object(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((pair): pair is [string, Json] => pair[1] !== undefined),
  );
}
