import { parseWorld } from '../../../src/lab/world/load.ts';
import type { World } from '../../../src/lab/world/types.ts';

export const NOW = '2026-03-02T10:00:00Z';
export const NOW_MS = Date.parse(NOW);

type Part = Record<string, unknown>;

export interface PairSettings {
  readonly id?: string;
  readonly client?: Part;
  readonly server?: Part;
  readonly flow?: Part;
  readonly flows?: readonly Part[];
  /** Rules of the NSG on the server's subnet. */
  readonly rules?: readonly Part[];
  /** A third machine on a subnet of its own that traffic from client to server is routed through. */
  readonly appliance?: Part;
  /** Which directions go through the appliance. */
  readonly via?: 'both' | 'there' | 'back';
  readonly more?: Part;
}

/** Two VMs on two subnets and one flow between them: the smallest world in which something can go wrong. */
export function pair(settings: PairSettings = {}): World {
  const via = settings.appliance === undefined ? null : (settings.via ?? 'both');
  const route = (name: string, prefix: string) => ({
    name,
    group: 'rg-pair',
    routes: [{ name: 'through', prefix, next_hop_type: 'VirtualAppliance', next_hop_ip: '10.7.3.4' }],
  });
  const flow = { from: 'client', to: 'server', port: 7100, protocol: 'tcp', every_ms: 500, bytes: 4000 };
  const document = {
    id: settings.id ?? 'pair',
    now: NOW,
    groups: [{ name: 'rg-pair', location: 'westeurope' }],
    vnets: [
      {
        name: 'vnet',
        group: 'rg-pair',
        prefixes: ['10.7.0.0/16'],
        subnets: [
          {
            name: 'a',
            prefix: '10.7.1.0/24',
            ...(via === 'both' || via === 'there' ? { route_table: 'rt-a' } : {}),
          },
          {
            name: 'b',
            prefix: '10.7.2.0/24',
            nsg: 'nsg-b',
            ...(via === 'both' || via === 'back' ? { route_table: 'rt-b' } : {}),
          },
          { name: 'c', prefix: '10.7.3.0/24' },
        ],
      },
    ],
    nsgs: [{ name: 'nsg-b', group: 'rg-pair', rules: settings.rules ?? [] }],
    route_tables: [route('rt-a', '10.7.2.0/24'), route('rt-b', '10.7.1.0/24')],
    vms: [
      { name: 'client', group: 'rg-pair', subnet: 'vnet/a', ip: '10.7.1.4', ...settings.client },
      {
        name: 'server',
        group: 'rg-pair',
        subnet: 'vnet/b',
        ip: '10.7.2.4',
        listens: [
          { port: 7100, protocol: 'tcp' },
          { port: 7100, protocol: 'udp' },
        ],
        ...settings.server,
      },
      ...(settings.appliance === undefined
        ? []
        : [
            {
              name: 'nva',
              group: 'rg-pair',
              subnet: 'vnet/c',
              ip: '10.7.3.4',
              ip_forwarding: true,
              ...settings.appliance,
            },
          ]),
    ],
    storage: [{ name: 'pairstore', group: 'rg-pair', containers: ['captures'] }],
    watchers: ['westeurope'],
    flows: settings.flows ?? [{ ...flow, ...settings.flow }],
    ...settings.more,
  };
  // JSON is YAML: the same loader as for a file, so that a wrong test world is refused too.
  return parseWorld(JSON.stringify(document), `${document.id}.yaml`);
}
