/**
 * Effective routes of a subnet.
 *
 * R1 The longest prefix wins; of equal prefixes user before BGP before system.
 * R2 Service endpoints cannot be overridden, and BGP never takes traffic inside the VNet or its peers.
 * R3 Private ranges go nowhere (`None`) by default, unless somebody gave a default route of their own.
 */
import type { Subnet, Vm, Vnet, World } from '../world/types.ts';
import { contains, covers, formatPrefix, parseIp, parsePrefix } from './ipv4.ts';
import { peersOf, subnetOf, vnetOf } from './places.ts';
import { tagPrefixes } from './service-tags.ts';
import type { EffectiveNextHop, EffectiveRoute, RouteSource } from './types.ts';

const NOWHERE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];
/** The address of the gateway in the lab: no VM, never pinged. */
const GATEWAY_IP = '10.255.255.254';

export function effectiveRoutes(world: World, vm: Vm): readonly EffectiveRoute[] {
  return routesOfSubnet(world, vnetOf(world, vm), subnetOf(world, vm));
}

export function routesOfSubnet(world: World, vnet: Vnet, subnet: Subnet): readonly EffectiveRoute[] {
  const user = userRoutes(world, subnet);
  const bgp = bgpRoutes(world, vnet);
  const system = systemRoutes(world, vnet, subnet, user, bgp);
  return [...system, ...bgp, ...user].map((route, _, all) => ({
    ...route,
    state: stateOf(route, all, vnet, world),
  }));
}

function userRoutes(world: World, subnet: Subnet): EffectiveRoute[] {
  const table = world.route_tables.find((t) => t.name === subnet.route_table);
  return (table?.routes ?? []).map((r) => ({
    ...made(r.prefix, 'User', r.next_hop_type, r.next_hop_ip),
    name: r.name,
    table: table!.name,
  }));
}

function bgpRoutes(world: World, vnet: Vnet): EffectiveRoute[] {
  const shared = peersOf(world, vnet)
    .filter((p) => p.mine.allow_gateway && p.theirs.allow_gateway)
    .flatMap((p) => p.vnet.bgp_routes);
  const learnt = [...vnet.bgp_routes, ...shared].map((r) =>
    made(r.prefix, 'VirtualNetworkGateway', 'VirtualNetworkGateway', r.next_hop),
  );
  // The engineer's VPN comes in through a gateway, so every subnet knows the way back.
  const vpn = world.local.vpn
    ? [made(`${world.local.address}/32`, 'VirtualNetworkGateway', 'VirtualNetworkGateway', GATEWAY_IP)]
    : [];
  return [...learnt, ...vpn];
}

function systemRoutes(
  world: World,
  vnet: Vnet,
  subnet: Subnet,
  user: readonly EffectiveRoute[],
  bgp: readonly EffectiveRoute[],
): EffectiveRoute[] {
  const own = vnet.prefixes.map((p) => made(p, 'Default', 'VnetLocal'));
  const peered = peersOf(world, vnet).flatMap((p) =>
    p.vnet.prefixes.map((x) => made(x, 'Default', 'VNetPeering')),
  );
  const replaced = [...user, ...bgp].some((r) => r.prefix === '0.0.0.0/0');
  const taken = new Set(own.map((r) => r.prefix));
  const nowhere = replaced ? [] : NOWHERE.filter((p) => !taken.has(p)).map((p) => made(p, 'Default', 'None'));
  const services = subnet.service_endpoints.flatMap((service) =>
    servicePrefixes(world, service).map((p) => made(p, 'Default', 'VirtualNetworkServiceEndpoint')),
  );
  return [...own, ...peered, made('0.0.0.0/0', 'Default', 'Internet'), ...nowhere, ...services];
}

/** Addresses a service endpoint takes over: the service in every region this world has. */
function servicePrefixes(world: World, service: string): readonly string[] {
  const tag = service.replace(/^Microsoft\./i, '').replace(/\.Global$/i, '');
  const regions = [...new Set(world.groups.map((g) => g.location))];
  return regions.flatMap((region) => (tagPrefixes(`${tag}.${region}`) ?? []).map(formatPrefix));
}

function made(
  prefix: string,
  source: RouteSource,
  nextHopType: EffectiveNextHop,
  nextHopIp: string | null = null,
): EffectiveRoute {
  return { prefix, source, nextHopType, nextHopIp, state: 'Active', name: null, table: null };
}

const RANK: Record<RouteSource, number> = { User: 0, VirtualNetworkGateway: 1, Default: 2 };

function rank(route: EffectiveRoute): number {
  return route.nextHopType === 'VirtualNetworkServiceEndpoint' ? -1 : RANK[route.source];
}

function stateOf(
  route: EffectiveRoute,
  all: readonly EffectiveRoute[],
  vnet: Vnet,
  world: World,
): EffectiveRoute['state'] {
  if (all.some((other) => other.prefix === route.prefix && rank(other) < rank(route))) return 'Invalid';
  if (route.source === 'VirtualNetworkGateway') {
    const spaces = [...vnet.prefixes, ...peersOf(world, vnet).flatMap((p) => p.vnet.prefixes)];
    if (spaces.some((space) => covers(parsePrefix(space)!, parsePrefix(route.prefix)!))) return 'Invalid';
  }
  return 'Active';
}

/** The route a packet to this address takes. There always is one: 0.0.0.0/0. */
export function selectRoute(routes: readonly EffectiveRoute[], ip: string): EffectiveRoute {
  const address = parseIp(ip)!;
  let best: EffectiveRoute | undefined;
  let bestBits = -1;
  for (const route of routes) {
    if (route.state !== 'Active') continue;
    const prefix = parsePrefix(route.prefix)!;
    if (!contains(prefix, address)) continue;
    if (route.nextHopType === 'VirtualNetworkServiceEndpoint') return route;
    if (prefix.bits > bestBits || (prefix.bits === bestBits && best && rank(route) < rank(best))) {
      best = route;
      bestBits = prefix.bits;
    }
  }
  return best!;
}
