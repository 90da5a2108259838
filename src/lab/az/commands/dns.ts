import type { Json, JsonObject } from '../../../core/index.ts';
import { parseIp } from '../../network/ipv4.ts';
import type { DnsRecord, DnsZone, RecordType } from '../../world/types.ts';
import {
  type Call,
  type Commands,
  commit,
  findIn,
  needConfirmation,
  needGroup,
  optionalGroup,
} from '../call.ts';
import { armError, childNotFound, resourceNotFound } from '../errors.ts';
import { nameOf, resourceId } from '../ids.ts';
import { TYPES } from '../shapes/common.ts';
import {
  linkShape,
  privateZoneShape,
  publicZoneShape,
  recordSetShape,
  recordSets,
  soaShape,
} from '../shapes/services.ts';

type Side = 'private_dns' | 'public_dns';

function needZone(call: Call, side: Side, argument: string): DnsZone {
  const group = needGroup(call.world, call.args.need('--resource-group'));
  const name = call.args.need(argument);
  const zone = findIn(call.world[side], group, name, (z) => z.zone);
  if (!zone)
    throw resourceNotFound(side === 'private_dns' ? TYPES.privateZone : TYPES.publicZone, name, group);
  return zone;
}

/** Links have names of their own in Azure; the world file only names the VNet. */
function linkName(call: Call, zone: DnsZone, vnet: string): string {
  return call.lab.state.linkNames[`${zone.zone}/${vnet}`] ?? `${vnet}-link`;
}

function findLink(call: Call, zone: DnsZone, name: string): string | undefined {
  return zone.links.find((vnet) => linkName(call, zone, vnet).toLowerCase() === name.toLowerCase());
}

function needSet(call: Call, side: Side, type: RecordType, argument = '--name'): JsonObject {
  const zone = needZone(call, side, '--zone-name');
  const name = call.args.need(argument).toLowerCase();
  const set = recordSets(zone).find((s) => s.type === type && s.name === name);
  const base = side === 'private_dns' ? TYPES.privateZone : TYPES.publicZone;
  if (!set) throw childNotFound(resourceId(zone.group, `${base}/${type}`, zone.zone, name));
  return recordSetShape(zone, set, side === 'private_dns');
}

function listSets(call: Call, side: Side, type?: RecordType): readonly JsonObject[] {
  const zone = needZone(call, side, '--zone-name');
  const sets = recordSets(zone).filter((s) => type === undefined || s.type === type);
  const shapes = sets.map((s) => recordSetShape(zone, s, side === 'private_dns'));
  return type === undefined && side === 'private_dns' ? [soaShape(zone), ...shapes] : shapes;
}

const recordActivity = (zone: DnsZone, type: RecordType, name: string, verb: 'write' | 'delete') => ({
  operation: `Microsoft.Network/privateDnsZones/${type}/${verb}`,
  resource: resourceId(zone.group, `${TYPES.privateZone}/${type}`, zone.zone, name),
  group: zone.group,
});

/** Replaces the record set of a name and type by these values; none removes it. */
async function storeSet(
  call: Call,
  zone: DnsZone,
  type: RecordType,
  name: string,
  values: readonly string[],
  ttl = 3600,
): Promise<DnsZone> {
  const i = call.world.private_dns.indexOf(zone);
  const others = zone.records.filter((r) => !(r.type === type && r.name === name));
  const record: DnsRecord = { name, type, value: values, ttl };
  const records = values.length === 0 ? others : [...others, record];
  const world = await commit(
    call,
    [{ op: 'replace', path: `/private_dns/${i}/records`, value: records }],
    recordActivity(zone, type, name, values.length === 0 ? 'delete' : 'write'),
  );
  return world.private_dns[i]!;
}

async function addAddress(call: Call): Promise<JsonObject> {
  const zone = needZone(call, 'private_dns', '--zone-name');
  const name = call.args.need('--record-set-name').toLowerCase();
  const address = call.args.need('--ipv4-address');
  if (parseIp(address) === undefined)
    throw armError('BadRequest', `The ipv4 address '${address}' is not valid.`);
  const old = recordSets(zone).find((s) => s.type === 'A' && s.name === name);
  const values = [...new Set([...(old?.values ?? []), address])];
  const after = await storeSet(call, zone, 'A', name, values, old?.ttl);
  return recordSetShape(after, recordSets(after).find((s) => s.type === 'A' && s.name === name)!, true);
}

