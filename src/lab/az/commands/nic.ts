import type { Json, JsonObject } from '../../../core/index.ts';
import { formatPrefix } from '../../network/ipv4.ts';
import { attachedNsgs, rulesInOrder, virtualNetworkPrefixes } from '../../network/nsg.ts';
import { subnetOf, vnetOf } from '../../network/places.ts';
import { effectiveRoutes } from '../../network/routes.ts';
import { tagPrefixes } from '../../network/service-tags.ts';
import type { EffectiveRoute } from '../../network/types.ts';
import type { NsgRule, Vm, World } from '../../world/types.ts';
import { type Call, type Commands, commit, findIn, needGroup, optionalGroup } from '../call.ts';
import { armError, childNotFound, resourceNotFound } from '../errors.ts';
import { genericSettings } from '../generic-update.ts';
import { resourceId } from '../ids.ts';
import { object, TYPES } from '../shapes/common.ts';
import { ipConfigShape, nicId, nicShape, publicIpName, publicIpShape, subnetId } from '../shapes/network.ts';
import { nsgByNameOrId } from './nsg.ts';

function needNic(call: Call, argument = '--name'): Vm {
  const group = needGroup(call.world, call.args.need('--resource-group'));
  const name = call.args.need(argument);
  const vm = findIn(call.world.vms, group, name, (v) => v.nic);
  if (!vm) throw resourceNotFound(TYPES.nic, name, group);
  return vm;
}

/** Effective state exists only where the fabric has programmed it. */
function needRunning(vm: Vm): void {
  if (vm.power === 'running') return;
  throw armError(
    'NicMustBeAttachedToRunningVm',
    `Network interface ${nicId(vm)} must be attached to a running virtual machine to get its effective state. The VM is ${vm.power}.`,
  );
}

function effectiveNsgs(call: Call): JsonObject {
  const vm = needNic(call);
  needRunning(vm);
  const { world } = call;
  const vnet = vnetOf(world, vm);
  const attached = attachedNsgs(world, vm, 'Inbound');
  return {
    value: attached.map(({ nsg, attached: where }) => ({
      association:
        where === 'nic'
          ? { networkInterface: { id: nicId(vm) } }
          : { subnet: { id: subnetId(vnet, subnetOf(world, vm)) } },
      effectiveSecurityRules: [...rulesInOrder(nsg, 'Inbound'), ...rulesInOrder(nsg, 'Outbound')].map((r) =>
        effectiveRule(world, vm, r),
      ),
      networkSecurityGroup: { id: resourceId(nsg.group, TYPES.nsg, nsg.name) },
    })),
  };
}

function effectiveRule(world: World, vm: Vm, rule: NsgRule): JsonObject {
  const ports = (texts: readonly string[]) =>
    texts.map((t) => (t === '*' ? '0-65535' : t.includes('-') ? t : `${t}-${t}`));
  const addresses = (texts: readonly string[]) => texts.map((t) => (t === '*' ? '0.0.0.0/0' : t));
  const destinationPorts = ports(rule.destination_port);
  const sourcePorts = ports(rule.source_port);
  const sources = addresses(rule.source);
  const destinations = addresses(rule.destination);
  return object({
    access: rule.access,
    destinationAddressPrefix: destinations[0]!,
    destinationAddressPrefixes: destinations,
    destinationPortRange: destinationPorts[0]!,
    destinationPortRanges: destinationPorts,
    direction: rule.direction,
    expandedDestinationAddressPrefix: expanded(world, vm, rule.destination),
    expandedSourceAddressPrefix: expanded(world, vm, rule.source),
    name: `${rule.priority >= 65000 ? 'defaultSecurityRules' : 'securityRules'}/${rule.name}`,
    priority: rule.priority,
    protocol: rule.protocol === '*' ? 'All' : rule.protocol,
    sourceAddressPrefix: sources[0]!,
    sourceAddressPrefixes: sources,
    sourcePortRange: sourcePorts[0]!,
    sourcePortRanges: sourcePorts,
  });
}

/** What the tags of a rule stand for at this NIC; nothing for plain addresses. */
function expanded(world: World, vm: Vm, texts: readonly string[]): Json | undefined {
  const prefixes = texts.flatMap((text) => {
    if (/^virtualnetwork$/i.test(text))
      return virtualNetworkPrefixes(world, vnetOf(world, vm), subnetOf(world, vm));
    return /^[\d*]/.test(text) ? [] : (tagPrefixes(text) ?? []).map(formatPrefix);
  });
  return prefixes.length === 0 ? undefined : prefixes;
}

