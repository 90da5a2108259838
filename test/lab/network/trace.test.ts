import { describe, expect, it } from 'vitest';
import { trace } from '../../../src/lab/network/trace.ts';
import type { Origin, Trace } from '../../../src/lab/network/types.ts';
import type { World } from '../../../src/lab/world/types.ts';
import { pair, world } from '../small.ts';

const from = (name: string): Origin => ({ kind: 'vm', name });
const tcp = (w: World, a = 'client', b = 'server', port = 8080): Trace =>
  trace(w, { from: from(a), to: b, protocol: 'tcp', port });
const icmp = (w: World, a = 'client', b = 'server') =>
  trace(w, { from: from(a), to: b, protocol: 'icmp', port: null });
const kinds = (t: Trace) => t.request!.stations.map((s) => s.kind);

describe('a conversation between two VMs', () => {
  it('passes firewall, capture, wire, route and comes back', () => {
    const t = tcp(pair());
    expect(t.outcome).toEqual({ kind: 'answered', forbidden: false });
    expect(kinds(t)).toEqual([
      'os_firewall',
      'capture',
      'link',
      'route',
      'link',
      'capture',
      'os_firewall',
      'destination',
    ]);
    expect(t.reply!.stations.map((s) => s.kind)).toEqual(['capture', 'link', 'route', 'link', 'capture']);
  });

  it('[LAB-12] a closed port answers with a reset, a closed UDP port with ICMP', () => {
    expect(tcp(pair(), 'client', 'server', 9).request!.end).toMatchObject({ kind: 'rejected', with: 'rst' });
    expect(tcp(pair(), 'client', 'server', 9).outcome.kind).toBe('refused');
    const udp = trace(pair(), { from: from('client'), to: 'server', protocol: 'udp', port: 53 });
    expect(udp.request!.end).toMatchObject({ kind: 'rejected', with: 'icmp_port_unreachable' });
  });

  it('[LAB-12] a listener bound to loopback is closed to others', () => {
    expect(tcp(pair('', { server: 'nic: n2' })).outcome.kind).toBe('answered');
    const bound = pair();
    const w = {
      ...bound,
      vms: bound.vms.map((v) => ({ ...v, listens: v.listens.map((l) => ({ ...l, bind: '127.0.0.1' })) })),
    };
    expect(tcp(w).outcome.kind).toBe('refused');
  });

  it('a VM that does not run swallows everything', () => {
    for (const power of ['stopped', 'deallocated']) {
      const t = tcp(pair('', { server: `power: ${power}` }));
      expect(t.request!.end).toEqual({ kind: 'dropped', reason: 'vm_not_running' });
      expect(t.outcome.kind).toBe('silence');
    }
  });

  it('a name that does not resolve ends before the first packet', () => {
    const t = trace(pair(), { from: from('client'), to: 'db.corp.internal', protocol: 'tcp', port: 1 });
    expect(t).toMatchObject({
      outcome: { kind: 'name_not_resolved' },
      request: null,
      resolution: { status: 'NXDOMAIN' },
    });
  });
});

describe('OS firewalls', () => {
  const drop = (rules: string, policy = '') =>
    pair('', { server: `os_firewall: [${rules}]${policy === '' ? '' : `, os_policy: { ${policy} }`}` });

  it('[LAB-11] DROP is silence, REJECT is told; the packet was captured before either', () => {
    const dropped = tcp(drop('{ chain: INPUT, protocol: tcp, port: 8080, action: DROP }'));
    expect(dropped).toMatchObject({
      outcome: { kind: 'silence' },
      request: { end: { reason: 'os_firewall' } },
    });
    expect(dropped.request!.stations).toContainEqual({ kind: 'capture', vm: 'server', way: 'in' });
    const rejected = tcp(drop('{ chain: INPUT, protocol: tcp, port: 8080, action: REJECT }'));
    expect(rejected).toMatchObject({
      outcome: { kind: 'refused' },
      request: { end: { with: 'icmp_port_unreachable' } },
    });
  });

  it('[LAB-11] the first match wins, then the policy', () => {
    const allowed = '{ chain: INPUT, protocol: tcp, port: "8000-9000", source: 10.0.1.0/24, action: ACCEPT }';
    const denied = '{ chain: INPUT, protocol: all, action: DROP }';
    expect(tcp(drop(`${allowed}, ${denied}`)).outcome.kind).toBe('answered');
    expect(tcp(drop(`${denied}, ${allowed}`)).outcome.kind).toBe('silence');
    expect(icmp(drop(`${allowed}, ${denied}`)).outcome.kind).toBe('silence');
    expect(tcp(drop(allowed, 'INPUT: DROP')).outcome.kind).toBe('answered');
    expect(icmp(drop(allowed, 'INPUT: DROP')).outcome.kind).toBe('silence');
  });

  it('[LAB-11] replies to what was let in or out pass', () => {
    expect(tcp(drop('', 'OUTPUT: DROP')).outcome.kind).toBe('answered');
    expect(tcp(pair('', { client: 'os_policy: { INPUT: DROP }' })).outcome.kind).toBe('answered');
  });

  it('[LAB-11] what the client’s own OUTPUT drops never reaches its wire', () => {
    const t = tcp(pair('', { client: 'os_firewall: [{ chain: OUTPUT, port: 8080, action: DROP }]' }));
    expect(kinds(t)).toEqual(['os_firewall']);
    const told = tcp(pair('', { client: 'os_firewall: [{ chain: OUTPUT, port: 8080, action: REJECT }]' }));
    expect(told).toMatchObject({ outcome: { kind: 'refused' }, reply: null });
  });
});

