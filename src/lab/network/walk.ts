/**
 * Takes one packet through the world, station by station.
 *
 * K1 Filters are asked about the first packet of a conversation only: whoever has let it pass once (`known`)
 *    lets the rest pass, in both directions.
 * K2 An appliance that has not seen the beginning drops what comes later.
 * K3 Every walk ends: a packet that meets more than MAX_HOPS machines is in a loop.
 */
import type { Vm, World } from '../world/types.ts';
import { type HandOver, handOver, internet } from './hand-over.ts';
import { nsgVerdicts, type Packet } from './nsg.ts';
import { osVerdict } from './os-firewall.ts';
import { inVnet, vmAt, vmNode, vnetOf } from './places.ts';
import { effectiveRoutes, routesOfSubnet, selectRoute } from './routes.ts';
import { SHARED_OUTBOUND_IP } from './storage.ts';
import type { DropReason, Node, PathEnd, Station } from './types.ts';

const MAX_HOPS = 12;

export interface Walk {
  readonly world: World;
  readonly stations: Station[];
  /** VMs this conversation has passed before, on its way out. Empty for a request. */
  readonly known: ReadonlySet<string>;
  /** False for everything after the first packet. */
  readonly first: boolean;
}

export interface Arrival {
  readonly end: PathEnd;
  readonly node: Node;
}

/** From inside a VM. */
export function walkFromVm(walk: Walk, vm: Vm, packet: Packet): Arrival {
  if (vm.power !== 'running') {
    walk.stations.push({ kind: 'power', vm: vm.name, power: vm.power });
    return lost(packet, 'vm_not_running');
  }
  if (walk.first) {
    const verdict = osVerdict(vm, 'OUTPUT', packet);
    walk.stations.push({ kind: 'os_firewall', vm: vm.name, chain: 'OUTPUT', ...verdict });
    if (verdict.action !== 'ACCEPT') return refusedBy(walk.world, vm, verdict.action, packet);
  }
  return leave(walk, vm, packet, 0);
}

/** From the internet, or from behind a gateway, straight to the VNet's door. */
export function walkFromOutside(walk: Walk, packet: Packet, door: 'internet' | 'gateway'): Arrival {
  const { world } = walk;
  if (door === 'internet') return receive(walk, internet(world, packet.destination), packet, 0);
  const vnet = world.vnets.find((v) => inVnet(v, packet.destination));
  if (!vnet) return lost(packet, 'unroutable');
  const subnet = vnet.subnets.find((s) => s.name === 'GatewaySubnet');
  if (subnet?.route_table) {
    const route = selectRoute(routesOfSubnet(world, vnet, subnet), packet.destination);
    if (route.source === 'User') return receive(walk, handOver(world, vnet, route, packet), packet, 0);
  }
  const vm = vmAt(world, vnet.name, packet.destination);
  if (!vm) return lost(packet, 'nobody_there');
  return arrive(walk, vm, packet, 0);
}

function leave(walk: Walk, vm: Vm, packet: Packet, hops: number): Arrival {
  const { world, stations } = walk;
  stations.push(
    { kind: 'capture', vm: vm.name, way: 'out' },
    { kind: 'link', vm: vm.name, way: 'out', link: vm.link },
  );
  if (!passesNsgs(walk, vm, 'Outbound', packet)) return lost(packet, 'nsg');
  const route = selectRoute(effectiveRoutes(world, vm), packet.destination);
  const over = handOver(world, vnetOf(world, vm), route, packet);
  stations.push({ kind: 'route', vm: vm.name, route, next: nextNode(world, over) });
  return receive(walk, over, packet, hops);
}

function receive(walk: Walk, over: HandOver, packet: Packet, hops: number): Arrival {
  switch (over.kind) {
    case 'dropped':
      return { end: { kind: 'dropped', reason: over.reason }, node: over.node ?? nobody(packet) };
    case 'outside':
      return atOutside(walk, over.node, packet);
    case 'vm':
      if (over.over) walk.stations.push({ kind: 'peering', ...over.over });
      return arrive(
        walk,
        over.vm,
        over.translated ? translated(walk.world, over.vm, packet) : packet,
        hops + 1,
      );
  }
}

/** Through a public address: the receiver has its private one, and sees the sender's public one. */
function translated(world: World, to: Vm, packet: Packet): Packet {
  const sender = world.vms.find((v) => v.ip === packet.source);
  const source = sender ? (sender.public_ip ?? SHARED_OUTBOUND_IP) : packet.source;
  return { ...packet, source, destination: to.ip };
}

