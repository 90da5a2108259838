import type { JsonObject } from '../../../core/index.ts';
import { isAligned, parseIp, parsePrefix } from '../../network/ipv4.ts';
import { NEXT_HOP_TYPES, type RouteTable, type UserRoute } from '../../world/types.ts';
import { type Call, type Commands, commit, findIn, needGroup } from '../call.ts';
import { armError, childNotFound, resourceNotFound } from '../errors.ts';
import { genericSettings } from '../generic-update.ts';
import { resourceId } from '../ids.ts';
import { TYPES } from '../shapes/common.ts';
import { routeShape, routeTableShape } from '../shapes/network.ts';

function needTable(call: Call, argument: string): RouteTable {
  const group = needGroup(call.world, call.args.need('--resource-group'));
  const name = call.args.need(argument);
  const table = findIn(call.world.route_tables, group, name, (t) => t.name);
  if (!table) throw resourceNotFound(TYPES.table, name, group);
  return table;
}

function findRoute(table: RouteTable, name: string): number {
  return table.routes.findIndex((r) => r.name.toLowerCase() === name.toLowerCase());
}

function needRoute(call: Call, table: RouteTable): { route: UserRoute; index: number } {
  const name = call.args.need('--name');
  const index = findRoute(table, name);
  const route = table.routes[index];
  if (!route) throw childNotFound(resourceId(table.group, TYPES.route, table.name, name));
  return { route, index };
}

function changedRoute(call: Call, old: UserRoute): UserRoute {
  const set = genericSettings(call.args);
  const type = call.args.text('--next-hop-type') ?? set.get('nextHopType') ?? old.next_hop_type;
  const prefix = call.args.text('--address-prefix') ?? set.get('addressPrefix') ?? old.prefix;
  const next_hop_type = NEXT_HOP_TYPES.find((t) => t.toLowerCase() === type.toLowerCase()) ?? 'None';
  const given = call.args.text('--next-hop-ip-address') ?? set.get('nextHopIpAddress');
  const next_hop_ip = next_hop_type === 'VirtualAppliance' ? given || old.next_hop_ip : null;
  const parsed = parsePrefix(prefix);
  if (!parsed || !prefix.includes('/') || !isAligned(parsed))
    throw armError(
      'InvalidAddressPrefixFormat',
      `Address prefix ${prefix} of resource is not formatted correctly. It should follow CIDR notation, for example 10.0.0.0/24.`,
    );
  if (given && next_hop_type !== 'VirtualAppliance')
    throw armError(
      'RouteNextHopIpAddressNotAllowed',
      `Route ${old.name} must not have a next hop IP address with next hop type ${next_hop_type}.`,
    );
  if (next_hop_type === 'VirtualAppliance' && (next_hop_ip === null || parseIp(next_hop_ip) === undefined))
    throw armError(
      'RouteInvalidNextHopIpAddress',
      `Route ${old.name} with next hop type VirtualAppliance needs a valid next hop IP address.`,
    );
  return { name: old.name, prefix, next_hop_type, next_hop_ip };
}

const write = (table: RouteTable, route: string, verb: 'write' | 'delete') => ({
  operation: `Microsoft.Network/routeTables/routes/${verb}`,
  resource: resourceId(table.group, TYPES.route, table.name, route),
  group: table.group,
});

async function createRoute(call: Call): Promise<JsonObject> {
  const table = needTable(call, '--route-table-name');
  const name = call.args.need('--name');
  if (!call.args.has('--address-prefix') || !call.args.has('--next-hop-type'))
    throw armError(
      'InvalidRequestFormat',
      'Cannot parse the request: a route needs an address prefix and a next hop type.',
    );
  const route = changedRoute(call, { name, prefix: '', next_hop_type: 'None', next_hop_ip: null });
  const at = `/route_tables/${call.world.route_tables.indexOf(table)}/routes`;
  const old = findRoute(table, name);
  await commit(
    call,
    [
      old < 0
        ? { op: 'add', path: `${at}/-`, value: route }
        : { op: 'replace', path: `${at}/${old}`, value: route },
    ],
    write(table, name, 'write'),
  );
  return routeShape(table, route);
}

export const routeCommands: Commands = {
  'network route-table list': {
    run: (call) => {
      const group = needGroup(call.world, call.args.need('--resource-group'));
      return call.world.route_tables
        .filter((t) => t.group === group)
        .map((t) => routeTableShape(call.world, t));
    },
  },
  'network route-table show': { run: (call) => routeTableShape(call.world, needTable(call, '--name')) },
  'network route-table route list': {
    run: (call) => {
      const table = needTable(call, '--route-table-name');
      return table.routes.map((r) => routeShape(table, r));
    },
  },
  'network route-table route show': {
    run: (call) => {
      const table = needTable(call, '--route-table-name');
      return routeShape(table, needRoute(call, table).route);
    },
  },
  'network route-table route create': { writes: true, run: createRoute },
  'network route-table route update': {
    writes: true,
    run: async (call) => {
      const table = needTable(call, '--route-table-name');
      const { route: old, index } = needRoute(call, table);
      const route = changedRoute(call, old);
      const path = `/route_tables/${call.world.route_tables.indexOf(table)}/routes/${index}`;
      await commit(call, [{ op: 'replace', path, value: route }], write(table, route.name, 'write'));
      return routeShape(table, route);
    },
  },
  'network route-table route delete': {
    writes: true,
    run: async (call) => {
      const table = needTable(call, '--route-table-name');
      const name = call.args.need('--name');
      const index = findRoute(table, name);
      if (index < 0) return undefined;
      const path = `/route_tables/${call.world.route_tables.indexOf(table)}/routes/${index}`;
      await commit(call, [{ op: 'remove', path }], write(table, name, 'delete'));
      return undefined;
    },
  },
};