const APPLIANCE = (
  parts: { nva?: string; forward?: string; back?: string; hub?: string; clientForwarded?: boolean } = {},
) =>
  world(`
vnets:
  - name: spoke
    group: rg
    prefixes: [10.1.0.0/16]
    subnets: [{ name: s, prefix: 10.1.1.0/24, route_table: out }]
    peerings: [{ name: sh, remote: hub, state: ${parts.hub ?? 'Connected'}, allow_forwarded: true }]
  - name: hub
    group: rg
    prefixes: [10.0.0.0/16]
    subnets: [{ name: nva, prefix: 10.0.1.0/24 }]
    peerings: [{ name: hs, remote: spoke, state: Connected, allow_forwarded: true }, { name: ht, remote: shop, state: Connected, allow_forwarded: true }]
  - name: shop
    group: rg
    prefixes: [10.2.0.0/16]
    subnets: [{ name: s, prefix: 10.2.1.0/24, route_table: back }]
    peerings: [{ name: th, remote: hub, state: Connected, allow_forwarded: ${parts.clientForwarded ?? true} }]
route_tables:
  - { name: out, group: rg, routes: [${parts.forward ?? '{ name: all, prefix: 0.0.0.0/0, next_hop_type: VirtualAppliance, next_hop_ip: 10.0.1.10 }'}] }
  - { name: back, group: rg, routes: [${parts.back ?? '{ name: all, prefix: 0.0.0.0/0, next_hop_type: VirtualAppliance, next_hop_ip: 10.0.1.10 }'}] }
vms:
  - { name: client, group: rg, subnet: spoke/s, ip: 10.1.1.4 }
  - { name: server, group: rg, subnet: shop/s, ip: 10.2.1.4, listens: [{ port: 8080 }] }
  - { name: nva, group: rg, subnet: hub/nva, ip: 10.0.1.10${parts.nva ?? ', ip_forwarding: true'} }
  - { name: other, group: rg, subnet: hub/nva, ip: 10.0.1.11, ip_forwarding: true }`);

