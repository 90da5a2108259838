/** ARP of the captured VM: it asks for its gateway and for neighbours on its subnet, and the fabric answers. */
import { inPrefix, parseIp } from '../network/ipv4.ts';
import { findVm, macAddress, subnetOf } from '../network/places.ts';
import type { World } from '../world/types.ts';
import type { Recorder } from './recorder.ts';
import { drawBetween, mix, seedOf } from './sim/random.ts';
import { gatewayOf } from './stages.ts';
import type { Stage } from './traffic.ts';
import { FABRIC_MAC, parseMac } from './wire/ethernet.ts';

/** How often a Linux host in use checks a neighbour again. */
const EVERY_MS = 24_000;
const ANSWER_US = 180;
const NOBODY = new Uint8Array(6);

export function playNeighbours(stage: Stage, vmName: string, recorder: Recorder): void {
  const { events, scene, originMs, endMs } = stage;
  const vm = findVm(scene.first, vmName);
  if (vm === undefined) return;
  const mac = parseMac(macAddress(vm));
  const senderIp = parseIp(vm.ip) ?? 0;
  for (const targetIp of neighboursOf(scene.first, vmName)) {
    const seed = mix(scene.seed, seedOf(`arp ${vm.name} ${targetIp}`));
    const phase = drawBetween(seed, 1, 0, EVERY_MS);
    const first = Math.ceil((originMs - phase) / EVERY_MS) * EVERY_MS + phase;
    for (let atMs = first; atMs < endMs; atMs += EVERY_MS) {
      events.at((atMs - originMs) * 1000, () => {
        if (scene.vmAt(events.now, vmName)?.power !== 'running') return;
        const request = {
          operation: 'request',
          senderMac: mac,
          senderIp,
          targetMac: NOBODY,
          targetIp,
        } as const;
        recorder.seeArp(events.now, request);
        events.after(ANSWER_US, () => {
          recorder.seeArp(events.now, {
            operation: 'reply',
            senderMac: FABRIC_MAC,
            senderIp: targetIp,
            targetMac: mac,
            targetIp: senderIp,
          });
        });
      });
    }
  }
}

/** Addresses the VM needs a hardware address for: partners on its subnet, and the gateway for all others. */
function neighboursOf(world: World, vmName: string): ReadonlySet<number> {
  const vm = findVm(world, vmName)!;
  const { prefix } = subnetOf(world, vm);
  const partners = world.flows.flatMap((flow) => {
    if (flow.from === vm.name) return [findVm(world, flow.to)?.ip ?? flow.to];
    if (flow.to === vm.name || flow.to === vm.ip) return [findVm(world, flow.from)?.ip ?? ''];
    return [];
  });
  const near = partners.filter((ip) => parseIp(ip) !== undefined && inPrefix(prefix, ip));
  const far = partners.some((ip) => !near.includes(ip));
  const addresses = near.map((ip) => parseIp(ip)!);
  return new Set(far || vm.ip_forwarding ? [...addresses, gatewayOf(prefix)] : addresses);
}
