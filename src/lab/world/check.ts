/**
 * What the parts of a world say about each other: a world that contradicts itself is refused.
 *
 * C1 Every name that is used exists; names of one kind are used once.
 * C2 Subnets lie inside their VNet and do not overlap; peered VNets do not overlap.
 * C3 An address lies in its subnet and is used once in its VNet and the VNets peered with it.
 * C4 In an NSG no priority is used twice in one direction, and no rule name twice.
 */
import { contains, covers, overlaps, parseIp, parsePrefix } from '../network/ipv4.ts';
import type { World } from './types.ts';

export interface Contradiction {
  /** Where in the document. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** What to write instead. */
  readonly suggestion: string;
}

type Path = readonly (string | number)[];
type Report = (path: Path, message: string, suggestion: string) => void;

/** Every contradiction, in the order of the file. */
export function contradictions(world: World): readonly Contradiction[] {
  const found: Contradiction[] = [];
  const report: Report = (path, message, suggestion) => found.push({ path, message, suggestion });
  names(world, report);
  vnets(world, report);
  peerings(world, report);
  nsgs(world, report);
  routes(world, report);
  vms(world, report);
  services(world, report);
  flows(world, report);
  return found;
}

const GROUPED = ['vnets', 'nsgs', 'route_tables', 'vms', 'private_dns', 'public_dns', 'storage'] as const;

function names(world: World, report: Report): void {
  const groups = world.groups.map((g) => g.name);
  unique(groups, (i) => ['groups', i, 'name'], 'resource group', report);
  for (const kind of GROUPED) {
    const items = world[kind];
    const key = kind === 'private_dns' || kind === 'public_dns' ? 'zone' : 'name';
    const own = items.map((item) => ('zone' in item ? item.zone : item.name));
    unique(own, (i) => [kind, i, key], kind, report);
    items.forEach((item, i) => {
      known(item.group, groups, [kind, i, 'group'], 'resource group', report);
    });
  }
  unique(
    world.vms.map((v) => v.nic),
    (i) => ['vms', i, 'nic'],
    'NIC',
    report,
  );
}

function vnets(world: World, report: Report): void {
  const nsgNames = world.nsgs.map((n) => n.name);
  const tables = world.route_tables.map((t) => t.name);
  world.vnets.forEach((vnet, i) => {
    unique(
      vnet.subnets.map((s) => s.name),
      (j) => ['vnets', i, 'subnets', j, 'name'],
      'subnet',
      report,
    );
    const spaces = vnet.prefixes.map((p) => parsePrefix(p)!);
    spaces.forEach((space, j) => {
      const other = spaces.findIndex((s, k) => k < j && overlaps(s, space));
      if (other >= 0)
        report(
          ['vnets', i, 'prefixes', j],
          `${vnet.prefixes[j]} overlaps ${vnet.prefixes[other]}`,
          'remove one of them',
        );
    });
    vnet.subnets.forEach((subnet, j) => {
      const at = ['vnets', i, 'subnets', j] as const;
      const prefix = parsePrefix(subnet.prefix)!;
      if (!spaces.some((space) => covers(space, prefix)))
        report(
          [...at, 'prefix'],
          `subnet ${subnet.name} (${subnet.prefix}) lies outside ${vnet.name} (${vnet.prefixes.join(', ')})`,
          `write a prefix inside ${vnet.prefixes[0]}`,
        );
      const other = vnet.subnets.slice(0, j).find((s) => overlaps(parsePrefix(s.prefix)!, prefix));
      if (other)
        report(
          [...at, 'prefix'],
          `subnet ${subnet.name} (${subnet.prefix}) overlaps subnet ${other.name} (${other.prefix})`,
          'give each subnet a range of its own',
        );
      if (subnet.nsg !== null) known(subnet.nsg, nsgNames, [...at, 'nsg'], 'NSG', report);
      if (subnet.route_table !== null)
        known(subnet.route_table, tables, [...at, 'route_table'], 'route table', report);
    });
  });
}

