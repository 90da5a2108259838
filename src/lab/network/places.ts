/** Who lives where: lookups over a world. Names are unique (the loader saw to that). */

import type { Peering, StorageAccount, Subnet, Vm, Vnet, World } from '../world/types.ts';
import { inPrefix } from './ipv4.ts';
import { stableNumber, storageIp } from './service-tags.ts';
import type { Node } from './types.ts';

export function findVm(world: World, name: string): Vm | undefined {
  const lower = name.toLowerCase();
  return world.vms.find((v) => v.name.toLowerCase() === lower);
}

export function vnetOf(world: World, vm: Vm): Vnet {
  return world.vnets.find((v) => v.name === vm.subnet.split('/')[0])!;
}

export function subnetOf(world: World, vm: Vm): Subnet {
  const [, name] = vm.subnet.split('/');
  return vnetOf(world, vm).subnets.find((s) => s.name === name)!;
}

export function regionOfGroup(world: World, group: string): string {
  return world.groups.find((g) => g.name === group)?.location ?? 'unknown';
}

export function vmNode(world: World, vm: Vm): Node & { kind: 'vm' } {
  return {
    kind: 'vm',
    name: vm.name,
    ip: vm.ip,
    vnet: vnetOf(world, vm).name,
    subnet: subnetOf(world, vm).name,
  };
}

export function vmAt(world: World, vnet: string, ip: string): Vm | undefined {
  return world.vms.find((v) => v.ip === ip && v.subnet.startsWith(`${vnet}/`));
}

export function inVnet(vnet: Vnet, ip: string): boolean {
  return vnet.prefixes.some((prefix) => inPrefix(prefix, ip));
}

export interface PeeredVnet {
  readonly vnet: Vnet;
  readonly mine: Peering;
  readonly theirs: Peering;
}

/** A peering carries traffic only while both sides are Connected. */
export function peersOf(world: World, vnet: Vnet): readonly PeeredVnet[] {
  return vnet.peerings.flatMap((mine) => {
    const other = world.vnets.find((v) => v.name === mine.remote);
    const theirs = other?.peerings.find((p) => p.remote === vnet.name);
    const connected = mine.state === 'Connected' && theirs?.state === 'Connected';
    return other && theirs && connected ? [{ vnet: other, mine, theirs }] : [];
  });
}

export function storageAddress(world: World, account: StorageAccount): string {
  return storageIp(regionOfGroup(world, account.group), world.storage.indexOf(account));
}

export function storageAt(world: World, ip: string): StorageAccount | undefined {
  return world.storage.find((s) => storageAddress(world, s) === ip);
}

const PRIVATE_BLOB_ZONE = 'privatelink.blob.core.windows.net';

/** The account whose private endpoint has this address: the one a privatelink record names. */
export function privateEndpointAt(world: World, ip: string): StorageAccount | undefined {
  const records = world.private_dns.filter((z) => z.zone === PRIVATE_BLOB_ZONE).flatMap((z) => z.records);
  const record = records.find((r) => r.type === 'A' && r.value.includes(ip));
  return record && world.storage.find((s) => s.name === record.name);
}

export function hasPrivateEndpoint(world: World, account: string): boolean {
  return world.private_dns.some(
    (z) => z.zone === PRIVATE_BLOB_ZONE && z.records.some((r) => r.name === account),
  );
}

/** The NIC's hardware address, `00:0d:3a:…`: Azure's own prefix, then the same bytes for the same VM. */
export function macAddress(vm: Vm): string {
  const n = stableNumber(`mac:${vm.name}`);
  const bytes = [0x00, 0x0d, 0x3a, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
  return bytes.map((b) => b.toString(16).padStart(2, '0')).join(':');
}
