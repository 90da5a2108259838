import type { Json } from '../../../core/index.ts';
import { regionName } from '../../world/complete.ts';
import { type Call, type Commands, needGroup, needResourceId, optionalGroup } from '../call.ts';
import { type CatalogueEntry, catalogue, genericShape } from '../catalogue.ts';
import { AzError, resourceNotFound } from '../errors.ts';
import { resourceId } from '../ids.ts';
import { WATCHER_GROUP } from '../shapes/common.ts';

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

function byId(all: readonly CatalogueEntry[], id: string): CatalogueEntry {
  const parts = needResourceId(id);
  const found = all.find((e) => same(e.id, resourceId(parts.group, parts.type, ...parts.names)));
  if (!found) throw resourceNotFound(parts.type, parts.names.join('/'), parts.group);
  return found;
}

function show(call: Call): Json {
  const all = catalogue(call.world);
  const ids = call.args.list('--ids');
  if (ids !== undefined) {
    const shapes = ids.map((id) => genericShape(byId(all, id), true));
    return shapes.length === 1 ? shapes[0]! : shapes;
  }
  const name = call.args.text('--name');
  const type = call.args.text('--resource-type');
  const given = call.args.text('--resource-group');
  if (name === undefined || type === undefined || given === undefined)
    throw new AzError(
      '(--ids ID | --resource-group RG --resource-type TYPE [--namespace NAMESPACE] [--parent PARENT] --name NAME) are required: give the ids, or all of the others',
      1,
    );
  const group = same(given, WATCHER_GROUP) ? WATCHER_GROUP : needGroup(call.world, given);
  const full = type.includes('/') ? type : `${call.args.text('--namespace') ?? ''}/${type}`;
  const found = all.find((e) => same(e.group, group) && same(e.type, full) && same(e.name, name));
  if (!found) throw resourceNotFound(full, name, group);
  return genericShape(found, true);
}

function list(call: Call): Json {
  const group = optionalGroup(call);
  const { args } = call;
  const type = args.text('--resource-type');
  const namespace = args.text('--namespace');
  const name = args.text('--name');
  const location = args.text('--location');
  return catalogue(call.world)
    .filter(
      (e) =>
        (group === undefined || e.group === group) &&
        (type === undefined || same(e.type, type)) &&
        (namespace === undefined || same(e.type.split('/')[0]!, namespace)) &&
        (name === undefined || same(e.name, name)) &&
        (location === undefined || e.location === regionName(location)),
    )
    .map((e) => genericShape(e, false));
}

/** Kinds of resource the lab does not have: asked for, there are none. */
const nothing = {
  run: (call: Call): Json => {
    optionalGroup(call);
    return [];
  },
};

export const resourceCommands: Commands = {
  'resource show': { run: show },
  'resource list': {
    run: list,
    table: (result) =>
      (result as readonly Record<string, Json>[]).map((r) => ({
        Name: r.name!,
        ResourceGroup: r.resourceGroup!,
        Location: r.location!,
        Type: r.type!,
        Status: '',
      })),
  },
  'network lb list': nothing,
  'network nat gateway list': nothing,
  'network vnet-gateway list': nothing,
  'network private-endpoint list': nothing,
  'network application-gateway list': nothing,
  'network asg list': nothing,
  'aks list': nothing,
  'aks show': {
    run: (call) => {
      const group = needGroup(call.world, call.args.need('--resource-group'));
      throw resourceNotFound('Microsoft.ContainerService/managedClusters', call.args.need('--name'), group);
    },
  },
};
