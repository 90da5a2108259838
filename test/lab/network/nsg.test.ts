import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decidingRule,
  nsgVerdicts,
  type Packet,
  ruleMatches,
  tagView,
} from '../../../src/lab/network/nsg.ts';
import { findVm, subnetOf, vnetOf } from '../../../src/lab/network/places.ts';
import type { Nsg, NsgRule, World } from '../../../src/lab/world/types.ts';
import { pair, world } from '../small.ts';

const tcp = (source: string, destination: string, destinationPort: number): Packet => ({
  protocol: 'tcp',
  source,
  sourcePort: 50_000,
  destination,
  destinationPort,
});
const ping = (source: string, destination: string): Packet => ({
  protocol: 'icmp',
  source,
  sourcePort: null,
  destination,
  destinationPort: null,
});

const rule = (over: Partial<NsgRule>): NsgRule => ({
  name: 'r',
  priority: 100,
  direction: 'Inbound',
  access: 'Allow',
  protocol: '*',
  source: ['*'],
  source_port: ['*'],
  destination: ['*'],
  destination_port: ['*'],
  ...over,
});

const viewAt = (w: World, vm: string) => {
  const found = findVm(w, vm)!;
  return tagView(w, vnetOf(w, found), subnetOf(w, found));
};

describe('NSG rules', () => {
  const w = pair();
  const view = viewAt(w, 'server');

  it('[LAB-06] the lowest priority that matches decides, whatever the order in the file', () => {
    const rules = fc.uniqueArray(
      fc.record({
        priority: fc.integer({ min: 100, max: 4096 }),
        access: fc.constantFrom('Allow' as const, 'Deny' as const),
        destination_port: fc.constantFrom(['*'], ['8080'], ['80'], ['8000-9000']),
        source: fc.constantFrom(['*'], ['10.0.1.0/24'], ['10.9.0.0/16'], ['VirtualNetwork']),
      }),
      { selector: (r) => r.priority, maxLength: 12 },
    );
    fc.assert(
      fc.property(rules, (list) => {
        const nsg: Nsg = { name: 'n', group: 'rg', rules: list.map((r, i) => rule({ ...r, name: `r${i}` })) };
        const packet = tcp('10.0.1.4', '10.0.2.4', 8080);
        const decided = decidingRule(nsg, 'Inbound', packet, view);
        const matching = nsg.rules.filter((r) => ruleMatches(r, packet, view));
        if (matching.length === 0) expect(decided.name).toBe('AllowVnetInBound');
        else expect(decided.priority).toBe(Math.min(...matching.map((r) => r.priority)));
      }),
    );
  });

  it.each([
    ['VNet to VNet', tcp('10.0.1.4', '10.0.2.4', 80), 'Inbound', 'AllowVnetInBound'],
    ['internet in', tcp('8.8.8.8', '10.0.2.4', 80), 'Inbound', 'DenyAllInBound'],
    ['load balancer probe', tcp('168.63.129.16', '10.0.2.4', 80), 'Inbound', 'AllowVnetInBound'],
    ['internet out', tcp('10.0.2.4', '8.8.8.8', 443), 'Outbound', 'AllowInternetOutBound'],
    ['VNet out', tcp('10.0.2.4', '10.0.1.4', 443), 'Outbound', 'AllowVnetOutBound'],
  ] as const)('[LAB-06] default rules have their Azure names: %s', (_what, packet, direction, name) => {
    const nsg: Nsg = { name: 'n', group: 'rg', rules: [] };
    expect(decidingRule(nsg, direction, packet, view).name).toBe(name);
  });

  it('ports say nothing about ICMP unless the rule names it', () => {
    expect(ruleMatches(rule({ destination_port: ['80'] }), ping('10.0.1.4', '10.0.2.4'), view)).toBe(false);
    expect(
      ruleMatches(rule({ protocol: 'Icmp', destination_port: ['80'] }), ping('10.0.1.4', '10.0.2.4'), view),
    ).toBe(true);
    expect(ruleMatches(rule({ protocol: 'Tcp' }), ping('10.0.1.4', '10.0.2.4'), view)).toBe(false);
  });

  it('lists match when any of their members does', () => {
    const r = rule({ source: ['10.9.0.0/16', '10.0.1.0/24'], destination_port: ['111', '2040-2049'] });
    expect(ruleMatches(r, tcp('10.0.1.4', '10.0.2.4', 2049), view)).toBe(true);
    expect(ruleMatches(r, tcp('10.0.1.4', '10.0.2.4', 2050), view)).toBe(false);
    expect(ruleMatches(r, tcp('10.8.0.4', '10.0.2.4', 111), view)).toBe(false);
  });
});

