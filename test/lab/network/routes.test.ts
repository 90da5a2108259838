import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contains, formatPrefix, maskOf, parseIp, parsePrefix } from '../../../src/lab/network/ipv4.ts';
import { findVm } from '../../../src/lab/network/places.ts';
import { effectiveRoutes, selectRoute } from '../../../src/lab/network/routes.ts';
import type { EffectiveRoute, RouteSource } from '../../../src/lab/network/types.ts';
import { world } from '../small.ts';

const NET = (parts: { routes?: string; bgp?: string; endpoints?: string; peers?: string } = {}) =>
  world(`
vnets:
  - name: a
    group: rg
    prefixes: [10.0.0.0/16]
    subnets: [{ name: s, prefix: 10.0.1.0/24, route_table: t, service_endpoints: [${parts.endpoints ?? ''}] }]
    peerings: [{ name: ab, remote: b, state: Connected }]
    bgp_routes: [${parts.bgp ?? ''}]
  - { name: b, group: rg, prefixes: [10.1.0.0/16], peerings: [{ name: ba, remote: a, state: ${parts.peers ?? 'Connected'} }] }
route_tables: [{ name: t, group: rg, routes: [${parts.routes ?? ''}] }]
vms: [{ name: x, group: rg, subnet: a/s, ip: 10.0.1.4 }]
storage: [{ name: acct, group: rg }]`);

const to = (w: ReturnType<typeof NET>, ip: string) => selectRoute(effectiveRoutes(w, findVm(w, 'x')!), ip);

describe('effective routes', () => {
  it('[LAB-08] system routes: own space, peers, internet, and nowhere for the rest of the private ranges', () => {
    const w = NET();
    expect(to(w, '10.0.77.1').nextHopType).toBe('VnetLocal');
    expect(to(w, '10.1.0.1').nextHopType).toBe('VNetPeering');
    expect(to(w, '8.8.8.8').nextHopType).toBe('Internet');
    expect(to(w, '10.9.0.1').nextHopType).toBe('None');
    expect(to(w, '192.168.1.1').nextHopType).toBe('None');
  });

  it('[LAB-09] a peering that is not Connected on both sides gives no route', () => {
    expect(to(NET({ peers: 'Disconnected' }), '10.1.0.1').nextHopType).toBe('None');
    expect(to(NET({ peers: 'Initiated' }), '10.1.0.1').nextHopType).toBe('None');
  });

  it('[LAB-08] user over BGP over system for one prefix; the losers are Invalid', () => {
    const w = NET({
      bgp: '{ prefix: 0.0.0.0/0, next_hop: 10.0.9.4 }',
      routes: '{ name: d, prefix: 0.0.0.0/0, next_hop_type: VirtualAppliance, next_hop_ip: 10.0.1.9 }',
    });
    expect(to(w, '8.8.8.8')).toMatchObject({ source: 'User', name: 'd', table: 't', nextHopIp: '10.0.1.9' });
    const defaults = effectiveRoutes(w, findVm(w, 'x')!).filter((r) => r.prefix === '0.0.0.0/0');
    expect(defaults.map((r) => [r.source, r.state])).toEqual([
      ['Default', 'Invalid'],
      ['VirtualNetworkGateway', 'Invalid'],
      ['User', 'Active'],
    ]);
  });

  it('[LAB-08] a default route of one’s own also takes the private ranges', () => {
    const w = NET({
      routes: '{ name: d, prefix: 0.0.0.0/0, next_hop_type: VirtualAppliance, next_hop_ip: 10.0.1.9 }',
    });
    expect(to(w, '10.9.0.1').name).toBe('d');
    expect(to(w, '10.0.2.1').nextHopType).toBe('VnetLocal');
  });

  it('[LAB-08] the longest prefix wins whoever wrote it', () => {
    const w = NET({
      bgp: '{ prefix: 192.168.0.0/16, next_hop: 10.0.9.4 }',
      routes:
        '{ name: wide, prefix: 192.168.0.0/15, next_hop_type: None }, { name: host, prefix: 10.0.2.9/32, next_hop_type: None }',
    });
    expect(to(w, '192.168.3.3').source).toBe('VirtualNetworkGateway');
    expect(to(w, '10.0.2.9').name).toBe('host');
    expect(to(w, '10.0.2.8').nextHopType).toBe('VnetLocal');
  });

  it('[LAB-08] BGP does not take traffic inside the VNet, and nothing overrides a service endpoint', () => {
    const inside = NET({ bgp: '{ prefix: 10.0.2.0/24, next_hop: 10.0.9.4 }' });
    expect(to(inside, '10.0.2.4').nextHopType).toBe('VnetLocal');
    const w = NET({
      endpoints: 'Microsoft.Storage',
      routes:
        '{ name: d, prefix: 0.0.0.0/0, next_hop_type: None }, { name: s, prefix: 20.150.0.0/16, next_hop_type: None }',
    });
    const endpoint = effectiveRoutes(w, findVm(w, 'x')!).find(
      (r) => r.nextHopType === 'VirtualNetworkServiceEndpoint',
    )!;
    const ip = endpoint.prefix.split('/')[0]!;
    expect(to(w, ip).nextHopType).toBe('VirtualNetworkServiceEndpoint');
  });

  it('[LAB-08] longest prefix, then rank, for any set of routes', () => {
    const sources: readonly RouteSource[] = ['User', 'VirtualNetworkGateway', 'Default'];
    const route = fc
      .record({
        base: fc.nat(0xffffffff),
        bits: fc.integer({ min: 1, max: 32 }),
        source: fc.constantFrom(...sources),
      })
      .map(
        ({ base, bits, source }): EffectiveRoute => ({
          prefix: formatPrefix({ base: (base & maskOf(bits)) >>> 0, bits }),
          source,
          nextHopType: 'VnetLocal',
          nextHopIp: null,
          state: 'Active',
          name: null,
          table: null,
        }),
      );
    const fallback: EffectiveRoute = {
      prefix: '0.0.0.0/0',
      source: 'Default',
      nextHopType: 'Internet',
      nextHopIp: null,
      state: 'Active',
      name: null,
      table: null,
    };
    fc.assert(
      fc.property(fc.array(route, { maxLength: 20 }), fc.nat(0xffffffff), (routes, n) => {
        const all = [fallback, ...routes];
        const some = routes[0] ? parsePrefix(routes[0].prefix)!.base : n;
        for (const address of [n, some]) {
          const ip = [24, 16, 8, 0].map((s) => (address >>> s) & 255).join('.');
          const chosen = selectRoute(all, ip);
          const best = all.filter((r) => contains(parsePrefix(r.prefix)!, parseIp(ip)!));
          const length = Math.max(...best.map((r) => parsePrefix(r.prefix)!.bits));
          expect(parsePrefix(chosen.prefix)!.bits).toBe(length);
          const rivals = best.filter((r) => parsePrefix(r.prefix)!.bits === length);
          expect(sources.indexOf(chosen.source)).toBe(
            Math.min(...rivals.map((r) => sources.indexOf(r.source))),
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});
