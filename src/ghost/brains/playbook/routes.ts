import { isJsonObject } from '../../../core/index.ts';
import type { Finding } from './finding.ts';
import { az, type Inventory, type ResourceRef, refOf, rows, type Vm, vmAt } from './inventory.ts';
import { contains, isPrivate, longestMatch } from './ipv4.ts';
import { jsonOf, type Notebook } from './notebook.ts';

/** Where the platform sends packets of one machine for one address. */
export interface NextHop {
  readonly type: string;
  readonly ip: string | null;
  /** The user's route table behind it, if it is not a system route. */
  readonly table: ResourceRef | null;
  readonly auditId: string;
}

export function nextHopCommand(vm: Vm, destination: string): string {
  return az(
    ...['network', 'watcher', 'show-next-hop', '--resource-group', vm.group, '--vm', vm.name],
    ...[
      '--source-ip',
      vm.ip,
      '--dest-ip',
      destination,
      '--query',
      '{type:nextHopType,ip:nextHopIpAddress,table:routeTableId}',
      '--output',
      'json',
    ],
  );
}

export function nextHop(notebook: Notebook, vm: Vm, destination: string): NextHop | undefined {
  const answer = notebook.ask(
    nextHopCommand(vm, destination),
    `Ask the platform where ${vm.name} sends packets for ${destination}.`,
  );
  const hop = jsonOf(answer);
  if (answer.kind !== 'ok' || !isJsonObject(hop)) return undefined;
  const table = typeof hop.table === 'string' && /routeTables\//i.test(hop.table) ? refOf(hop.table) : null;
  return {
    type: String(hop.type),
    ip: typeof hop.ip === 'string' && hop.ip !== '' ? hop.ip : null,
    table,
    auditId: answer.auditId,
  };
}

export interface Route {
  readonly name: string;
  readonly prefix: string;
  readonly type: string;
  readonly ip: string | null;
}

/** The route of a table that decides for an address. */
export function decidingRoute(
  notebook: Notebook,
  table: ResourceRef,
  destination: string,
): { readonly route: Route; readonly others: readonly Route[]; readonly auditId: string } | undefined {
  const command = az(
    'network',
    'route-table',
    'route',
    'list',
    '--resource-group',
    table.group,
    '--route-table-name',
    table.name,
    '--query',
    '[].[name,addressPrefix,nextHopType,nextHopIpAddress]',
    '--output',
    'tsv',
  );
  const answer = notebook.ask(command, `Find the route in ${table.name} that decides for ${destination}.`);
  if (answer.kind !== 'ok') return undefined;
  const routes = rows(answer).map(
    ([name = '', prefix = '', type = '', ip = '']): Route => ({
      name,
      prefix,
      type,
      ip: /^\d/.test(ip) ? ip : null,
    }),
  );
  const route = longestMatch(routes, (r) => r.prefix, destination);
  if (route === undefined) return undefined;
  // What would decide if this route were not there.
  const others = routes.filter((r) => r !== route && contains(r.prefix, destination));
  return { route, others, auditId: answer.auditId };
}

const isDirect = (type: string) =>
  /^(VnetLocal|VNetLocal|VnetPeering|VNetPeering|VirtualNetworkPeering|VNetGlobalPeering|VirtualNetworkServiceEndpoint)$/i.test(
    type,
  );

export type Leg =
  | { readonly kind: 'direct'; readonly hop: NextHop }
  | { readonly kind: 'appliance'; readonly hop: NextHop; readonly appliance: Vm }
  | { readonly kind: 'broken'; readonly hop: NextHop; readonly finding: Finding }
  /** The platform has no user route for it, so something between the networks is missing. */
  | { readonly kind: 'no_path'; readonly hop: NextHop }
  | { readonly kind: 'unknown' };

/** One direction of a path, up to its first stop. */
export function followRoute(notebook: Notebook, inventory: Inventory, from: Vm, destination: string): Leg {
  const hop = nextHop(notebook, from, destination);
  if (hop === undefined) return { kind: 'unknown' };
  if (isDirect(hop.type)) {
    const outside =
      hop.table !== null && /^VnetLocal$/i.test(hop.type) && !inNetworkOf(inventory, from, destination);
    if (!outside) return { kind: 'direct', hop };
    const what = `keeps it inside ${from.subnet.vnet.name}, where that address is not`;
    return {
      kind: 'broken',
      hop,
      finding: routeFinding(notebook, 'route_wrong_next_hop', hop, from, destination, what),
    };
  }
  if (/^VirtualAppliance$/i.test(hop.type)) {
    const appliance = hop.ip === null ? undefined : vmAt(inventory, hop.ip);
    if (appliance !== undefined) return { kind: 'appliance', hop, appliance };
    return {
      kind: 'broken',
      hop,
      finding: routeFinding(
        notebook,
        'route_wrong_next_hop',
        hop,
        from,
        destination,
        `sends it to ${hop.ip ?? 'an appliance'}, where no machine lives`,
        inventory.vms.filter((vm) => vm.forwarding && vm.running && vm !== from && vm.ip !== destination),
      ),
    };
  }
  if (/^Internet$/i.test(hop.type) && !isPrivate(destination)) return { kind: 'direct', hop };
  if (hop.table === null) return { kind: 'no_path', hop };
  if (/^None$/i.test(hop.type))
    return {
      kind: 'broken',
      hop,
      finding: routeFinding(notebook, 'route_blackhole', hop, from, destination, 'drops it (next hop None)'),
    };
  return {
    kind: 'broken',
    hop,
    finding: routeFinding(
      notebook,
      'route_wrong_next_hop',
      hop,
      from,
      destination,
      `sends it to ${hop.type}`,
    ),
  };
}

