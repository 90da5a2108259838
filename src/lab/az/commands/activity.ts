import type { JsonObject } from '../../../core/index.ts';
import { type Call, type Commands, optionalGroup } from '../call.ts';
import { catalogue } from '../catalogue.ts';
import { AzError } from '../errors.ts';
import { groupId, parseResourceId, resourceId, SUBSCRIPTION, TENANT } from '../ids.ts';
import { guidFor, TYPES } from '../shapes/common.ts';

interface Entry {
  readonly ms: number;
  readonly caller: string;
  readonly operation: string;
  readonly id: string;
  readonly status: string;
}

function entries(call: Call): readonly Entry[] {
  const past = call.world.activity.map((a) => ({
    ms: Date.parse(a.time),
    caller: a.caller,
    operation: a.operation,
    id: idOf(call, a.resource),
    status: a.status,
  }));
  const since = call.lab.state.activity.map((a) => ({
    ms: Date.parse(a.time),
    caller: a.caller,
    operation: a.operation,
    id: a.resource,
    status: a.status,
  }));
  return [...past, ...since].filter((e) => e.ms <= call.lab.now).sort((a, b) => b.ms - a.ms);
}

/** World files name what was touched; the log has ids. `nsg/rule`, `vnet/subnet` and the like name a part. */
function idOf(call: Call, name: string): string {
  if (name.startsWith('/')) return name;
  const { world } = call;
  const lower = name.toLowerCase();
  const whole = catalogue(world).find((e) => e.name.toLowerCase() === lower);
  if (whole) return whole.id;
  const [owner, part] = name.split('/') as [string, string | undefined];
  if (part !== undefined) {
    const nsg = world.nsgs.find((n) => n.name === owner);
    if (nsg) return resourceId(nsg.group, TYPES.rule, owner, part);
    const table = world.route_tables.find((t) => t.name === owner);
    if (table) return resourceId(table.group, TYPES.route, owner, part);
    const vnet = world.vnets.find((v) => v.name === owner);
    if (vnet)
      return resourceId(
        vnet.group,
        vnet.peerings.some((p) => p.name === part) ? TYPES.peering : TYPES.subnet,
        owner,
        part,
      );
  }
  const peered = world.vnets.find((v) => v.peerings.some((p) => p.name === name));
  if (peered) return resourceId(peered.group, TYPES.peering, peered.name, name);
  const group = world.groups.find((g) => g.name === name) ?? world.groups[0]!;
  return group.name === name
    ? groupId(group.name)
    : `${groupId(group.name)}/providers/Microsoft.Resources/deployments/${name}`;
}

/** `90m`, `6h`, `7d`, `1d12h`. */
function offsetMs(text: string): number {
  const match = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?$/.exec(text);
  if (!match || text === '')
    throw new AzError(`argument --offset: invalid timedelta_type value: '${text}'`, 2);
  const [days, hours, minutes] = match.slice(1).map((n) => Number(n ?? 0)) as [number, number, number];
  return ((days * 24 + hours) * 60 + minutes) * 60_000;
}

function moment(words: readonly string[] | undefined, argument: string): number | undefined {
  if (words === undefined) return undefined;
  const text = words.join(' ').trim();
  const ms = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(' ', 'T')}Z`);
  const day = Date.parse(text);
  const found = Number.isNaN(ms) ? day : ms;
  if (Number.isNaN(found)) throw new AzError(`argument ${argument}: invalid datetime value: '${text}'`, 2);
  return found;
}

function list(call: Call): readonly JsonObject[] {
  const { args } = call;
  const group = optionalGroup(call);
  const end = moment(args.list('--end-time'), '--end-time') ?? call.lab.now;
  const start =
    moment(args.list('--start-time'), '--start-time') ?? end - offsetMs(args.text('--offset') ?? '6h');
  const id = args.text('--resource-id')?.toLowerCase();
  const namespace = args.text('--namespace')?.toLowerCase();
  const caller = args.text('--caller')?.toLowerCase();
  const status = args.text('--status')?.toLowerCase();
  const found = entries(call).filter(
    (e) =>
      e.ms >= start &&
      e.ms <= end &&
      (group === undefined ||
        e.id.toLowerCase().startsWith(`${groupId(group)}/`.toLowerCase()) ||
        e.id === groupId(group)) &&
      (id === undefined || e.id.toLowerCase() === id || e.id.toLowerCase().startsWith(`${id}/`)) &&
      (namespace === undefined || e.id.toLowerCase().includes(`/providers/${namespace}`)) &&
      (caller === undefined || e.caller.toLowerCase() === caller) &&
      (status === undefined || e.status.toLowerCase() === status),
  );
  return found
    .slice(0, args.number('--max-events') ?? 50)
    .map((e) => selected(shape(e), args.list('--select')));
}

function selected(entry: JsonObject, keys: readonly string[] | undefined): JsonObject {
  if (keys === undefined) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => keys.includes(key)));
}

function shape(e: Entry): JsonObject {
  const parts = parseResourceId(e.id);
  const both = (value: string) => ({ localizedValue: value, value });
  const time = new Date(e.ms).toISOString();
  const event = guidFor(`${e.ms}:${e.operation}:${e.id}`);
  const group = /\/resourceGroups\/([^/]+)/i.exec(e.id)?.[1] ?? '';
  return {
    authorization: { action: e.operation, role: 'Contributor', scope: e.id },
    caller: e.caller,
    category: both('Administrative'),
    claims: {},
    correlationId: event,
    description: '',
    eventDataId: event,
    eventName: { localizedValue: 'End request', value: 'EndRequest' },
    eventTimestamp: time,
    httpRequest: null,
    id: `${e.id}/events/${event}/ticks/${e.ms}`,
    level: /fail/i.test(e.status) ? 'Error' : 'Informational',
    operationId: event,
    operationName: both(e.operation),
    properties: {
      entity: e.id,
      eventCategory: 'Administrative',
      hierarchy: SUBSCRIPTION,
      message: e.operation,
    },
    resourceGroup: group,
    resourceGroupName: group,
    resourceId: e.id,
    resourceProviderName: both(parts?.type.split('/')[0] ?? 'Microsoft.Resources'),
    resourceType: both(parts?.type ?? 'Microsoft.Resources/subscriptions/resourcegroups'),
    status: both(e.status),
    subStatus: { localizedValue: '', value: '' },
    submissionTimestamp: time,
    subscriptionId: SUBSCRIPTION,
    tenantId: TENANT,
  };
}

export const activityCommands: Commands = { 'monitor activity-log list': { run: list } };
