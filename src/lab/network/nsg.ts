/**
 * Network security groups.
 *
 * N1 Lower priority number first; the first rule that matches decides; Azure's default rules come last.
 * N2 A rule with ports does not match ICMP unless it names that protocol.
 * N3 `VirtualNetwork` is the VNet's own space, connected peers, prefixes of the subnet's user routes, prefixes
 *    learnt by BGP, and the platform's address; `Internet` is everything else.
 */
import type { Direction, FlowProtocol, Nsg, NsgRule, Subnet, Vm, Vnet, World } from '../world/types.ts';
import { contains, type Prefix, parseIp, parsePrefix } from './ipv4.ts';
import { peersOf, subnetOf, vnetOf } from './places.ts';
import { PLATFORM_IP, tagPrefixes } from './service-tags.ts';
import type { NsgVerdict } from './types.ts';

export interface Packet {
  readonly protocol: FlowProtocol;
  readonly source: string;
  readonly sourcePort: number | null;
  readonly destination: string;
  readonly destinationPort: number | null;
}

function defaultRule(
  name: string,
  priority: number,
  direction: Direction,
  access: 'Allow' | 'Deny',
  source: string,
  destination: string,
): NsgRule {
  const any = ['*'];
  return {
    name,
    priority,
    direction,
    access,
    protocol: '*',
    source: [source],
    source_port: any,
    destination: [destination],
    destination_port: any,
  };
}

export const DEFAULT_RULES: readonly NsgRule[] = [
  defaultRule('AllowVnetInBound', 65000, 'Inbound', 'Allow', 'VirtualNetwork', 'VirtualNetwork'),
  defaultRule('AllowAzureLoadBalancerInBound', 65001, 'Inbound', 'Allow', 'AzureLoadBalancer', '*'),
  defaultRule('DenyAllInBound', 65500, 'Inbound', 'Deny', '*', '*'),
  defaultRule('AllowVnetOutBound', 65000, 'Outbound', 'Allow', 'VirtualNetwork', 'VirtualNetwork'),
  defaultRule('AllowInternetOutBound', 65001, 'Outbound', 'Allow', '*', 'Internet'),
  defaultRule('DenyAllOutBound', 65500, 'Outbound', 'Deny', '*', '*'),
];

/** What `VirtualNetwork` means where this subnet stands. */
export function virtualNetworkPrefixes(world: World, vnet: Vnet, subnet: Subnet): readonly string[] {
  const table = world.route_tables.find((t) => t.name === subnet.route_table);
  const texts = [
    ...vnet.prefixes,
    ...peersOf(world, vnet).flatMap((p) => p.vnet.prefixes),
    ...(table?.routes.map((r) => r.prefix) ?? []),
    ...vnet.bgp_routes.map((r) => r.prefix),
    `${PLATFORM_IP}/32`,
  ];
  return [...new Set(texts)];
}

/** Rules of an NSG in the order they are tried, default rules included. */
export function rulesInOrder(nsg: Nsg, direction: Direction): readonly NsgRule[] {
  return [...nsg.rules, ...DEFAULT_RULES]
    .filter((r) => r.direction === direction)
    .sort((a, b) => a.priority - b.priority);
}

export interface TagView {
  readonly virtualNetwork: readonly Prefix[];
}

export function tagView(world: World, vnet: Vnet, subnet: Subnet): TagView {
  return { virtualNetwork: virtualNetworkPrefixes(world, vnet, subnet).map((p) => parsePrefix(p)!) };
}

export function decidingRule(nsg: Nsg, direction: Direction, packet: Packet, view: TagView): NsgRule {
  // The last default rule matches everything, so there always is one.
  return rulesInOrder(nsg, direction).find((rule) => ruleMatches(rule, packet, view))!;
}

export function ruleMatches(rule: NsgRule, packet: Packet, view: TagView): boolean {
  return (
    (rule.protocol === '*' || rule.protocol.toLowerCase() === packet.protocol) &&
    addressMatches(rule.source, packet.source, view) &&
    addressMatches(rule.destination, packet.destination, view) &&
    portMatches(rule, rule.source_port, packet.sourcePort) &&
    portMatches(rule, rule.destination_port, packet.destinationPort)
  );
}

function portMatches(rule: NsgRule, ports: readonly string[], port: number | null): boolean {
  if (ports.includes('*')) return true;
  if (port === null) return rule.protocol === 'Icmp';
  return ports.some((text) => inPortRange(text, port));
}

export function inPortRange(text: string, port: number): boolean {
  const [low, high] = text.split('-');
  return port >= Number(low) && port <= Number(high ?? low);
}

function addressMatches(wanted: readonly string[], ip: string, view: TagView): boolean {
  const address = parseIp(ip)!;
  return wanted.some((text) => {
    if (text === '*') return true;
    const prefix = parsePrefix(text);
    if (prefix) return contains(prefix, address);
    const inside = () => view.virtualNetwork.some((p) => contains(p, address));
    switch (text.toLowerCase()) {
      case 'virtualnetwork':
        return inside();
      case 'internet':
        return !inside();
      default:
        return tagPrefixes(text)?.some((p) => contains(p, address)) ?? false;
    }
  });
}

/** The NSGs in front of a VM, in the order a packet meets them. */
export function attachedNsgs(
  world: World,
  vm: Vm,
  direction: Direction,
): readonly { readonly nsg: Nsg; readonly attached: 'subnet' | 'nic' }[] {
  const find = (name: string | null) => world.nsgs.find((n) => n.name === name);
  const subnet = find(subnetOf(world, vm).nsg);
  const nic = find(vm.nic_nsg);
  const both = [
    ...(subnet ? [{ nsg: subnet, attached: 'subnet' as const }] : []),
    ...(nic ? [{ nsg: nic, attached: 'nic' as const }] : []),
  ];
  return direction === 'Inbound' ? both : both.reverse();
}

/** What each NSG in front of the VM says, up to and including the first that denies. */
export function nsgVerdicts(
  world: World,
  vm: Vm,
  direction: Direction,
  packet: Packet,
): readonly NsgVerdict[] {
  const view = tagView(world, vnetOf(world, vm), subnetOf(world, vm));
  const verdicts: NsgVerdict[] = [];
  for (const { nsg, attached } of attachedNsgs(world, vm, direction)) {
    const rule = decidingRule(nsg, direction, packet, view);
    verdicts.push({
      nsg: nsg.name,
      attached,
      direction,
      rule: rule.name,
      priority: rule.priority,
      isDefault: rule.priority >= 65000,
      access: rule.access,
    });
    if (rule.access === 'Deny') break;
  }
  return verdicts;
}