async function removeAddress(call: Call): Promise<Json | undefined> {
  const zone = needZone(call, 'private_dns', '--zone-name');
  const name = call.args.need('--record-set-name').toLowerCase();
  const old = recordSets(zone).find((s) => s.type === 'A' && s.name === name);
  const address = call.args.need('--ipv4-address');
  if (!old?.values.includes(address)) throw childNotFound(`${name} with ${address}`);
  const after = await storeSet(
    call,
    zone,
    'A',
    name,
    old.values.filter((v) => v !== address),
    old.ttl,
  );
  const left = recordSets(after).find((s) => s.type === 'A' && s.name === name);
  return left && recordSetShape(after, left, true);
}

async function createLink(call: Call): Promise<JsonObject> {
  const zone = needZone(call, 'private_dns', '--zone-name');
  const name = call.args.need('--name');
  const wanted = nameOf(call.args.need('--virtual-network')).toLowerCase();
  const vnet = call.world.vnets.find((v) => v.name.toLowerCase() === wanted);
  if (!vnet) throw resourceNotFound(TYPES.vnet, nameOf(call.args.need('--virtual-network')), zone.group);
  if (zone.links.includes(vnet.name))
    throw armError(
      'Conflict',
      `A virtual network cannot be linked to the same zone twice: ${vnet.name} is linked to ${zone.zone} already.`,
    );
  const i = call.world.private_dns.indexOf(zone);
  call.change({
    state: (s) => ({ ...s, linkNames: { ...s.linkNames, [`${zone.zone}/${vnet.name}`]: name } }),
  });
  const world = await commit(call, [{ op: 'add', path: `/private_dns/${i}/links/-`, value: vnet.name }], {
    operation: 'Microsoft.Network/privateDnsZones/virtualNetworkLinks/write',
    resource: resourceId(zone.group, TYPES.link, zone.zone, name),
    group: zone.group,
  });
  return linkShape(world, world.private_dns[i]!, vnet.name, name);
}

async function deleteLink(call: Call): Promise<undefined> {
  needConfirmation(call);
  const zone = needZone(call, 'private_dns', '--zone-name');
  const name = call.args.need('--name');
  const vnet = findLink(call, zone, name);
  if (vnet === undefined) return undefined;
  const path = `/private_dns/${call.world.private_dns.indexOf(zone)}/links/${zone.links.indexOf(vnet)}`;
  await commit(call, [{ op: 'remove', path }], {
    operation: 'Microsoft.Network/privateDnsZones/virtualNetworkLinks/delete',
    resource: resourceId(zone.group, TYPES.link, zone.zone, name),
    group: zone.group,
  });
  return undefined;
}

const setRows = (result: Json) =>
  (Array.isArray(result) ? result : [result]).map((set: Record<string, Json>) => ({
    Name: set.name!,
    ResourceGroup: set.resourceGroup!,
    Ttl: set.ttl ?? set.TTL ?? null,
    Type: String(set.type).split('/').at(-1)!,
    ...(set.isAutoRegistered === undefined ? {} : { AutoRegistered: set.isAutoRegistered }),
    Metadata: ' ',
  }));

const zones = (call: Call, side: Side) => {
  const group = optionalGroup(call);
  return call.world[side].filter((z) => group === undefined || z.group === group);
};

