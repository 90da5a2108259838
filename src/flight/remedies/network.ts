import { isJsonObject, type JsonObject } from '../../core/index.ts';
import { az, azRead, given, option, textIn, wordsIn } from './az-call.ts';
import type { Reversal } from './reversal.ts';

/** Security rules, routes, peerings, subnets and interfaces. */
const RULE = ['--resource-group', '--nsg-name', '--name'] as const;
const ROUTE = ['--resource-group', '--route-table-name', '--name'] as const;

const RULE_FIELDS = [
  ...['name', 'priority', 'direction', 'access', 'protocol', 'description'],
  ...['sourceAddressPrefix', 'sourceAddressPrefixes', 'sourcePortRange', 'sourcePortRanges'],
  ...['destinationAddressPrefix', 'destinationAddressPrefixes'],
  ...['destinationPortRange', 'destinationPortRanges'],
];
const GROUPS = 'groups:[sourceApplicationSecurityGroups,destinationApplicationSecurityGroups][][]';
const RULE_QUERY = `{${RULE_FIELDS.map((f) => `${f}:${f}`).join(',')},${GROUPS}}`;

/** [option, one value, list of values]. */
const RULE_OPTIONS: readonly (readonly [string, string, string])[] = [
  ['--priority', 'priority', ''],
  ['--direction', 'direction', ''],
  ['--access', 'access', ''],
  ['--protocol', 'protocol', ''],
  ['--description', 'description', ''],
  ['--source-address-prefixes', 'sourceAddressPrefix', 'sourceAddressPrefixes'],
  ['--source-port-ranges', 'sourcePortRange', 'sourcePortRanges'],
  ['--destination-address-prefixes', 'destinationAddressPrefix', 'destinationAddressPrefixes'],
  ['--destination-port-ranges', 'destinationPortRange', 'destinationPortRanges'],
];

/** The recorded values of these options, as words. */
function recorded(rule: JsonObject, wanted: (option: string) => boolean): readonly string[] {
  return RULE_OPTIONS.filter(([name]) => wanted(name)).flatMap(([name, one, many]) => {
    const values = many === '' ? [textIn(rule, one)].filter((v) => v !== '') : wordsIn(rule, one, many);
    return values.length === 0 ? [] : [name, ...values];
  });
}

const namesGroups = (rule: JsonObject) => Array.isArray(rule.groups) && rule.groups.length > 0;

const ruleCreate: Reversal = {
  // Every rule of that direction: one that somebody adds or changes meanwhile may decide instead.
  read: (call) =>
    azRead(
      'network nsg rule list',
      given(call, '--resource-group', '--nsg-name'),
      `[?direction=='${option(call, '--direction') === 'Outbound' ? 'Outbound' : 'Inbound'}'].${RULE_QUERY}`,
    ),
  plan: (call, before, earlier) => {
    if (!Array.isArray(before)) return 'its rules could not be read';
    const name = option(call, '--name');
    const rules = before.filter(isJsonObject);
    if (rules.some((r) => textIn(r, 'name').toLowerCase() === name.toLowerCase()))
      return `a rule ${name} exists already`;
    const same = ['--resource-group', '--nsg-name', '--direction'];
    const taken = new Set([
      ...rules.map((r) => Number(r.priority)),
      ...earlier
        .filter((e) => e.command === call.command && same.every((o) => option(e, o) === option(call, o)))
        .map((e) => Number(option(e, '--priority'))),
    ]);
    // Two rules of one direction cannot share a priority: the next free place before it decides the same.
    let priority = Number(option(call, '--priority'));
    while (taken.has(priority)) priority--;
    if (!Number.isInteger(priority) || priority < 100)
      return 'no priority is free before the rule that decides';
    const argv = [...call.argv];
    argv[argv.indexOf('--priority') + 1] = String(priority);
    return { argv, undo: az('network nsg rule delete', ...given(call, ...RULE)) };
  },
};

const ruleUpdate: Reversal = {
  read: (call) => azRead('network nsg rule show', given(call, ...RULE), RULE_QUERY),
  plan: (call, before) => {
    if (!isJsonObject(before)) return 'the rule could not be read';
    if (namesGroups(before)) return 'the rule names application security groups';
    const changed = [...call.options.keys()].filter((o) => !(RULE as readonly string[]).includes(o));
    const unknown = changed.find((o) => !RULE_OPTIONS.some(([name]) => name === o));
    if (unknown !== undefined) return `there is no known way back from ${unknown}`;
    const old = recorded(before, (name) => changed.includes(name));
    return { argv: call.argv, undo: az('network nsg rule update', ...given(call, ...RULE), ...old) };
  },
};

