import type { Json } from '../../../core/index.ts';
import { parsePrefix } from '../../network/ipv4.ts';
import { DEFAULT_RULES } from '../../network/nsg.ts';
import { SERVICE_TAG } from '../../network/service-tags.ts';
import type { Nsg, NsgRule } from '../../world/types.ts';
import { type Call, type Commands, commit, findIn, needGroup, optionalGroup } from '../call.ts';
import { AzError, armError, childNotFound, resourceNotFound } from '../errors.ts';
import { genericSettings } from '../generic-update.ts';
import { resourceId } from '../ids.ts';
import { TYPES } from '../shapes/common.ts';
import { nsgShape, ruleShape } from '../shapes/network.ts';

function needNsg(call: Call, argument: string): Nsg {
  const group = needGroup(call.world, call.args.need('--resource-group'));
  const name = call.args.need(argument);
  const nsg = findIn(call.world.nsgs, group, name, (n) => n.name);
  if (!nsg) throw resourceNotFound(TYPES.nsg, name, group);
  return nsg;
}

function needRule(nsg: Nsg, name: string): NsgRule {
  const lower = name.toLowerCase();
  const rule = nsg.rules.find((r) => r.name.toLowerCase() === lower);
  if (!rule) throw childNotFound(resourceId(nsg.group, TYPES.rule, nsg.name, name));
  return rule;
}

function ruleRow(rule: Json): Json {
  const r = rule as Record<string, string & readonly string[]>;
  const text = (one: string, many: string) => r[one] ?? (r[many] ?? []).join(' ');
  return {
    Name: r.name!,
    ResourceGroup: r.resourceGroup!,
    Priority: r.priority!,
    SourcePortRanges: text('sourcePortRange', 'sourcePortRanges'),
    SourceAddressPrefixes: text('sourceAddressPrefix', 'sourceAddressPrefixes'),
    SourceASG: 'None',
    Access: r.access!,
    Protocol: r.protocol!,
    Direction: r.direction!,
    DestinationPortRanges: text('destinationPortRange', 'destinationPortRanges'),
    DestinationAddressPrefixes: text('destinationAddressPrefix', 'destinationAddressPrefixes'),
    DestinationASG: 'None',
  };
}

/** The rule as the arguments would have it. */
function changedRule(call: Call, rule: NsgRule): NsgRule {
  const { args } = call;
  const set = genericSettings(args);
  const list = (option: string, one: string, many: string, old: readonly string[]) =>
    args.list(option) ?? (set.has(one) ? [set.get(one)!] : set.has(many) ? [set.get(many)!] : old);
  const word = (option: string, key: string, old: string) => args.text(option) ?? set.get(key) ?? old;
  const priority = args.number('--priority') ?? Number(set.get('priority') ?? rule.priority);
  if (!Number.isInteger(priority) || priority < 100 || priority > 4096)
    throw armError(
      'SecurityRuleInvalidPriority',
      `Security rule has invalid Priority. Value provided: ${priority} Allowed range 100-4096.`,
    );
  const changed: NsgRule = {
    name: rule.name,
    priority,
    access: cased(word('--access', 'access', rule.access)) as NsgRule['access'],
    direction: cased(word('--direction', 'direction', rule.direction)) as NsgRule['direction'],
    protocol: cased(word('--protocol', 'protocol', rule.protocol)) as NsgRule['protocol'],
    source: list('--source-address-prefixes', 'sourceAddressPrefix', 'sourceAddressPrefixes', rule.source),
    source_port: list('--source-port-ranges', 'sourcePortRange', 'sourcePortRanges', rule.source_port),
    destination: list(
      '--destination-address-prefixes',
      'destinationAddressPrefix',
      'destinationAddressPrefixes',
      rule.destination,
    ),
    destination_port: list(
      '--destination-port-ranges',
      'destinationPortRange',
      'destinationPortRanges',
      rule.destination_port,
    ),
  };
  checkRule(changed);
  return changed;
}

function checkRule(rule: NsgRule): void {
  for (const address of [...rule.source, ...rule.destination])
    if (address !== '*' && parsePrefix(address) === undefined && !SERVICE_TAG.test(address))
      throw armError(
        'SecurityRuleInvalidAddressPrefix',
        `Security rule has invalid Address prefix. Value provided: ${address}`,
      );
  for (const port of [...rule.source_port, ...rule.destination_port])
    if (port !== '*' && !/^\d{1,5}(-\d{1,5})?$/.test(port))
      throw armError(
        'SecurityRuleInvalidPortRange',
        `Security rule has invalid Port range. Value provided: ${port}. Value should be an integer OR integer range with '-' delimiter. Valid range 0-65535.`,
      );
}

