/** A traced path as the stages packets pass, with the time each part takes. */
import { parseIp } from '../network/ipv4.ts';
import { findVm, subnetOf } from '../network/places.ts';
import { SHARED_OUTBOUND_IP } from '../network/storage.ts';
import type { Station, Path as TracedPath } from '../network/types.ts';
import type { World } from '../world/types.ts';
import type { Link } from './sim/link.ts';
import type { Path, Stage } from './sim/path.ts';
import { ICMP } from './wire/icmp.ts';

export interface StageContext {
  link(vm: string, way: 'in' | 'out'): Link;
  /** The address the client asked for: its own when a public one is translated on the way. */
  readonly asked: string;
  readonly forward: boolean;
  readonly request: TracedPath | null;
}

const FORWARDING_US = 60;
/** From the NIC to the socket: what a capture shows between a packet and its answer. */
const STACK_US = 28;

export function stagesOf(world: World, path: TracedPath, context: StageContext): Path {
  const legUs = distanceUs(path) / Math.max(1, legs(path));
  const stages = path.stations.flatMap((station) => stagesAt(world, station, context, legUs));
  // An answer that retraces the request's steps has no routes of its own: its distance lies behind the sender.
  if (legs(path) === 0) stages.splice(afterSender(path, stages), 0, { kind: 'wire', delayUs: legUs });
  const receiver = path.end.kind === 'dropped' ? null : path.destination.kind;
  if (receiver === 'vm') stages.push({ kind: 'wire', delayUs: STACK_US });
  if (path.end.kind === 'dropped') stages.push({ kind: 'drop' });
  if (path.end.kind === 'rejected' && path.end.with === 'icmp_port_unreachable') {
    stages.push({ kind: 'reject', by: numberOf(path.end.by.ip), icmp: ICMP.portUnreachable });
  }
  const translation = translationOf(world, context);
  return translation === null ? stages : withTranslation(stages, translation, context.forward);
}

function stagesAt(world: World, station: Station, context: StageContext, legUs: number): readonly Stage[] {
  switch (station.kind) {
    case 'capture':
      return [{ kind: 'tap', point: station.vm, way: station.way }];
    case 'link':
      return [
        { kind: 'link', link: context.link(station.vm, station.way), teller: tellerOf(world, station.vm) },
      ];
    case 'route':
      return [{ kind: 'wire', delayUs: legUs }];
    case 'forward':
      return station.forwards && station.knowsConversation
        ? [{ kind: 'forward', by: addressOf(world, station.vm), delayUs: FORWARDING_US }]
        : [];
    // What these decide is the end of the path; peering distance is part of the whole.
    case 'os_firewall':
    case 'nsg':
    case 'peering':
    case 'power':
    case 'destination':
      return [];
  }
}

/** Place of the first stage beyond the sending VM's own wire; 0 when the sender is no VM of the world. */
function afterSender(path: TracedPath, stages: readonly Stage[]): number {
  if (path.source.kind !== 'vm') return 0;
  return stages.findIndex((stage) => stage.kind === 'link') + 1;
}

function legs(path: TracedPath): number {
  return path.stations.filter((station) => station.kind === 'route').length;
}

/** Propagation that no wire of the world explains. */
function distanceUs(path: TracedPath): number {
  const wires = path.stations.reduce((sum, s) => sum + (s.kind === 'link' ? s.link.delay_ms : 0), 0);
  return Math.max(50, (path.properties.delayMs - wires) * 1000);
}

function addressOf(world: World, vm: string): number {
  return numberOf(findVm(world, vm)?.ip ?? '0.0.0.0');
}

function numberOf(ip: string): number {
  return parseIp(ip) ?? 0;
}

/** Fragmentation-needed comes from an appliance itself, or from the gateway of the VM's subnet. */
function tellerOf(world: World, name: string): number {
  const vm = findVm(world, name);
  if (vm === undefined) return 0;
  if (vm.ip_forwarding) return numberOf(vm.ip);
  return gatewayOf(subnetOf(world, vm).prefix);
}

/** Azure gives the first host address of every subnet to its gateway. */
export function gatewayOf(prefix: string): number {
  return numberOf(prefix.split('/')[0] ?? '') + 1;
}

interface Translation {
  readonly clientPrivate: number;
  readonly clientPublic: number;
  readonly serverPrivate: number;
  readonly serverPublic: number;
}

/** A VM reached by its public address: both ends see the other's public face and their own private one. */
function translationOf(world: World, context: StageContext): Translation | null {
  const { request, asked } = context;
  if (request === null || request.destination.kind !== 'vm' || request.destination.ip === asked) return null;
  const client = world.vms.find((vm) => vm.ip === request.source.ip);
  return {
    clientPrivate: numberOf(request.source.ip),
    clientPublic: numberOf(client?.public_ip ?? SHARED_OUTBOUND_IP),
    serverPrivate: numberOf(request.destination.ip),
    serverPublic: numberOf(asked),
  };
}

/** Rewrites addresses at the first stretch of fabric. */
function withTranslation(stages: readonly Stage[], how: Translation, forward: boolean): Path {
  const rewritten: Stage = forward
    ? { kind: 'translate', source: how.clientPublic, destination: how.serverPrivate }
    : { kind: 'translate', source: how.serverPublic, destination: how.clientPrivate };
  const at = stages.findIndex((stage) => stage.kind === 'wire');
  const first: Stage[] = forward
    ? []
    : [{ kind: 'translate', source: how.serverPrivate, destination: how.clientPublic }];
  if (at < 0) return [...first, ...stages];
  return [...first, ...stages.slice(0, at + 1), rewritten, ...stages.slice(at + 1)];
}
