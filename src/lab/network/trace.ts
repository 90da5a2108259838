/** One conversation through the world and back. Pure: same world, same query, same trace. */
import type { World } from '../world/types.ts';
import { resolve } from './dns.ts';
import { isPrivate, parseIp } from './ipv4.ts';
import type { Packet } from './nsg.ts';
import { findVm, inVnet, privateEndpointAt, storageAt, vmNode } from './places.ts';
import { propertiesOf } from './properties.ts';
import { LOCAL_PUBLIC_IP, storageAdmission } from './storage.ts';
import type {
  Node,
  Origin,
  Outcome,
  Path,
  PathEnd,
  Query,
  Resolution,
  Station,
  StorageAdmission,
  Trace,
} from './types.ts';
import { type Arrival, type Walk, walkFromOutside, walkFromVm } from './walk.ts';

export function trace(world: World, query: Query): Trace {
  const { resolution, address } = lookUp(world, query);
  if (address === null) {
    return {
      query,
      resolution,
      request: null,
      reply: null,
      outcome: { kind: 'name_not_resolved' },
      storage: null,
    };
  }
  const request = requestPath(world, query, address);
  const reply = replyPath(world, query, request);
  const storage = admission(world, query, request);
  return { query, resolution, request, reply, storage, outcome: outcomeOf(request, reply, storage) };
}

/** A VM's name and an address need no lookup; a storage account is asked for by its blob host name. */
function lookUp(world: World, query: Query): { resolution: Resolution | null; address: string | null } {
  if (parseIp(query.to) !== undefined) return { resolution: null, address: query.to };
  const vm = findVm(world, query.to);
  if (vm) return { resolution: null, address: vm.ip };
  const account = world.storage.find((s) => s.name === query.to);
  const resolution = resolve(world, query.from, account ? `${account.name}.blob.core.windows.net` : query.to);
  return { resolution, address: resolution.address };
}

/** The address the others see. */
export function originAddress(world: World, from: Origin, destination: string): string {
  switch (from.kind) {
    case 'vm':
      return findVm(world, from.name)!.ip;
    case 'local':
      return world.local.vpn && isInside(world, destination) ? world.local.address : LOCAL_PUBLIC_IP;
    case 'internet':
      return from.ip;
  }
}

function isInside(world: World, ip: string): boolean {
  return isPrivate(ip) || world.vnets.some((v) => inVnet(v, ip));
}

function requestPath(world: World, query: Query, address: string): Path {
  const { from } = query;
  const walk: Walk = { world, stations: [], known: new Set(), first: true };
  const packet: Packet = {
    protocol: query.protocol,
    source: originAddress(world, from, address),
    sourcePort: query.protocol === 'icmp' ? null : (query.sourcePort ?? 50_000),
    destination: address,
    destinationPort: query.port,
  };
  const source = sourceNode(world, from, packet.source);
  const arrival = start(walk, from, packet);
  return finish(walk.stations, source, arrival);
}

function start(walk: Walk, from: Origin, packet: Packet): Arrival {
  if (from.kind === 'vm') return walkFromVm(walk, findVm(walk.world, from.name)!, packet);
  const inside = isInside(walk.world, packet.destination);
  if (!inside) return walkFromOutside(walk, packet, 'internet');
  if (from.kind === 'local' && walk.world.local.vpn) return walkFromOutside(walk, packet, 'gateway');
  const node: Node = { kind: 'nobody', ip: packet.destination };
  return { end: { kind: 'dropped', reason: from.kind === 'local' ? 'no_vpn' : 'unroutable' }, node };
}

function sourceNode(world: World, from: Origin, ip: string): Node {
  return from.kind === 'vm' ? vmNode(world, findVm(world, from.name)!) : { kind: from.kind, ip };
}

function finish(stations: readonly Station[], source: Node, arrival: Arrival): Path {
  const far = source.kind === 'vm' ? arrival.node : source;
  return {
    source,
    destination: arrival.node,
    stations,
    end: arrival.end,
    properties: propertiesOf(stations, far),
  };
}

/** What comes back: from the destination, or from whoever rejects. */
function replyPath(world: World, query: Query, request: Path): Path | null {
  const answering = answerer(request.end, request.destination);
  // A sender whose own OUTPUT chain rejects is told without a packet.
  if (answering === null || answering.ip === request.source.ip) return null;
  const passed = request.stations.flatMap((s) => ('vm' in s ? [s.vm] : []));
  const walk: Walk = { world, stations: [], known: new Set(passed), first: false };
  const packet: Packet = {
    protocol: query.protocol,
    source: answering.ip,
    sourcePort: query.port,
    destination: request.source.ip,
    destinationPort: query.protocol === 'icmp' ? null : (query.sourcePort ?? 50_000),
  };
  const vm = answering.kind === 'vm' ? findVm(world, answering.name) : undefined;
  if (vm && !cameThroughPublicAddress(request))
    return finish(walk.stations, answering, walkFromVm(walk, vm, packet));
  if (answering.kind === 'onprem')
    return finish(walk.stations, answering, walkFromOutside(walk, packet, 'gateway'));
  return wayBack(request, answering);
}

function answerer(end: PathEnd, destination: Node): Node | null {
  switch (end.kind) {
    case 'delivered':
      return destination;
    case 'rejected':
      return end.by;
    case 'dropped':
      return null;
  }
}

/** From one VM to another's public address: translated twice, so it can only return the way it came. */
function cameThroughPublicAddress(request: Path): boolean {
  if (request.source.kind !== 'vm') return false;
  const last = request.stations.findLast((s) => s.kind === 'route');
  return last?.kind === 'route' && last.route.nextHopType === 'Internet';
}

/** Outside the VNets address translation makes answers retrace the request's steps. */
function wayBack(request: Path, source: Node): Path {
  const stations: Station[] = [];
  for (const station of request.stations.toReversed()) {
    if (station.kind === 'capture' || station.kind === 'link')
      stations.push({ ...station, way: station.way === 'in' ? 'out' : 'in' });
    else if (station.kind === 'peering') stations.push({ ...station, from: station.to, to: station.from });
    else if (station.kind === 'forward') stations.push(station);
  }
  const properties = propertiesOf(stations, source);
  return { source, destination: request.source, stations, end: { kind: 'delivered' }, properties };
}

function admission(world: World, query: Query, request: Path): StorageAdmission | null {
  const node = request.destination;
  if (node.kind !== 'storage' || request.end.kind !== 'delivered') return null;
  const account = world.storage.find((s) => s.name === node.account)!;
  const viaPrivate =
    storageAt(world, node.ip) === undefined && privateEndpointAt(world, node.ip) !== undefined;
  return storageAdmission(world, account, query.from, viaPrivate);
}

function outcomeOf(request: Path, reply: Path | null, storage: StorageAdmission | null): Outcome {
  const lost = request.properties.lossPct >= 100 || (reply?.properties.lossPct ?? 0) >= 100;
  if (request.end.kind === 'rejected' && request.end.by.ip === request.source.ip) return { kind: 'refused' };
  if (reply === null || reply.end.kind !== 'delivered' || lost) return { kind: 'silence' };
  if (request.end.kind === 'rejected') return { kind: 'refused' };
  return { kind: 'answered', forbidden: storage !== null && !storage.allowed };
}