function routeEntry(route: EffectiveRoute): JsonObject {
  return object({
    addressPrefix: [route.prefix],
    disableBgpRoutePropagation: false,
    name: route.name ?? undefined,
    nextHopIpAddress: route.nextHopIp === null ? [] : [route.nextHopIp],
    nextHopType: route.nextHopType,
    source: route.source,
    state: route.state,
  });
}

async function updateNic(call: Call): Promise<JsonObject> {
  const vm = needNic(call);
  const at = `/vms/${call.world.vms.indexOf(vm)}`;
  const set = genericSettings(call.args);
  const forwarding =
    call.args.flag('--ip-forwarding') ??
    asBoolean(set.get('enableIPForwarding') ?? set.get('enableIpForwarding'));
  const nsg =
    call.args.text('--network-security-group') ??
    set.get('networkSecurityGroup') ??
    set.get('networkSecurityGroup.id');
  const patch = [
    ...(forwarding === undefined
      ? []
      : [{ op: 'replace' as const, path: `${at}/ip_forwarding`, value: forwarding }]),
    ...(nsg === undefined
      ? []
      : [{ op: 'replace' as const, path: `${at}/nic_nsg`, value: nsgByNameOrId(call, vm.group, nsg) }]),
  ];
  const world = await commit(call, patch, {
    operation: 'Microsoft.Network/networkInterfaces/write',
    resource: nicId(vm),
    group: vm.group,
  });
  return nicShape(world, world.vms[call.world.vms.indexOf(vm)]!);
}

function asBoolean(text: string | undefined): boolean | undefined {
  return text === undefined ? undefined : /^true$/i.test(text);
}

export const nicCommands: Commands = {
  'network nic list': {
    run: (call) => {
      const group = optionalGroup(call);
      return call.world.vms
        .filter((v) => group === undefined || v.group === group)
        .map((v) => nicShape(call.world, v));
    },
  },
  'network nic show': { run: (call) => nicShape(call.world, needNic(call)) },
  'network nic update': { writes: true, run: updateNic },
  'network nic list-effective-nsg': {
    run: effectiveNsgs,
    table: (result) => effectiveNsgRows((result as { value: readonly JsonObject[] }).value),
  },
  'network nic show-effective-route-table': {
    run: (call) => {
      const vm = needNic(call);
      needRunning(vm);
      return { value: effectiveRoutes(call.world, vm).map(routeEntry) };
    },
    table: (result) =>
      (result as { value: readonly Record<string, string & readonly string[]>[] }).value.map((r) => ({
        Source: r.source!,
        State: r.state!,
        'Address Prefix': r.addressPrefix!.join(' '),
        'Next Hop Type': r.nextHopType!,
        'Next Hop IP': r.nextHopIpAddress!.join(' '),
      })),
  },
  'network nic ip-config list': { run: (call) => [ipConfigShape(call.world, needNic(call, '--nic-name'))] },
  'network nic ip-config show': {
    run: (call) => {
      const vm = needNic(call, '--nic-name');
      const name = call.args.need('--name');
      if (name.toLowerCase() === 'ipconfig1') return ipConfigShape(call.world, vm);
      throw childNotFound(resourceId(vm.group, TYPES.ipConfig, vm.nic, name));
    },
  },
  'network public-ip list': {
    run: (call) => {
      const group = optionalGroup(call);
      return call.world.vms
        .filter((v) => v.public_ip !== null && (group === undefined || v.group === group))
        .map((v) => publicIpShape(call.world, v));
    },
  },
  'network public-ip show': {
    run: (call) => {
      const group = needGroup(call.world, call.args.need('--resource-group'));
      const name = call.args.need('--name');
      const vm = findIn(call.world.vms, group, name, publicIpName);
      if (!vm || vm.public_ip === null) throw resourceNotFound(TYPES.publicIp, name, group);
      return publicIpShape(call.world, vm);
    },
  },
};

function effectiveNsgRows(value: readonly JsonObject[]): Json {
  return value.flatMap((item) => {
    const { association, networkSecurityGroup, effectiveSecurityRules } = item as unknown as {
      association: { networkInterface?: { id: string }; subnet?: { id: string } };
      networkSecurityGroup: { id: string };
      effectiveSecurityRules: readonly {
        name: string;
        protocol: string;
        direction: string;
        access: string;
      }[];
    };
    const last = (id: string | undefined) => id?.split('/').at(-1) ?? '-';
    return effectiveSecurityRules.map((rule, i) => ({
      NIC: i === 0 ? last(association.networkInterface?.id) : ' ',
      Subnet: i === 0 ? last(association.subnet?.id) : ' ',
      NSG: i === 0 ? last(networkSecurityGroup.id) : ' ',
      'Rule Name': rule.name,
      Protocol: rule.protocol,
      Direction: rule.direction,
      Access: rule.access,
    }));
  });
}