describe('service tags', () => {
  const w = world(`
vnets:
  - name: a
    group: rg
    prefixes: [10.0.0.0/16]
    subnets: [{ name: s, prefix: 10.0.1.0/24, route_table: t }]
    peerings: [{ name: to-b, remote: b, state: Connected }, { name: to-c, remote: c, state: Connected }]
    bgp_routes: [{ prefix: 192.168.7.0/24, next_hop: 10.0.9.4 }]
  - { name: b, group: rg, prefixes: [10.1.0.0/16], peerings: [{ name: to-a, remote: a, state: Connected }] }
  - { name: c, group: rg, prefixes: [10.2.0.0/16], peerings: [{ name: to-a, remote: a, state: Disconnected }] }
route_tables: [{ name: t, group: rg, routes: [{ name: r, prefix: 172.20.0.0/16, next_hop_type: None }] }]
vms: [{ name: x, group: rg, subnet: a/s, ip: 10.0.1.4 }]
storage: [{ name: acct, group: rg }]`);
  const view = viewAt(w, 'x');
  const inside = (tag: string, ip: string) =>
    ruleMatches(rule({ source: [tag] }), tcp(ip, '10.0.1.4', 80), view);

  it.each([
    ['own space', '10.0.200.1', true],
    ['connected peer', '10.1.0.9', true],
    ['disconnected peer', '10.2.0.9', false],
    ['prefix of a user route', '172.20.3.3', true],
    ['prefix learnt by BGP', '192.168.7.1', true],
    ['the rest', '192.168.8.1', false],
    ['public address', '8.8.8.8', false],
  ])('[LAB-07] VirtualNetwork and Internet share the world between them: %s', (_what, ip, belongs) => {
    expect(inside('VirtualNetwork', ip)).toBe(belongs);
    expect(inside('Internet', ip)).toBe(!belongs);
    expect(inside('virtualnetwork', ip)).toBe(belongs);
  });

  it('[LAB-07] Storage covers accounts, with the right region only', () => {
    const ip = '20.150.0.0';
    const region = (tag: string, address: string) => inside(tag, address);
    expect(region('Storage', '20.150.3.4')).toBe(true);
    expect(region('Sql', ip)).toBe(false);
    expect(region('AzureLoadBalancer', '168.63.129.16')).toBe(true);
  });
});

describe('two NSGs', () => {
  const rules = (access: string) =>
    `[{ name: r, priority: 100, direction: Inbound, access: ${access}, destination_port: "8080" }, { name: o, priority: 100, direction: Outbound, access: ${access} }]`;
  const w = pair(
    `nsgs: [{ name: sub, group: rg, rules: ${rules('Allow')} }, { name: nic, group: rg, rules: ${rules('Deny')} }]`,
    {
      data: 'nsg: sub',
      server: 'nic_nsg: nic',
    },
  );
  const server = findVm(w, 'server')!;

  it('[LAB-06] inbound meets the subnet first, outbound the NIC; the first denial ends it', () => {
    const inbound = nsgVerdicts(w, server, 'Inbound', tcp('10.0.1.4', '10.0.2.4', 8080));
    expect(inbound.map((v) => [v.nsg, v.attached, v.access])).toEqual([
      ['sub', 'subnet', 'Allow'],
      ['nic', 'nic', 'Deny'],
    ]);
    const outbound = nsgVerdicts(w, server, 'Outbound', tcp('10.0.2.4', '10.0.1.4', 80));
    expect(outbound.map((v) => [v.nsg, v.access])).toEqual([['nic', 'Deny']]);
  });
});
