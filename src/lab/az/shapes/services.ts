/** Private and public DNS zones, and storage accounts, as the CLI prints them. */
import type { Json, JsonObject } from '../../../core/index.ts';
import { regionOfGroup } from '../../network/places.ts';
import type { DnsRecord, DnsZone, RecordType, StorageAccount, World } from '../../world/types.ts';
import { resourceId } from '../ids.ts';
import { child, object, ref, TYPES } from './common.ts';
import { vnetId } from './network.ts';

export function privateZoneShape(zone: DnsZone): JsonObject {
  return {
    ...child(zone.group, TYPES.privateZone, zone.zone),
    location: 'global',
    maxNumberOfRecordSets: 25_000,
    maxNumberOfVirtualNetworkLinks: 1000,
    maxNumberOfVirtualNetworkLinksWithRegistration: 100,
    numberOfRecordSets: recordSets(zone).length + 1,
    numberOfVirtualNetworkLinks: zone.links.length,
    numberOfVirtualNetworkLinksWithRegistration: 0,
  };
}

export function publicZoneShape(zone: DnsZone): JsonObject {
  const { provisioningState: _, ...head } = child(zone.group, TYPES.publicZone, zone.zone);
  return {
    ...head,
    location: 'global',
    maxNumberOfRecordSets: 10_000,
    nameServers: ['ns1-01.azure-dns.com.', 'ns2-01.azure-dns.net.'],
    numberOfRecordSets: recordSets(zone).length + 2,
    tags: {},
    zoneType: 'Public',
  };
}

export function linkShape(world: World, zone: DnsZone, vnet: string, name: string): JsonObject {
  const target = world.vnets.find((v) => v.name === vnet)!;
  return {
    ...child(zone.group, TYPES.link, zone.zone, name),
    location: 'global',
    registrationEnabled: false,
    virtualNetwork: ref(vnetId(target)),
    virtualNetworkLinkState: 'Completed',
  };
}

/** Records of one name and type are one record set. */
export interface RecordSet {
  readonly name: string;
  readonly type: RecordType;
  readonly ttl: number;
  readonly values: readonly string[];
}

export function recordSets(zone: DnsZone): readonly RecordSet[] {
  const sets = new Map<string, RecordSet>();
  for (const record of zone.records) {
    const key = `${record.name}|${record.type}`;
    sets.set(key, merged(sets.get(key), record));
  }
  return [...sets.values()];
}

function merged(set: RecordSet | undefined, record: DnsRecord): RecordSet {
  const { name, type, ttl, value } = record;
  return { name, type, ttl, values: [...(set?.values ?? []), ...value] };
}

export function recordSetShape(zone: DnsZone, set: RecordSet, isPrivate: boolean): JsonObject {
  const base = isPrivate ? TYPES.privateZone : TYPES.publicZone;
  const { provisioningState, ...head } = child(zone.group, `${base}/${set.type}`, zone.zone, set.name);
  const fqdn = set.name === '@' ? `${zone.zone}.` : `${set.name}.${zone.zone}.`;
  return object({
    ...head,
    ...(isPrivate
      ? { isAutoRegistered: false, ttl: set.ttl }
      : { TTL: set.ttl, provisioningState: provisioningState! }),
    fqdn,
    ...(isPrivate ? recordData(set) : inCapitals(recordData(set))),
  });
}

/** Public DNS writes `ARecords` where private DNS writes `aRecords`. */
function inCapitals(data: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key.replace(/^[a-z]+(?=Record)/, (type) => type.toUpperCase()),
      value,
    ]),
  );
}

function recordData(set: RecordSet): Record<string, Json> {
  const first = set.values[0] ?? '';
  switch (set.type) {
    case 'A':
      return { aRecords: set.values.map((ipv4Address) => ({ ipv4Address })) };
    case 'AAAA':
      return { aaaaRecords: set.values.map((ipv6Address) => ({ ipv6Address })) };
    case 'CNAME':
      return { cnameRecord: { cname: first } };
    case 'TXT':
      return { txtRecords: set.values.map((value) => ({ value: [value] })) };
    case 'PTR':
      return { ptrRecords: set.values.map((ptrdname) => ({ ptrdname })) };
    case 'MX':
      return {
        mxRecords: set.values.map((v) => ({
          exchange: v.split(' ').at(-1)!,
          preference: Number(v.split(' ')[0]) || 10,
        })),
      };
    case 'SRV':
      return {
        srvRecords: set.values.map((v) => {
          const [priority, weight, port, target] = v.split(' ');
          return {
            port: Number(port),
            priority: Number(priority),
            target: target ?? '',
            weight: Number(weight),
          };
        }),
      };
  }
}

/** Every zone has one. */
export function soaShape(zone: DnsZone): JsonObject {
  const { provisioningState: _, ...head } = child(zone.group, `${TYPES.privateZone}/SOA`, zone.zone, '@');
  return {
    ...head,
    fqdn: `${zone.zone}.`,
    isAutoRegistered: false,
    soaRecord: {
      email: 'azureprivatedns-host.microsoft.com',
      expireTime: 2_419_200,
      host: 'azureprivatedns.net',
      minimumTtl: 10,
      refreshTime: 3600,
      retryTime: 300,
      serialNumber: 1,
    },
    ttl: 3600,
  };
}

export function blobEndpoint(account: StorageAccount): string {
  return `https://${account.name}.blob.core.windows.net/`;
}

export function storageShape(world: World, account: StorageAccount): JsonObject {
  const { etag: _, ...head } = child(account.group, TYPES.storage, account.name);
  const location = regionOfGroup(world, account.group);
  const endpoint = (service: string) => `https://${account.name}.${service}.core.windows.net/`;
  return {
    ...head,
    accessTier: 'Hot',
    allowBlobPublicAccess: false,
    allowSharedKeyAccess: account.keys,
    creationTime: new Date(Date.parse(world.now) - 120 * 86_400_000).toISOString(),
    enableHttpsTrafficOnly: true,
    kind: 'StorageV2',
    location,
    minimumTlsVersion: 'TLS1_2',
    networkRuleSet: {
      bypass: 'AzureServices',
      defaultAction: account.default_action,
      ...networkRules(world, account),
    },
    primaryEndpoints: {
      blob: endpoint('blob'),
      dfs: endpoint('dfs'),
      file: endpoint('file'),
      queue: endpoint('queue'),
      table: endpoint('table'),
    },
    primaryLocation: location,
    publicNetworkAccess: 'Enabled',
    sku: { name: 'Standard_LRS', tier: 'Standard' },
    statusOfPrimary: 'available',
    tags: {},
  };
}

export function networkRules(world: World, account: StorageAccount): JsonObject {
  return {
    ipRules: account.ip_rules.map((ipAddressOrRange) => ({ action: 'Allow', ipAddressOrRange })),
    ipv6Rules: [],
    resourceAccessRules: null,
    virtualNetworkRules: account.subnet_rules.map((rule) => ({
      action: 'Allow',
      state: 'Succeeded',
      virtualNetworkResourceId: subnetRuleId(world, rule),
    })),
  };
}

function subnetRuleId(world: World, rule: string): string {
  const [vnet, subnet] = rule.split('/') as [string, string];
  const group = world.vnets.find((v) => v.name === vnet)!.group;
  return resourceId(group, TYPES.subnet, vnet, subnet);
}
