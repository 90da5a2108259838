import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WritError } from '../../../src/core/index.ts';
import { complete } from '../../../src/lab/world/complete.ts';
import { parseWorld } from '../../../src/lab/world/load.ts';
import { remarks } from '../../../src/lab/world/remarks.ts';
import { pair, world } from '../small.ts';

const HEAD = 'id: w\nnow: 2026-01-15T14:30:00Z\ngroups: [{ name: rg, location: westeurope }]\n';

/** The form of the design page, every key spelt out. */
const PAGE = `
id: redis-behind-dead-nva
title: Route to the cache subnet points at a decommissioned appliance
symptom: VMs in prod-subnet cannot reach the Redis cache on port 6379
now: 2026-01-15T14:30:00Z
groups: [{ name: prod-rg, location: westeurope }]
vnets:
  - name: prod-vnet
    group: prod-rg
    prefixes: [10.0.0.0/16]
    subnets:
      - { name: prod-subnet, prefix: 10.0.1.0/24, nsg: prod-nsg, route_table: prod-rt, service_endpoints: [] }
      - { name: cache-subnet, prefix: 10.0.2.0/24 }
    peerings: []
nsgs:
  - { name: prod-nsg, group: prod-rg, rules: [ { name: allow-redis, priority: 200, direction: Outbound, access: Allow, protocol: Tcp, source: "*", source_port: "*", destination: 10.0.2.0/24, destination_port: "6379" } ] }
route_tables:
  - { name: prod-rt, group: prod-rg, routes: [ { name: to-cache, prefix: 10.0.2.0/24, next_hop_type: VirtualAppliance, next_hop_ip: 10.0.1.5 } ] }
vms:
  - name: web-vm-01
    group: prod-rg
    subnet: prod-vnet/prod-subnet
    ip: 10.0.1.4
    nic_nsg: null
    power: running
    ip_forwarding: false
    listens: [ { port: 22, protocol: tcp } ]
    os_firewall: []
    link: { loss_pct: 0, delay_ms: 0, jitter_ms: 0, rate_mbit: null, mtu: 1500, reorder_pct: 0, corrupt_pct: 0 }
    app: { reads_slowly: false, resets_pct: 0 }
private_dns: [ { zone: corp.internal, group: prod-rg, links: [prod-vnet], records: [ { name: redis, type: A, value: 10.0.2.5 } ] } ]
storage: [ { name: forensicsa, group: prod-rg, containers: [captures], default_action: Allow, subnet_rules: [], keys: true } ]
watchers: [westeurope]
local: { vpn: false, dns: [8.8.8.8] }
flows:
  - { from: web-vm-01, to: redis-primary, port: 6379, protocol: tcp, every_ms: 500, bytes: 2000 }
faults_over_time: []
truth:
  causes: [ { kind: route_wrong_next_hop, resource: prod-rt, detail: to-cache } ]
  red_herrings: [prod-nsg]
`;