function cased(text: string): string {
  return text === '*' ? text : text[0]!.toUpperCase() + text.slice(1).toLowerCase();
}

const write = (nsg: Nsg, rule: string, verb: 'write' | 'delete') => ({
  operation: `Microsoft.Network/networkSecurityGroups/securityRules/${verb}`,
  resource: resourceId(nsg.group, TYPES.rule, nsg.name, rule),
  group: nsg.group,
});

export const nsgCommands: Commands = {
  'network nsg list': {
    run: (call) => {
      const group = optionalGroup(call);
      return call.world.nsgs
        .filter((n) => group === undefined || n.group === group)
        .map((n) => nsgShape(call.world, n));
    },
  },
  'network nsg show': { run: (call) => nsgShape(call.world, needNsg(call, '--name')) },
  'network nsg rule list': {
    run: (call) => {
      const nsg = needNsg(call, '--nsg-name');
      const rules = call.args.flag('--include-default') ? [...nsg.rules, ...DEFAULT_RULES] : nsg.rules;
      return rules.map((r) => ruleShape(nsg, r));
    },
    table: (result) => (result as readonly Json[]).map(ruleRow),
  },
  'network nsg rule show': {
    run: (call) => {
      const nsg = needNsg(call, '--nsg-name');
      return ruleShape(nsg, needRule(nsg, call.args.need('--name')));
    },
    table: ruleRow,
  },
  'network nsg rule create': {
    writes: true,
    run: async (call) => {
      const nsg = needNsg(call, '--nsg-name');
      const name = call.args.need('--name');
      const index = call.world.nsgs.indexOf(nsg);
      const any = ['*'];
      const blank: NsgRule = {
        name,
        priority: 100,
        direction: 'Inbound',
        access: 'Allow',
        protocol: '*',
        source: any,
        source_port: any,
        destination: any,
        destination_port: ['80'],
      };
      const old = nsg.rules.findIndex((r) => r.name.toLowerCase() === name.toLowerCase());
      const rule = changedRule(call, blank);
      await commit(
        call,
        [
          old < 0
            ? { op: 'add', path: `/nsgs/${index}/rules/-`, value: rule }
            : { op: 'replace', path: `/nsgs/${index}/rules/${old}`, value: rule },
        ],
        write(nsg, name, 'write'),
      );
      return ruleShape(nsg, rule);
    },
  },
  'network nsg rule update': {
    writes: true,
    run: async (call) => {
      const nsg = needNsg(call, '--nsg-name');
      const old = needRule(nsg, call.args.need('--name'));
      const rule = changedRule(call, old);
      const path = `/nsgs/${call.world.nsgs.indexOf(nsg)}/rules/${nsg.rules.indexOf(old)}`;
      await commit(call, [{ op: 'replace', path, value: rule }], write(nsg, rule.name, 'write'));
      return ruleShape(nsg, rule);
    },
  },
  'network nsg rule delete': {
    writes: true,
    run: async (call) => {
      const nsg = needNsg(call, '--nsg-name');
      const name = call.args.need('--name');
      const found = nsg.rules.findIndex((r) => r.name.toLowerCase() === name.toLowerCase());
      // ARM's delete is content with what is already gone.
      if (found < 0) return undefined;
      const path = `/nsgs/${call.world.nsgs.indexOf(nsg)}/rules/${found}`;
      await commit(call, [{ op: 'remove', path }], write(nsg, name, 'delete'));
      return undefined;
    },
  },
};

export function nsgByNameOrId(call: Call, group: string, nameOrId: string): string | null {
  if (nameOrId === '' || nameOrId === 'null') return null;
  const name = nameOrId.split('/').at(-1)!;
  const nsg = call.world.nsgs.find((n) => n.name.toLowerCase() === name.toLowerCase());
  if (!nsg) throw resourceNotFound(TYPES.nsg, name, group);
  if (!nameOrId.includes('/') && nsg.group.toLowerCase() !== group.toLowerCase())
    throw new AzError(
      `Resource ${resourceId(group, TYPES.nsg, name)} referenced by resource was not found.`,
      3,
    );
  return nsg.name;
}