export function routeFinding(
  notebook: Notebook,
  kind: 'route_blackhole' | 'route_wrong_next_hop' | 'asymmetric_route',
  hop: NextHop,
  from: Vm,
  destination: string,
  what: string,
  living: readonly Vm[] = [],
): Finding {
  const table = hop.table ?? from.subnet.routeTable;
  const deciding = table === null ? undefined : decidingRoute(notebook, table, destination);
  const name = deciding?.route.name ?? null;
  return {
    kind,
    resource: table?.name ?? from.subnet.name,
    detail: name,
    explanation: `Traffic of ${from.name} for ${destination}: route ${name ?? '?'} (${deciding?.route.prefix ?? '?'}) in ${table?.name ?? '?'} ${what}.`,
    evidence: [hop.auditId, ...(deciding ? [deciding.auditId] : [])],
    remedies: table && name ? [routeRemedy(table, name, living)] : [],
  };
}

/**
 * A route to nobody is pointed at the one appliance there is. Otherwise it goes, and the network's own routes
 * decide; whoever approves sees whether it went through an appliance for a reason.
 */
function routeRemedy(table: ResourceRef, name: string, living: readonly Vm[]): string {
  const route = ['--resource-group', table.group, '--route-table-name', table.name, '--name', name];
  const [appliance] = living;
  if (appliance === undefined || living.length > 1)
    return az('network', 'route-table', 'route', 'delete', ...route);
  const hop = ['--next-hop-type', 'VirtualAppliance', '--next-hop-ip-address', appliance.ip];
  return az('network', 'route-table', 'route', 'update', ...route, ...hop);
}

const inNetworkOf = (inventory: Inventory, vm: Vm, address: string) =>
  inventory.subnets.some(
    (s) => s.vnet.name.toLowerCase() === vm.subnet.vnet.name.toLowerCase() && contains(s.prefix, address),
  );

interface Peering {
  readonly name: string;
  readonly vnet: ResourceRef;
  readonly remote: string;
  readonly state: string;
}

/** Why two networks have no path: a peering that is not connected on one side, or none at all. */
export function checkPeering(notebook: Notebook, from: Vm, to: Vm): readonly Finding[] {
  if (sameVnet(from, to)) return [];
  const command = az(
    'network',
    'vnet',
    'list',
    '--query',
    '[].virtualNetworkPeerings[].[id,peeringState,remoteVirtualNetwork.id]',
    '--output',
    'tsv',
  );
  const answer = notebook.ask(
    command,
    `See whether ${from.subnet.vnet.name} and ${to.subnet.vnet.name} are peered, on both sides.`,
  );
  if (answer.kind !== 'ok') return [];
  const peerings = rows(answer).flatMap(([id = '', state = '', remote = '']): Peering[] => {
    const match =
      /\/resourceGroups\/([^/]+)\/.*\/virtualNetworks\/([^/]+)\/virtualNetworkPeerings\/([^/]+)$/i.exec(id);
    return match
      ? [
          {
            vnet: { group: match[1]!, name: match[2]! },
            name: match[3]!,
            state,
            remote: remote.split('/').at(-1) ?? '',
          },
        ]
      : [];
  });
  const between = peerings.filter((p) => joins(p, from, to) || joins(p, to, from));
  return between
    .filter((p) => p.state !== 'Connected')
    .map(
      (p): Finding => ({
        kind: 'peering_disconnected',
        resource: p.name,
        detail: null,
        explanation: `Peering ${p.name} of ${p.vnet.name} is ${p.state}, so ${from.subnet.vnet.name} and ${to.subnet.vnet.name} exchange nothing.`,
        evidence: [answer.auditId],
        remedies: [
          az(
            'network',
            'vnet',
            'peering',
            'sync',
            '--resource-group',
            p.vnet.group,
            '--vnet-name',
            p.vnet.name,
            '--name',
            p.name,
          ),
        ],
      }),
    );
}

const joins = (p: Peering, a: Vm, b: Vm) =>
  p.vnet.name.toLowerCase() === a.subnet.vnet.name.toLowerCase() &&
  p.remote.toLowerCase() === b.subnet.vnet.name.toLowerCase();

export const sameVnet = (a: Vm, b: Vm) =>
  a.subnet.vnet.name.toLowerCase() === b.subnet.vnet.name.toLowerCase();