/** What is wrong, on which line, in which words. */
const BAD: readonly (readonly [name: string, yaml: string, line: number, words: RegExp])[] = [
  ['unknown key', `${HEAD}vmz: []\n`, 4, /unknown key "vmz"/],
  [
    'unknown key deep down',
    `${HEAD}vnets:\n  - { name: v, group: rg, prefixes: [10.0.0.0/16], colour: red }\n`,
    5,
    /unknown key "colour"/,
  ],
  ['wrong type', `${HEAD}vms: 7\n`, 4, /write a list/],
  ['no groups', 'id: w\nnow: 2026-01-15T14:30:00Z\ngroups: []\n', 3, /at least one resource group/],
  ['bad time', 'id: w\nnow: yesterday\ngroups: [{ name: rg, location: w }]\n', 2, /write a time/],
  [
    'unknown group',
    `${HEAD}nsgs: [{ name: n, group: nowhere, rules: [] }]\n`,
    4,
    /no resource group named nowhere/,
  ],
  [
    'overlapping subnets',
    `${HEAD}vnets:\n  - name: v\n    group: rg\n    prefixes: [10.0.0.0/16]\n    subnets:\n      - { name: a, prefix: 10.0.0.0/23 }\n      - { name: b, prefix: 10.0.1.0/24 }\n`,
    10,
    /subnet b .* overlaps subnet a/,
  ],
  [
    'subnet outside its VNet',
    `${HEAD}vnets:\n  - name: v\n    group: rg\n    prefixes: [10.0.0.0/16]\n    subnets:\n      - { name: a, prefix: 10.1.0.0/24 }\n`,
    9,
    /lies outside v/,
  ],
  [
    'misaligned prefix',
    `${HEAD}vnets: [{ name: v, group: rg, prefixes: [10.0.0.1/16] }]\n`,
    4,
    /bits set beyond its length/,
  ],
  [
    'unknown NSG',
    `${HEAD}vnets:\n  - name: v\n    group: rg\n    prefixes: [10.0.0.0/16]\n    subnets:\n      - { name: a, prefix: 10.0.0.0/24, nsg: ghost }\n`,
    9,
    /no NSG named ghost/,
  ],
  [
    'unknown subnet',
    `${HEAD}vnets: [{ name: v, group: rg, prefixes: [10.0.0.0/16] }]\nvms: [{ name: a, group: rg, subnet: v/x, ip: 10.0.0.4 }]\n`,
    5,
    /no subnet of v named x/,
  ],
  [
    'address outside its subnet',
    `${HEAD}vnets: [{ name: v, group: rg, prefixes: [10.0.0.0/16], subnets: [{ name: a, prefix: 10.0.1.0/24 }] }]\nvms:\n  - { name: x, group: rg, subnet: v/a, ip: 10.0.2.4 }\n`,
    6,
    /outside its subnet v\/a/,
  ],
  [
    'address used twice',
    `${HEAD}vnets: [{ name: v, group: rg, prefixes: [10.0.0.0/16], subnets: [{ name: a, prefix: 10.0.1.0/24 }] }]\nvms:\n  - { name: x, group: rg, subnet: v/a, ip: 10.0.1.4 }\n  - { name: y, group: rg, subnet: v/a, ip: 10.0.1.4 }\n`,
    7,
    /both have 10.0.1.4/,
  ],
  [
    'name used twice',
    `${HEAD}nsgs:\n  - { name: n, group: rg }\n  - { name: N, group: rg }\n`,
    6,
    /used twice/,
  ],
  [
    'duplicate priorities',
    `${HEAD}nsgs:\n  - name: n\n    group: rg\n    rules:\n      - { name: a, priority: 200, direction: Inbound, access: Allow }\n      - { name: b, priority: 200, direction: Inbound, access: Deny }\n`,
    9,
    /both have priority 200 Inbound/,
  ],
  [
    'priority out of range',
    `${HEAD}nsgs:\n  - { name: n, group: rg, rules: [{ name: a, priority: 99, direction: Inbound, access: Allow }] }\n`,
    5,
    /priorities go from 100 to 4096/,
  ],
  [
    'service tag misspelt',
    `${HEAD}nsgs:\n  - { name: n, group: rg, rules: [{ name: a, priority: 100, direction: Inbound, access: Allow, source: VirtualNetwrok }] }\n`,
    5,
    /"VirtualNetwrok" is no address/,
  ],
  [
    'port out of range',
    `${HEAD}nsgs:\n  - { name: n, group: rg, rules: [{ name: a, priority: 100, direction: Inbound, access: Allow, destination_port: 70000 }] }\n`,
    5,
    /"70000" is no port/,
  ],
  [
    'appliance without address',
    `${HEAD}route_tables:\n  - { name: t, group: rg, routes: [{ name: r, prefix: 0.0.0.0/0, next_hop_type: VirtualAppliance }] }\n`,
    5,
    /without an address/,
  ],
  [
    'address without appliance',
    `${HEAD}route_tables:\n  - { name: t, group: rg, routes: [{ name: r, prefix: 0.0.0.0/0, next_hop_type: None, next_hop_ip: 10.0.0.4 }] }\n`,
    5,
    /next_hop_ip with next hop None/,
  ],
  [
    'peering with nobody',
    `${HEAD}vnets:\n  - { name: v, group: rg, prefixes: [10.0.0.0/16], peerings: [{ name: p, remote: w }] }\n`,
    5,
    /no VNet named w/,
  ],
  [
    'peered VNets overlap',
    `${HEAD}vnets:\n  - { name: v, group: rg, prefixes: [10.0.0.0/16], peerings: [{ name: p, remote: w }] }\n  - { name: w, group: rg, prefixes: [10.0.0.0/24], peerings: [] }\n`,
    5,
    /overlap/,
  ],
  [
    'zone linked to nobody',
    `${HEAD}private_dns: [{ zone: a.b, group: rg, links: [v] }]\n`,
    4,
    /no VNet named v/,
  ],
  [
    'A record without address',
    `${HEAD}private_dns: [{ zone: a.b, group: rg, records: [{ name: x, type: A, value: y }] }]\n`,
    4,
    /holds "y"/,
  ],
  [
    'storage rule for no subnet',
    `${HEAD}storage: [{ name: abc, group: rg, subnet_rules: [v/s] }]\n`,
    4,
    /no VNet named v/,
  ],
  ['flow from nobody', `${HEAD}flows: [{ from: a, to: b, port: 80 }]\n`, 4, /no VM named a/],
  [
    'patch that does not apply',
    `${HEAD}faults_over_time:\n  - { at_s: 5, patch: [{ op: replace, path: /vms/3/power, value: stopped }] }\n`,
    5,
    /does not apply/,
  ],
  [
    'patch that breaks the world',
    `${HEAD}nsgs: [{ name: n, group: rg }]\nfaults_over_time:\n  - { at_s: 5, patch: [{ op: replace, path: /nsgs/0/group, value: nowhere }] }\n`,
    6,
    /after the patch .*no resource group/,
  ],
  [
    'patch with a bad operation',
    `${HEAD}faults_over_time: [{ at_s: 5, patch: [{ op: paint, path: /id }] }]\n`,
    4,
    /write op/,
  ],
  ['YAML itself', 'id: [\n', 2, /./],
  [
    'listener on a foreign address',
    `${HEAD}vnets: [{ name: v, group: rg, prefixes: [10.0.0.0/16], subnets: [{ name: a, prefix: 10.0.1.0/24 }] }]\nvms:\n  - { name: x, group: rg, subnet: v/a, ip: 10.0.1.4, listens: [{ port: 1, bind: 10.9.9.9 }] }\n`,
    6,
    /cannot bind/,
  ],
];