function arrive(walk: Walk, vm: Vm, packet: Packet, hops: number): Arrival {
  const { world, stations } = walk;
  if (hops > MAX_HOPS) return lost(packet, 'loop');
  if (!passesNsgs(walk, vm, 'Inbound', packet)) return lost(packet, 'nsg');
  if (vm.power !== 'running') {
    stations.push({ kind: 'power', vm: vm.name, power: vm.power });
    return { end: { kind: 'dropped', reason: 'vm_not_running' }, node: vmNode(world, vm) };
  }
  const transit = vm.ip !== packet.destination;
  const knowsConversation = walk.first || walk.known.has(vm.name);
  const forward = (forwards: boolean): Station => ({
    kind: 'forward',
    vm: vm.name,
    forwards,
    knowsConversation,
  });
  // The platform hands a NIC without IP forwarding nothing that is not its own: the guest never sees it.
  if (transit && !vm.ip_forwarding) {
    stations.push(forward(false));
    return lost(packet, 'not_forwarding');
  }
  stations.push(
    { kind: 'link', vm: vm.name, way: 'in', link: vm.link },
    { kind: 'capture', vm: vm.name, way: 'in' },
  );
  if (!transit) return atVm(walk, vm, packet);
  const forwards = vm.os_ip_forward ?? true;
  stations.push(forward(forwards));
  if (!forwards) return lost(packet, 'not_forwarding');
  if (!knowsConversation) return lost(packet, 'conversation_unknown');
  if (walk.first) {
    const verdict = osVerdict(vm, 'FORWARD', packet);
    stations.push({ kind: 'os_firewall', vm: vm.name, chain: 'FORWARD', ...verdict });
    if (verdict.action !== 'ACCEPT') return refusedBy(world, vm, verdict.action, packet);
  }
  return leave(walk, vm, packet, hops);
}

function atVm(walk: Walk, vm: Vm, packet: Packet): Arrival {
  const node = vmNode(walk.world, vm);
  if (!walk.first) return { end: { kind: 'delivered' }, node };
  const verdict = osVerdict(vm, 'INPUT', packet);
  walk.stations.push({ kind: 'os_firewall', vm: vm.name, chain: 'INPUT', ...verdict });
  if (verdict.action !== 'ACCEPT') return refusedBy(walk.world, vm, verdict.action, packet);
  const answers = packet.protocol === 'icmp' || isListening(vm, packet);
  walk.stations.push({ kind: 'destination', node, answers });
  if (answers) return { end: { kind: 'delivered' }, node };
  return {
    end: { kind: 'rejected', with: packet.protocol === 'tcp' ? 'rst' : 'icmp_port_unreachable', by: node },
    node,
  };
}

export function isListening(vm: Vm, packet: Packet): boolean {
  return vm.listens.some(
    (l) =>
      l.protocol === packet.protocol &&
      l.port === packet.destinationPort &&
      (l.bind === '0.0.0.0' || l.bind === packet.destination),
  );
}

function atOutside(walk: Walk, node: Node, packet: Packet): Arrival {
  if (!walk.first) return { end: { kind: 'delivered' }, node };
  const answers = outsideAnswers(node, packet);
  walk.stations.push({ kind: 'destination', node, answers });
  return { end: answers ? { kind: 'delivered' } : { kind: 'dropped', reason: 'nobody_there' }, node };
}

function outsideAnswers(node: Node, packet: Packet): boolean {
  const { protocol, destinationPort: port } = packet;
  switch (node.kind) {
    case 'storage':
      return protocol === 'tcp' && (port === 443 || port === 80);
    case 'platform':
      return (
        (protocol === 'udp' && port === 53) ||
        (protocol === 'tcp' && (port === 53 || port === 80 || port === 32526))
      );
    case 'internet':
      return protocol !== 'udp' || port === 53 || port === 123 || port === 443;
    case 'onprem':
    case 'local':
      return true;
    case 'nobody':
    case 'vm':
      return false;
  }
}

function passesNsgs(walk: Walk, vm: Vm, direction: 'Inbound' | 'Outbound', packet: Packet): boolean {
  if (walk.known.has(vm.name)) return true;
  const verdicts = nsgVerdicts(walk.world, vm, direction, packet);
  for (const verdict of verdicts) walk.stations.push({ kind: 'nsg', vm: vm.name, ...verdict });
  return verdicts.every((v) => v.access === 'Allow');
}

function refusedBy(world: World, vm: Vm, action: 'DROP' | 'REJECT', packet: Packet): Arrival {
  const node = vmNode(world, vm);
  if (action === 'DROP') return { end: { kind: 'dropped', reason: 'os_firewall' }, node: nobody(packet) };
  return { end: { kind: 'rejected', with: 'icmp_port_unreachable', by: node }, node };
}

function nextNode(world: World, over: HandOver): Node | null {
  switch (over.kind) {
    case 'vm':
      return vmNode(world, over.vm);
    case 'outside':
    case 'dropped':
      return over.node;
  }
}

function lost(packet: Packet, reason: DropReason): Arrival {
  return { end: { kind: 'dropped', reason }, node: nobody(packet) };
}

function nobody(packet: Packet): Node {
  return { kind: 'nobody', ip: packet.destination };
}
