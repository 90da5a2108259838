/** What a world's author may have overlooked: allowed, but worth a second look. */

import { resolve } from '../network/dns.ts';
import { maskOf, parseIp, parsePrefix } from '../network/ipv4.ts';
import { findVm, regionOfGroup, subnetOf } from '../network/places.ts';
import type { World } from './types.ts';

export function remarks(world: World): readonly string[] {
  return [
    ...reserved(world),
    ...lonelyPeerings(world),
    ...unresolved(world),
    ...unwatched(world),
    ...idle(world),
  ];
}

/** Azure keeps the first four addresses and the last one of every subnet. */
function reserved(world: World): readonly string[] {
  return world.vms.flatMap((vm) => {
    const prefix = parsePrefix(subnetOf(world, vm).prefix)!;
    const offset = parseIp(vm.ip)! - prefix.base;
    const size = 2 ** 32 - maskOf(prefix.bits);
    return offset < 4 || offset === size - 1
      ? [`${vm.name} has ${vm.ip}, an address Azure keeps for itself`]
      : [];
  });
}

function lonelyPeerings(world: World): readonly string[] {
  return world.vnets.flatMap((vnet) =>
    vnet.peerings
      .filter(
        (p) => !world.vnets.find((v) => v.name === p.remote)?.peerings.some((q) => q.remote === vnet.name),
      )
      .map((p) => `peering ${p.name} has no counterpart in ${p.remote}: it carries no traffic`),
  );
}

function unresolved(world: World): readonly string[] {
  return world.flows
    .filter(
      (f) =>
        !findVm(world, f.to) && !world.storage.some((s) => s.name === f.to) && parseIp(f.to) === undefined,
    )
    .filter((f) => resolve(world, { kind: 'vm', name: f.from }, f.to).address === null)
    .map((f) => `the flow from ${f.from} to ${f.to} finds no address: is that what is meant?`);
}

function unwatched(world: World): readonly string[] {
  const regions = new Set(world.vms.map((vm) => regionOfGroup(world, vm.group)));
  return [...regions]
    .filter((region) => !world.watchers.includes(region))
    .map((region) => `no Network Watcher in ${region}: captures and connection tests will fail there`);
}

function idle(world: World): readonly string[] {
  return world.flows.length === 0 ? ['there are no flows: captures will be empty'] : [];
}