function peerings(world: World, report: Report): void {
  const vnetNames = world.vnets.map((v) => v.name);
  world.vnets.forEach((vnet, i) => {
    unique(
      vnet.peerings.map((p) => p.name),
      (j) => ['vnets', i, 'peerings', j, 'name'],
      'peering',
      report,
    );
    vnet.peerings.forEach((peering, j) => {
      const at = ['vnets', i, 'peerings', j, 'remote'] as const;
      if (!known(peering.remote, vnetNames, at, 'VNet', report)) return;
      if (peering.remote === vnet.name)
        report(at, `${vnet.name} is peered with itself`, 'name the other VNet');
      if (vnet.peerings.findIndex((p) => p.remote === peering.remote) < j)
        report(at, `${vnet.name} has two peerings with ${peering.remote}`, 'keep one');
      const remote = world.vnets.find((v) => v.name === peering.remote)!;
      if (remote === vnet) return;
      const clash = vnet.prefixes.find((a) =>
        remote.prefixes.some((b) => overlaps(parsePrefix(a)!, parsePrefix(b)!)),
      );
      if (clash !== undefined)
        report(
          at,
          `peered VNets ${vnet.name} and ${remote.name} overlap (${clash})`,
          'give them ranges of their own',
        );
    });
  });
}

function nsgs(world: World, report: Report): void {
  world.nsgs.forEach((nsg, i) => {
    unique(
      nsg.rules.map((r) => r.name),
      (j) => ['nsgs', i, 'rules', j, 'name'],
      'rule',
      report,
    );
    nsg.rules.forEach((rule, j) => {
      const other = nsg.rules
        .slice(0, j)
        .find((r) => r.priority === rule.priority && r.direction === rule.direction);
      if (other)
        report(
          ['nsgs', i, 'rules', j, 'priority'],
          `rules ${other.name} and ${rule.name} of ${nsg.name} both have priority ${rule.priority} ${rule.direction}`,
          'give each rule of a direction a priority of its own',
        );
    });
  });
}

function routes(world: World, report: Report): void {
  world.route_tables.forEach((table, i) => {
    unique(
      table.routes.map((r) => r.name),
      (j) => ['route_tables', i, 'routes', j, 'name'],
      'route',
      report,
    );
    table.routes.forEach((route, j) => {
      const at = ['route_tables', i, 'routes', j] as const;
      const appliance = route.next_hop_type === 'VirtualAppliance';
      if (appliance && route.next_hop_ip === null)
        report(at, `route ${route.name} goes to an appliance without an address`, 'add next_hop_ip');
      if (!appliance && route.next_hop_ip !== null)
        report(
          [...at, 'next_hop_ip'],
          `route ${route.name} has next_hop_ip with next hop ${route.next_hop_type}`,
          'remove next_hop_ip, or write next_hop_type: VirtualAppliance',
        );
      const twin = table.routes.slice(0, j).find((r) => r.prefix === route.prefix);
      if (twin)
        report(
          [...at, 'prefix'],
          `routes ${twin.name} and ${route.name} have the same prefix ${route.prefix}`,
          'keep one',
        );
    });
  });
}

function vms(world: World, report: Report): void {
  const nsgNames = world.nsgs.map((n) => n.name);
  const publics: string[] = [];
  world.vms.forEach((vm, i) => {
    if (vm.nic_nsg !== null) known(vm.nic_nsg, nsgNames, ['vms', i, 'nic_nsg'], 'NSG', report);
    if (vm.public_ip !== null) {
      if (publics.includes(vm.public_ip))
        report(
          ['vms', i, 'public_ip'],
          `${vm.public_ip} is used twice`,
          'give each VM an address of its own',
        );
      publics.push(vm.public_ip);
    }
    const subnet = knownSubnet(world, vm.subnet, ['vms', i, 'subnet'], report);
    if (!subnet) return;
    const ip = parseIp(vm.ip)!;
    const prefix = parsePrefix(subnet.prefix)!;
    if (!contains(prefix, ip))
      report(
        ['vms', i, 'ip'],
        `${vm.name} has ${vm.ip}, which is outside its subnet ${vm.subnet} (${subnet.prefix})`,
        `write an address inside ${subnet.prefix}`,
      );
    const vnet = vm.subnet.split('/')[0]!;
    const other = world.vms.slice(0, i).find((v) => v.ip === vm.ip && v.subnet.split('/')[0] === vnet);
    if (other)
      report(
        ['vms', i, 'ip'],
        `${vm.name} and ${other.name} both have ${vm.ip}`,
        'give each VM an address of its own',
      );
    const socket = vm.listens.findIndex((l, j) =>
      vm.listens.slice(0, j).some((m) => m.port === l.port && m.protocol === l.protocol && m.bind === l.bind),
    );
    if (socket >= 0)
      report(
        ['vms', i, 'listens', socket],
        `${vm.name} listens twice on port ${vm.listens[socket]!.port}`,
        'remove one',
      );
    vm.listens.forEach((l, j) => {
      if (l.bind !== '0.0.0.0' && l.bind !== vm.ip && !l.bind.startsWith('127.'))
        report(
          ['vms', i, 'listens', j, 'bind'],
          `${vm.name} cannot bind ${l.bind}: its addresses are ${vm.ip} and 127.0.0.1`,
          `write bind: ${vm.ip} or leave it out`,
        );
    });
    vm.os_firewall.forEach((rule, j) => {
      if (rule.port !== null && rule.protocol !== 'tcp' && rule.protocol !== 'udp' && rule.protocol !== 'all')
        report(['vms', i, 'os_firewall', j, 'port'], `${rule.protocol} has no ports`, 'remove port');
    });
  });
}