describe('appliances', () => {
  it('[LAB-10] forwards both ways, and the wire of the appliance is on the path', () => {
    const t = tcp(APPLIANCE());
    expect(t.outcome.kind).toBe('answered');
    expect(
      t
        .request!.stations.filter((s) => s.kind === 'capture')
        .map((s) => s.kind === 'capture' && `${s.vm} ${s.way}`),
    ).toEqual(['client out', 'nva in', 'nva out', 'server in']);
    expect(t.request!.stations.filter((s) => s.kind === 'peering')).toHaveLength(2);
  });

  it.each([
    ['without IP forwarding on the NIC', '', 'not_forwarding'],
    ['without forwarding in the guest', ', ip_forwarding: true, os_ip_forward: false', 'not_forwarding'],
    ['with FORWARD dropped', ', ip_forwarding: true, os_policy: { FORWARD: DROP }', 'os_firewall'],
    ['switched off', ', ip_forwarding: true, power: deallocated', 'vm_not_running'],
  ])('[LAB-10] %s it does not forward', (_what, nva, reason) => {
    expect(tcp(APPLIANCE({ nva })).request!.end).toEqual({ kind: 'dropped', reason });
  });

  it('[LAB-10] without forwarding on the NIC the guest never sees the packet; without it in the guest it does', () => {
    const seen = (nva: string) =>
      tcp(APPLIANCE({ nva })).request!.stations.some((s) => s.kind === 'capture' && s.vm === 'nva');
    expect(seen('')).toBe(false);
    expect(seen(', ip_forwarding: true, os_ip_forward: false')).toBe(true);
  });

  it('[LAB-10] an appliance that did not see the beginning drops the answer', () => {
    const t = tcp(
      APPLIANCE({
        back: '{ name: wrong, prefix: 0.0.0.0/0, next_hop_type: VirtualAppliance, next_hop_ip: 10.0.1.11 }',
      }),
    );
    expect(t.request!.end.kind).toBe('delivered');
    expect(t.reply!.end).toEqual({ kind: 'dropped', reason: 'conversation_unknown' });
    expect(t.outcome.kind).toBe('silence');
  });

  it.each([
    [
      'an address where nothing lives',
      '{ name: d, prefix: 0.0.0.0/0, next_hop_type: VirtualAppliance, next_hop_ip: 10.0.1.99 }',
      'no_next_hop',
    ],
    ['None', '{ name: d, prefix: 10.2.0.0/16, next_hop_type: None }', 'route_none'],
    [
      'Internet for a private address',
      '{ name: d, prefix: 10.2.0.0/16, next_hop_type: Internet }',
      'unroutable',
    ],
    [
      'a gateway that is not there',
      '{ name: d, prefix: 10.2.0.0/16, next_hop_type: VirtualNetworkGateway }',
      'unroutable',
    ],
    [
      'VnetLocal for another VNet',
      '{ name: d, prefix: 10.2.0.0/16, next_hop_type: VnetLocal }',
      'unroutable',
    ],
    [
      'itself',
      '{ name: d, prefix: 10.2.0.0/16, next_hop_type: VirtualAppliance, next_hop_ip: 10.1.1.4 }',
      'not_forwarding',
    ],
  ])('a route to %s leads nowhere', (_what, forward, reason) => {
    const t = tcp(APPLIANCE({ forward }));
    expect(t.request!.end).toEqual({ kind: 'dropped', reason });
    expect(t.request!.stations.findLast((s) => s.kind === 'route')).toMatchObject({ route: { name: 'd' } });
  });

  it('[LAB-09] a peering that is not connected, or that takes no forwarded traffic, stops it', () => {
    expect(tcp(APPLIANCE({ hub: 'Disconnected' })).outcome.kind).toBe('silence');
    expect(tcp(APPLIANCE({ clientForwarded: false })).request!.end).toEqual({
      kind: 'dropped',
      reason: 'peering',
    });
  });

  it('two appliances that send to each other end in a loop that ends', () => {
    const w = APPLIANCE();
    const route = {
      name: 'r',
      prefix: '10.2.0.0/16',
      next_hop_type: 'VirtualAppliance',
      next_hop_ip: '10.0.1.11',
    } as const;
    const loop: World = {
      ...w,
      route_tables: [...w.route_tables, { name: 'round', group: 'rg', routes: [route] }],
      vnets: w.vnets.map((v) =>
        v.name === 'hub' ? { ...v, subnets: v.subnets.map((s) => ({ ...s, route_table: 'round' })) } : v,
      ),
    };
    expect(tcp(loop).request!.end).toEqual({ kind: 'dropped', reason: 'loop' });
  });
});

describe('wires', () => {
  it('[LAB-15] losses combine, delays add up, the narrowest decides', () => {
    const w = pair('', {
      client: 'link: { loss_pct: 50, delay_ms: 10, rate_mbit: 100 }',
      server: 'link: { loss_pct: 50, delay_ms: 20, rate_mbit: 5, mtu: 1400 }',
    });
    const p = tcp(w).request!.properties;
    expect(p.lossPct).toBeCloseTo(75);
    expect(p.delayMs).toBeGreaterThan(30);
    expect(p.delayMs).toBeLessThan(32);
    expect(p).toMatchObject({ rateMbit: 5, mtu: 1400, mtuAt: 'server', fragNeededTold: false });
    expect(
      tcp(pair('', { server: 'link: { mtu: 1400, icmp_frag_needed: true }' })).request!.properties
        .fragNeededTold,
    ).toBe(true);
  });

  it('[LAB-15] a wire that loses everything is silence', () => {
    expect(tcp(pair('', { server: 'link: { loss_pct: 100 }' })).outcome.kind).toBe('silence');
  });
});

