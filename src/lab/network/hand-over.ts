/** From a route to whoever gets the packet next. */
import type { Vm, Vnet, World } from '../world/types.ts';
import { inPrefix, isPrivate } from './ipv4.ts';
import type { Packet } from './nsg.ts';
import { inVnet, peersOf, privateEndpointAt, regionOfGroup, storageAt, vmAt } from './places.ts';
import { PLATFORM_IP } from './service-tags.ts';
import type { DropReason, EffectiveRoute, Node } from './types.ts';

export type HandOver =
  | { readonly kind: 'vm'; readonly vm: Vm; readonly over: Crossing | null; readonly translated: boolean }
  | { readonly kind: 'outside'; readonly node: Node }
  | { readonly kind: 'dropped'; readonly reason: DropReason; readonly node: Node | null };

export interface Crossing {
  readonly from: string;
  readonly to: string;
  readonly sameRegion: boolean;
}

export function handOver(world: World, vnet: Vnet, route: EffectiveRoute, packet: Packet): HandOver {
  const ip = packet.destination;
  if (ip === PLATFORM_IP) return { kind: 'outside', node: { kind: 'platform', ip } };
  switch (route.nextHopType) {
    case 'VnetLocal':
      return inVnet(vnet, ip) ? within(world, vnet, vnet, ip, packet) : dropped('unroutable');
    case 'VNetPeering': {
      const peer = peersOf(world, vnet).find((p) => inVnet(p.vnet, ip));
      return peer ? within(world, vnet, peer.vnet, ip, packet) : dropped('peering');
    }
    case 'VirtualAppliance':
      return appliance(world, vnet, route.nextHopIp!, packet);
    case 'VirtualNetworkGateway':
      return gateway(world, vnet, route, packet);
    case 'VirtualNetworkServiceEndpoint':
    case 'Internet':
      return internet(world, ip);
    case 'None':
      return dropped('route_none');
  }
}

function within(world: World, from: Vnet, to: Vnet, ip: string, packet: Packet): HandOver {
  const vm = vmAt(world, to.name, ip);
  const account = privateEndpointAt(world, ip);
  if (!vm && account) return { kind: 'outside', node: { kind: 'storage', account: account.name, ip } };
  if (!vm) return dropped('nobody_there', { kind: 'nobody', ip });
  const over = crossing(world, from, to);
  if (over && !mayCross(world, from, to, packet)) return dropped('peering');
  return { kind: 'vm', vm, over, translated: false };
}

function appliance(world: World, vnet: Vnet, ip: string, packet: Packet): HandOver {
  const homes = [vnet, ...peersOf(world, vnet).map((p) => p.vnet)];
  const home = homes.find((v) => inVnet(v, ip));
  const vm = home && vmAt(world, home.name, ip);
  if (!home || !vm) return dropped('no_next_hop', { kind: 'nobody', ip });
  const over = crossing(world, vnet, home);
  if (over && !mayCross(world, vnet, home, packet)) return dropped('peering');
  return { kind: 'vm', vm, over, translated: false };
}

function gateway(world: World, vnet: Vnet, route: EffectiveRoute, packet: Packet): HandOver {
  const ip = packet.destination;
  if (world.local.vpn && ip === world.local.address) return { kind: 'outside', node: { kind: 'local', ip } };
  // A route learnt from an appliance (a route server's neighbour) goes to that appliance.
  if (route.nextHopIp !== null) {
    const over = appliance(world, vnet, route.nextHopIp, packet);
    if (over.kind === 'vm') return over;
  }
  const learnt = [
    vnet,
    ...peersOf(world, vnet).flatMap((p) => (p.mine.allow_gateway && p.theirs.allow_gateway ? [p.vnet] : [])),
  ];
  const known = learnt.some((v) => v.bgp_routes.some((r) => inPrefix(r.prefix, ip)));
  // A gateway that never learnt the prefix, or that is not there at all, drops the packet.
  return known ? { kind: 'outside', node: { kind: 'onprem', ip } } : dropped('unroutable');
}

export function internet(world: World, ip: string): HandOver {
  if (isPrivate(ip)) return dropped('unroutable');
  const account = storageAt(world, ip);
  if (account) return { kind: 'outside', node: { kind: 'storage', account: account.name, ip } };
  const vm = world.vms.find((v) => v.public_ip === ip);
  if (vm) return { kind: 'vm', vm, over: null, translated: true };
  return { kind: 'outside', node: { kind: 'internet', ip } };
}

function crossing(world: World, from: Vnet, to: Vnet): Crossing | null {
  if (from.name === to.name) return null;
  const sameRegion = regionOfGroup(world, from.group) === regionOfGroup(world, to.group);
  return { from: from.name, to: to.name, sameRegion };
}

/** Traffic that did not start in the VNet next door is forwarded traffic: the receiving side must allow it. */
function mayCross(world: World, from: Vnet, to: Vnet, packet: Packet): boolean {
  const peer = peersOf(world, to).find((p) => p.vnet.name === from.name);
  if (!peer) return false;
  return inVnet(from, packet.source) || peer.mine.allow_forwarded;
}

function dropped(reason: DropReason, node: Node | null = null): HandOver {
  return { kind: 'dropped', reason, node };
}