export const dnsCommands: Commands = {
  'network private-dns zone list': {
    run: (call) => zones(call, 'private_dns').map(privateZoneShape),
    table: (result) =>
      (result as readonly Record<string, Json>[]).map((z) => ({
        ZoneName: z.name!,
        ResourceGroup: z.resourceGroup!,
        RecordSets: z.numberOfRecordSets!,
        MaxRecordSets: z.maxNumberOfRecordSets!,
        VirtualNetworkLinks: z.numberOfVirtualNetworkLinks!,
        MaxVirtualNetworkLinks: z.maxNumberOfVirtualNetworkLinks!,
        VirtualNetworkLinksWithRegistration: z.numberOfVirtualNetworkLinksWithRegistration!,
        MaxVirtualNetworkLinksWithRegistration: z.maxNumberOfVirtualNetworkLinksWithRegistration!,
        ProvisioningState: z.provisioningState!,
      })),
  },
  'network private-dns zone show': {
    run: (call) => privateZoneShape(needZone(call, 'private_dns', '--name')),
  },
  'network private-dns link vnet list': {
    run: (call) => {
      const zone = needZone(call, 'private_dns', '--zone-name');
      return zone.links.map((vnet) => linkShape(call.world, zone, vnet, linkName(call, zone, vnet)));
    },
    table: (result) =>
      (result as readonly Record<string, Json>[]).map((l) => ({
        LinkName: l.name!,
        ResourceGroup: l.resourceGroup!,
        RegistrationEnabled: l.registrationEnabled!,
        VirtualNetwork: (l.virtualNetwork as { id: string }).id,
        LinkState: l.virtualNetworkLinkState!,
        ProvisioningState: l.provisioningState!,
      })),
  },
  'network private-dns link vnet show': {
    run: (call) => {
      const zone = needZone(call, 'private_dns', '--zone-name');
      const name = call.args.need('--name');
      const vnet = findLink(call, zone, name);
      if (vnet === undefined) throw childNotFound(resourceId(zone.group, TYPES.link, zone.zone, name));
      return linkShape(call.world, zone, vnet, name);
    },
  },
  'network private-dns link vnet create': { writes: true, run: createLink },
  'network private-dns link vnet delete': { writes: true, run: deleteLink },
  'network private-dns record-set list': { run: (call) => listSets(call, 'private_dns'), table: setRows },
  'network private-dns record-set a list': {
    run: (call) => listSets(call, 'private_dns', 'A'),
    table: setRows,
  },
  'network private-dns record-set a show': {
    run: (call) => needSet(call, 'private_dns', 'A'),
    table: setRows,
  },
  'network private-dns record-set a create': {
    // An empty set answers nothing and is not kept: records are what counts.
    run: (call) => {
      const zone = needZone(call, 'private_dns', '--zone-name');
      const name = call.args.need('--name').toLowerCase();
      return recordSetShape(
        zone,
        { name, type: 'A', ttl: call.args.number('--ttl') ?? 3600, values: [] },
        true,
      );
    },
  },
  'network private-dns record-set a add-record': { writes: true, run: addAddress },
  'network private-dns record-set a remove-record': { writes: true, run: removeAddress },
  'network private-dns record-set a update': { run: (call) => needSet(call, 'private_dns', 'A') },
  'network private-dns record-set a delete': {
    writes: true,
    run: async (call) => {
      needConfirmation(call);
      const zone = needZone(call, 'private_dns', '--zone-name');
      await storeSet(call, zone, 'A', call.args.need('--name').toLowerCase(), []);
      return undefined;
    },
  },
  'network private-dns record-set cname list': {
    run: (call) => listSets(call, 'private_dns', 'CNAME'),
    table: setRows,
  },
  'network private-dns record-set cname show': {
    run: (call) => needSet(call, 'private_dns', 'CNAME'),
    table: setRows,
  },
  'network private-dns record-set cname set-record': {
    writes: true,
    run: async (call) => {
      const zone = needZone(call, 'private_dns', '--zone-name');
      const name = call.args.need('--record-set-name').toLowerCase();
      const after = await storeSet(call, zone, 'CNAME', name, [call.args.need('--cname')]);
      return recordSetShape(
        after,
        recordSets(after).find((s) => s.type === 'CNAME' && s.name === name)!,
        true,
      );
    },
  },
  'network dns zone list': { run: (call) => zones(call, 'public_dns').map(publicZoneShape) },
  'network dns zone show': { run: (call) => publicZoneShape(needZone(call, 'public_dns', '--name')) },
  'network dns record-set list': { run: (call) => listSets(call, 'public_dns'), table: setRows },
  'network dns record-set a list': { run: (call) => listSets(call, 'public_dns', 'A'), table: setRows },
  'network dns record-set a show': { run: (call) => needSet(call, 'public_dns', 'A'), table: setRows },
};