const ruleDelete: Reversal = {
  read: ruleUpdate.read,
  plan: (call, before) => {
    if (!isJsonObject(before)) return 'the rule could not be read';
    if (namesGroups(before)) return 'the rule names application security groups';
    const all = recorded(before, () => true);
    return { argv: call.argv, undo: az('network nsg rule create', ...given(call, ...RULE), ...all) };
  },
};

const ROUTE_QUERY = '{name:name,prefix:addressPrefix,type:nextHopType,ip:nextHopIpAddress}';

function routeWords(route: JsonObject): readonly string[] {
  const ip = textIn(route, 'ip');
  return [
    ...['--address-prefix', textIn(route, 'prefix'), '--next-hop-type', textIn(route, 'type')],
    ...(ip === '' ? [] : ['--next-hop-ip-address', ip]),
  ];
}

/** An update and a deletion alike are taken back by writing the whole route again. */
const routeWrite: Reversal = {
  read: (call) => azRead('network route-table route show', given(call, ...ROUTE), ROUTE_QUERY),
  plan: (call, before) =>
    isJsonObject(before)
      ? {
          argv: call.argv,
          undo: az('network route-table route create', ...given(call, ...ROUTE), ...routeWords(before)),
        }
      : 'the route could not be read',
};

const routeCreate: Reversal = {
  read: (call) =>
    azRead(
      'network route-table route list',
      given(call, '--resource-group', '--route-table-name'),
      `[].${ROUTE_QUERY}`,
    ),
  plan: (call, before) => {
    if (!Array.isArray(before)) return 'the routes could not be read';
    const name = option(call, '--name').toLowerCase();
    if (before.filter(isJsonObject).some((r) => textIn(r, 'name').toLowerCase() === name))
      return `a route ${name} exists already`;
    return { argv: call.argv, undo: az('network route-table route delete', ...given(call, ...ROUTE)) };
  },
};

const PEERING = ['--resource-group', '--vnet-name', '--name'] as const;

const peeringSync: Reversal = {
  read: (call) =>
    azRead(
      'network vnet peering show',
      given(call, ...PEERING),
      '{name:name,state:peeringState,forwarded:allowForwardedTraffic,gateway:allowGatewayTransit}',
    ),
  plan: (call, before) => {
    if (!isJsonObject(before)) return 'the peering could not be read';
    if (before.state === 'Connected') return 'the peering is connected already';
    // Azure cannot disconnect a peering and keep it; without this side the two networks are apart as before.
    return { argv: call.argv, undo: az('network vnet peering delete', ...given(call, ...PEERING)) };
  },
};

const subnetUpdate: Reversal = {
  read: (call) => {
    const odd = [...call.options.keys()].find((o) => ![...PEERING, '--service-endpoints'].includes(o));
    if (odd !== undefined) return `there is no known way back from ${odd}`;
    return azRead('network vnet subnet show', given(call, ...PEERING), 'serviceEndpoints[].service');
  },
  plan: (call, before) => {
    const old = Array.isArray(before) ? before.map(String) : [];
    const clear = ['--set', 'serviceEndpoints=[]'];
    const back = old.length > 0 ? ['--service-endpoints', ...old] : clear;
    return { argv: call.argv, undo: az('network vnet subnet update', ...given(call, ...PEERING), ...back) };
  },
};

const nicUpdate: Reversal = {
  read: (call) => {
    const odd = [...call.options.keys()].find(
      (o) => !['--resource-group', '--name', '--ip-forwarding'].includes(o),
    );
    if (odd !== undefined) return `there is no known way back from ${odd}`;
    return azRead('network nic show', given(call, '--resource-group', '--name'), 'enableIPForwarding');
  },
  plan: (call, before) => {
    const was = String(before === true);
    if (was === option(call, '--ip-forwarding').toLowerCase()) return 'it is so already';
    return {
      argv: call.argv,
      undo: az(
        'network nic update',
        ...given(call, '--resource-group', '--name'),
        ...['--ip-forwarding', was],
      ),
    };
  },
};

export const NETWORK: Readonly<Record<string, Reversal>> = {
  'network nsg rule create': ruleCreate,
  'network nsg rule update': ruleUpdate,
  'network nsg rule delete': ruleDelete,
  'network route-table route create': routeCreate,
  'network route-table route update': routeWrite,
  'network route-table route delete': routeWrite,
  'network vnet peering sync': peeringSync,
  'network vnet subnet update': subnetUpdate,
  'network nic update': nicUpdate,
};