describe('reading a world', () => {
  it.each(BAD)('[LAB-02] [LAB-03] refuses: %s', (_name, yaml, line, words) => {
    let caught: unknown;
    try {
      parseWorld(yaml, 'w.yaml');
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(WritError);
    const error = caught as WritError;
    expect(error.message).toMatch(words);
    expect(error.message).toMatch(new RegExp(`^w\\.yaml:${line}:\\d+: `));
    expect(error.suggestion).toBeTruthy();
    expect(error.exit).toBe(2);
  });

  it('[LAB-01] fills in every default', () => {
    const { vms, local, watchers, storage } = pair('storage: [{ name: acct, group: rg }]');
    expect(vms[0]).toMatchObject({
      nic: 'client-nic',
      os: 'linux',
      power: 'running',
      public_ip: null,
      os_policy: { INPUT: 'ACCEPT', OUTPUT: 'ACCEPT', FORWARD: 'ACCEPT' },
      link: { mtu: 1500, icmp_frag_needed: false, rate_mbit: null },
    });
    expect(vms[1]!.listens[0]).toMatchObject({ protocol: 'tcp', bind: '0.0.0.0' });
    expect(local).toEqual({ vpn: false, dns: ['8.8.8.8'], address: '172.31.255.10' });
    expect(watchers).toEqual(['westeurope']);
    expect(storage[0]).toMatchObject({ default_action: 'Allow', keys: true, containers: [] });
  });

  it('[LAB-01] reads the optional fields', () => {
    const w = world(`
vnets: [{ name: v, group: rg, prefixes: [10.0.0.0/16], subnets: [{ name: a, prefix: 10.0.1.0/24 }], bgp_routes: [{ prefix: 192.168.0.0/16, next_hop: 10.0.9.4 }] }]
vms:
  - name: x
    group: rg
    subnet: v/a
    ip: 10.0.1.4
    public_ip: 20.1.2.3
    os: windows
    os_policy: { INPUT: drop }
    os_firewall: [{ chain: INPUT, port: [80, "8000-8100"], source: "*", action: accept }, { chain: OUTPUT, protocol: icmp, action: DROP }]
    link: { mtu: 1400, icmp_frag_needed: true }
    listens: [{ port: 53, protocol: udp, bind: 127.0.0.1 }]
activity: [{ time: 2026-01-15T10:00:00+01:00, caller: ann, operation: op, resource: x, status: Failed }]
local: { vpn: true, dns: [10.0.0.10], address: 172.31.1.1 }
flows: [{ from: x, to: db.example.org, protocol: icmp }]`);
    expect(w.vms[0]).toMatchObject({
      os: 'windows',
      os_policy: { INPUT: 'DROP' },
      os_firewall: [
        { chain: 'INPUT', protocol: 'all', port: ['80', '8000-8100'], source: null, action: 'ACCEPT' },
        { chain: 'OUTPUT', protocol: 'icmp', port: null, action: 'DROP' },
      ],
    });
    expect(w.activity[0]).toMatchObject({ time: '2026-01-15T09:00:00.000Z', status: 'Failed' });
    expect(w.flows[0]).toMatchObject({ protocol: 'icmp', port: null, reply_bytes: w.flows[0]!.bytes });
    expect(w.vnets[0]!.bgp_routes).toHaveLength(1);
  });

  it('[LAB-01] reads a world in the form the design gives it, down to a flow to a name nobody has', () => {
    const w = parseWorld(PAGE, 'page.yaml');
    expect(w.route_tables[0]!.routes[0]).toEqual({
      name: 'to-cache',
      prefix: '10.0.2.0/24',
      next_hop_type: 'VirtualAppliance',
      next_hop_ip: '10.0.1.5',
    });
    expect(w.flows[0]).toMatchObject({ to: 'redis-primary', reply_bytes: 2000 });
  });

  it('[LAB-04] needs no truth, takes any, and hands none on', () => {
    const plain = pair();
    const told = pair('truth: { causes: [{ kind: nsg_deny, resource: n }], anything: [1] }');
    expect(told).toEqual(plain);
    expect(JSON.stringify(told)).not.toContain('nsg_deny');
  });

  it('a world is itself a world document, and completing it changes nothing', () => {
    const w = pair();
    expect(complete(w)).toEqual(w);
    expect(parseWorld(JSON.stringify(w), 'again.json')).toEqual(w);
  });

  it('never throws anything but a WritError, whatever the text', () => {
    const word = fc.constantFrom(
      'id',
      'vms',
      'groups',
      'now',
      '[',
      ']',
      '{',
      '}',
      ':',
      '-',
      '\n',
      ' ',
      '10.0.0.0/8',
      '*',
      '&a',
      '*a',
      '"',
      'null',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (words) => {
        try {
          parseWorld(words.join(''), 'x');
        } catch (error) {
          expect(error).toBeInstanceOf(WritError);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('remarks on what is allowed but perhaps not meant', () => {
    const w = world(`
vnets:
  - { name: v, group: rg, prefixes: [10.0.0.0/16], subnets: [{ name: a, prefix: 10.0.1.0/24 }], peerings: [{ name: p, remote: u, state: Initiated }] }
  - { name: u, group: rg, prefixes: [10.9.0.0/16] }
vms: [{ name: x, group: rg, subnet: v/a, ip: 10.0.1.1 }]
flows: [{ from: x, to: nowhere.internal, port: 80 }]`);
    expect(remarks(w).join('\n')).toMatch(
      /keeps for itself[\s\S]*no counterpart[\s\S]*finds no address[\s\S]*no Network Watcher/,
    );
  });
});