describe('storage and the outside', () => {
  const store = (endpoint: string, rules: string, action = 'Deny') =>
    pair(`storage: [{ name: acct, group: rg, default_action: ${action}, subnet_rules: [${rules}] }]`, {
      web: `service_endpoints: [${endpoint}]`,
    });
  const read = (w: World) => tcp(w, 'client', 'acct', 443);

  it('[LAB-14] both sides must agree: subnet on the list, endpoint on the subnet', () => {
    expect(read(store('Microsoft.Storage', 'net/web'))).toMatchObject({
      outcome: { forbidden: false },
      storage: { why: 'subnet_rule' },
    });
    expect(read(store('Microsoft.Sql', 'net/web'))).toMatchObject({
      outcome: { forbidden: true },
      storage: { why: 'service_endpoint_missing' },
    });
    expect(read(store('Microsoft.Storage', 'net/data'))).toMatchObject({
      outcome: { forbidden: true },
      storage: { why: 'not_on_the_list' },
    });
    expect(read(store('', '', 'Allow'))).toMatchObject({
      outcome: { forbidden: false },
      storage: { why: 'default_allow' },
    });
  });

  it('the request is looked up by the account’s host name', () => {
    expect(read(store('', '', 'Allow')).resolution).toMatchObject({
      name: 'acct.blob.core.windows.net',
      status: 'NOERROR',
    });
  });

  it('[LAB-20] without VPN the engineer reaches no private address', () => {
    const t = trace(pair(), { from: { kind: 'local' }, to: '10.0.2.4', protocol: 'tcp', port: 8080 });
    expect(t.request!.end).toEqual({ kind: 'dropped', reason: 'no_vpn' });
  });

  it('[LAB-20] with VPN NSGs see the machine’s own address', () => {
    const rules = '[{ name: vpn, priority: 100, direction: Inbound, access: Deny, source: 172.31.255.10 }]';
    const open = pair('local: { vpn: true }');
    expect(
      trace(open, { from: { kind: 'local' }, to: 'server', protocol: 'tcp', port: 8080 }).outcome.kind,
    ).toBe('answered');
    const closed = pair(`local: { vpn: true }\nnsgs: [{ name: n, group: rg, rules: ${rules} }]`, {
      data: 'nsg: n',
    });
    const t = trace(closed, { from: { kind: 'local' }, to: 'server', protocol: 'tcp', port: 8080 });
    expect(t.request!.stations.at(-1)).toMatchObject({ kind: 'nsg', rule: 'vpn' });
  });

  it('from the internet only a public address is reached, and NSGs see who comes', () => {
    const w = pair(
      'nsgs: [{ name: n, group: rg, rules: [{ name: web, priority: 100, direction: Inbound, access: Allow, source: Internet, destination_port: "8080" }] }]',
      {
        data: 'nsg: n',
        server: 'public_ip: 20.9.9.9',
      },
    );
    const ask = (to: string, port: number) =>
      trace(w, { from: { kind: 'internet', ip: '198.51.100.7' }, to, protocol: 'tcp', port });
    expect(ask('20.9.9.9', 8080).outcome.kind).toBe('answered');
    expect(ask('20.9.9.9', 22).request!.stations.at(-1)).toMatchObject({
      kind: 'nsg',
      rule: 'DenyAllInBound',
    });
    expect(ask('10.0.2.4', 8080).outcome.kind).toBe('silence');
  });

  it('reaches what a gateway has learnt, and back', () => {
    const w = world(`
vnets: [{ name: v, group: rg, prefixes: [10.0.0.0/16], subnets: [{ name: s, prefix: 10.0.1.0/24 }], bgp_routes: [{ prefix: 192.168.0.0/16, next_hop: 10.0.250.4 }] }]
vms: [{ name: x, group: rg, subnet: v/s, ip: 10.0.1.4 }]`);
    const t = trace(w, { from: from('x'), to: '192.168.3.3', protocol: 'tcp', port: 443 });
    expect(t).toMatchObject({ outcome: { kind: 'answered' }, request: { destination: { kind: 'onprem' } } });
    expect(trace(w, { from: from('x'), to: '172.16.3.3', protocol: 'tcp', port: 443 }).outcome.kind).toBe(
      'silence',
    );
  });
});
