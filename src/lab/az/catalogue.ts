/** Everything in the subscription, for `az resource` and for finding what a name in the activity log means. */
import type { Json, JsonObject } from '../../core/index.ts';
import { regionOfGroup } from '../network/places.ts';
import type { World } from '../world/types.ts';
import { resourceId } from './ids.ts';
import { TYPES, WATCHER_GROUP, watcherName } from './shapes/common.ts';
import { AGENT, diskName, extensionShape, vmShape } from './shapes/compute.ts';
import {
  nicShape,
  nsgShape,
  publicIpName,
  publicIpShape,
  routeTableShape,
  vnetShape,
} from './shapes/network.ts';
import { privateZoneShape, publicZoneShape, storageShape } from './shapes/services.ts';

export interface CatalogueEntry {
  readonly id: string;
  readonly type: string;
  /** For a part of a resource: `parent/part`. */
  readonly name: string;
  readonly group: string;
  readonly location: string;
  /** Everything the resource's own `show` prints. */
  readonly detail: () => JsonObject;
}

export function catalogue(world: World): readonly CatalogueEntry[] {
  const entry = (
    group: string,
    type: string,
    names: readonly string[],
    detail: () => JsonObject,
    location?: string,
  ): CatalogueEntry => ({
    id: resourceId(group, type, ...names),
    type,
    name: names.join('/'),
    group,
    location: location ?? regionOfGroup(world, group),
    detail,
  });
  return [
    ...world.vms.flatMap((v) => [
      entry(v.group, TYPES.vm, [v.name], () => vmShape(world, v)),
      entry(v.group, TYPES.extension, [v.name, AGENT], () => extensionShape(world, v)),
      entry(v.group, TYPES.disk, [diskName(v)], () => ({
        diskState: v.power === 'running' ? 'Attached' : 'Reserved',
      })),
      entry(v.group, TYPES.nic, [v.nic], () => nicShape(world, v)),
      ...(v.public_ip === null
        ? []
        : [entry(v.group, TYPES.publicIp, [publicIpName(v)], () => publicIpShape(world, v))]),
    ]),
    ...world.nsgs.map((n) => entry(n.group, TYPES.nsg, [n.name], () => nsgShape(world, n))),
    ...world.route_tables.map((t) => entry(t.group, TYPES.table, [t.name], () => routeTableShape(world, t))),
    ...world.vnets.map((v) => entry(v.group, TYPES.vnet, [v.name], () => vnetShape(world, v))),
    ...world.private_dns.flatMap((z) => [
      entry(z.group, TYPES.privateZone, [z.zone], () => privateZoneShape(z), 'global'),
      ...z.links.map((vnet) => entry(z.group, TYPES.link, [z.zone, `${vnet}-link`], () => ({}), 'global')),
    ]),
    ...world.public_dns.map((z) =>
      entry(z.group, TYPES.publicZone, [z.zone], () => publicZoneShape(z), 'global'),
    ),
    ...world.storage.map((s) => entry(s.group, TYPES.storage, [s.name], () => storageShape(world, s))),
    ...world.watchers.map((r) => entry(WATCHER_GROUP, TYPES.watcher, [watcherName(r)], () => ({}), r)),
  ];
}

const HEAD = new Set([
  'id',
  'name',
  'type',
  'location',
  'resourceGroup',
  'tags',
  'etag',
  'sku',
  'kind',
  'zones',
]);

/** What `az resource list` and `show` print; `full` adds the properties. */
export function genericShape(entry: CatalogueEntry, full: boolean): JsonObject {
  const detail = full ? entry.detail() : {};
  const properties = Object.fromEntries(Object.entries(detail).filter(([key]) => !HEAD.has(key)));
  return {
    extendedLocation: null,
    id: entry.id,
    identity: null,
    kind: (detail.kind as Json | undefined) ?? null,
    location: entry.location,
    managedBy: null,
    name: full ? entry.name.split('/').at(-1)! : entry.name,
    plan: null,
    ...(full ? { properties } : { createdTime: null, changedTime: null, provisioningState: 'Succeeded' }),
    resourceGroup: entry.group,
    sku: (detail.sku as Json | undefined) ?? null,
    tags: {},
    type: entry.type,
  };
}