function services(world: World, report: Report): void {
  const vnetNames = world.vnets.map((v) => v.name);
  world.private_dns.forEach((zone, i) => {
    unique(zone.links, (j) => ['private_dns', i, 'links', j], 'link', report);
    zone.links.forEach((link, j) => {
      known(link, vnetNames, ['private_dns', i, 'links', j], 'VNet', report);
    });
  });
  for (const kind of ['private_dns', 'public_dns'] as const)
    world[kind].forEach((zone, i) => {
      zone.records.forEach((record, j) => {
        const at = [kind, i, 'records', j] as const;
        const bad = record.type === 'A' ? record.value.find((v) => parseIp(v) === undefined) : undefined;
        if (bad !== undefined)
          report([...at, 'value'], `A record ${record.name} holds "${bad}"`, 'write an IPv4 address');
        const clash = zone.records
          .slice(0, j)
          .find((r) => r.name === record.name && (r.type === 'CNAME') !== (record.type === 'CNAME'));
        if (clash)
          report(
            at,
            `${record.name} is a ${clash.type} and a ${record.type}`,
            'a CNAME stands alone: keep one',
          );
      });
    });
  world.storage.forEach((account, i) => {
    unique(account.containers, (j) => ['storage', i, 'containers', j], 'container', report);
    account.subnet_rules.forEach((rule, j) => {
      knownSubnet(world, rule, ['storage', i, 'subnet_rules', j], report);
    });
  });
  unique(world.watchers, (i) => ['watchers', i], 'watcher', report);
}

function flows(world: World, report: Report): void {
  const vmNames = world.vms.map((v) => v.name);
  world.flows.forEach((flow, i) => {
    known(flow.from, vmNames, ['flows', i, 'from'], 'VM', report);
    if (flow.protocol !== 'icmp' && flow.port === null)
      report(['flows', i], `a ${flow.protocol} flow needs a port`, 'add port, or write protocol: icmp');
    if (flow.to === flow.from)
      report(['flows', i, 'to'], `${flow.from} talks to itself`, 'name another destination');
  });
}

function knownSubnet(world: World, ref: string, path: Path, report: Report) {
  const [vnetName, subnetName] = ref.split('/') as [string, string];
  const vnet = world.vnets.find((v) => v.name === vnetName);
  if (!vnet) {
    known(
      vnetName,
      world.vnets.map((v) => v.name),
      path,
      'VNet',
      report,
    );
    return undefined;
  }
  known(
    subnetName,
    vnet.subnets.map((s) => s.name),
    path,
    `subnet of ${vnetName}`,
    report,
  );
  return vnet.subnets.find((s) => s.name === subnetName);
}

function known(name: string, all: readonly string[], path: Path, what: string, report: Report): boolean {
  if (all.includes(name)) return true;
  const names =
    all.length === 0
      ? 'there is none'
      : `there is ${all.slice(0, 8).join(', ')}${all.length > 8 ? ' …' : ''}`;
  report(path, `there is no ${what} named ${name}`, `write the name of a ${what} of this world (${names})`);
  return false;
}

function unique(names: readonly string[], path: (i: number) => Path, what: string, report: Report): void {
  const seen = new Set<string>();
  names.forEach((name, i) => {
    // Azure compares names without case.
    const key = name.toLowerCase();
    if (seen.has(key)) report(path(i), `${what}: the name ${name} is used twice`, 'give each its own name');
    seen.add(key);
  });
}
