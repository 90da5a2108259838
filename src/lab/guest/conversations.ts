/** The TCP conversations a machine would have open right now, as its kernel would describe them. */
import { findVm } from '../network/places.ts';
import { stableNumber } from '../network/service-tags.ts';
import { trace } from '../network/trace.ts';
import type { Trace } from '../network/types.ts';
import type { Flow, Link, Vm } from '../world/types.ts';
import type { Machine } from './machine.ts';

export interface Conversation {
  readonly state: 'ESTAB' | 'SYN-SENT' | 'SYN-RECV';
  readonly side: 'client' | 'server';
  readonly flow: Flow;
  readonly local: string;
  readonly localPort: number;
  readonly peer: string;
  readonly peerPort: number;
  readonly recvQ: number;
  readonly sendQ: number;
  readonly rttMs: number;
  readonly jitterMs: number;
  readonly retransmits: number;
  /** Sends again and again what never arrives. */
  readonly stuck: boolean;
  readonly reordering: boolean;
}

const FULL_BUFFER = 212_992;

export function conversations(machine: Machine): readonly Conversation[] {
  const { world, vm } = machine;
  return world.flows.flatMap((flow) => {
    if (flow.protocol !== 'tcp' || flow.port === null) return [];
    const client = findVm(world, flow.from);
    if (client?.power !== 'running') return [];
    if (client.name !== vm.name && !mayBeFor(machine, flow)) return [];
    const found = trace(world, {
      from: { kind: 'vm', name: flow.from },
      to: flow.to,
      protocol: 'tcp',
      port: flow.port,
    });
    if (client.name === vm.name) return asClient(machine, flow, found);
    return asServer(machine, flow, client, found);
  });
}

/** A flow by name or address to this machine; anything with a host name must be traced to know. */
function mayBeFor(machine: Machine, flow: Flow): boolean {
  return flow.to === machine.name || flow.to === machine.vm.ip || !findVm(machine.world, flow.to);
}

function asClient(machine: Machine, flow: Flow, found: Trace): Conversation[] {
  const { kind } = found.outcome;
  const target = found.request?.destination;
  if (!found.request || kind === 'refused' || kind === 'name_not_resolved' || !target) return [];
  const server = target.kind === 'vm' ? findVm(machine.world, target.name) : undefined;
  return [
    describe(machine, flow, 'client', kind === 'answered' ? 'ESTAB' : 'SYN-SENT', target.ip, found, server),
  ];
}

function asServer(machine: Machine, flow: Flow, client: Vm, found: Trace): Conversation[] {
  const end = found.request?.destination;
  if (found.request?.end.kind !== 'delivered' || end?.kind !== 'vm' || end.name !== machine.name) return [];
  const state = found.outcome.kind === 'answered' ? 'ESTAB' : 'SYN-RECV';
  return [describe(machine, flow, 'server', state, client.ip, found, machine.vm)];
}

function describe(
  machine: Machine,
  flow: Flow,
  side: Conversation['side'],
  state: Conversation['state'],
  peer: string,
  found: Trace,
  server: Vm | undefined,
): Conversation {
  const ephemeral =
    32_768 +
    (stableNumber(`${flow.from}>${flow.to}:${flow.port}:${Math.floor(machine.now / 60_000)}`) % 28_000);
  const there = found.request!.properties;
  const back = found.reply?.properties;
  const slow = state === 'ESTAB' && server?.app.reads_slowly === true;
  const mtu = Math.min(there.mtu, back?.mtu ?? 1500);
  const told = there.fragNeededTold && (back?.fragNeededTold ?? true);
  const sends = side === 'client' ? flow.bytes : flow.reply_bytes;
  const stuck = state === 'ESTAB' && mtu < 1500 && !told && sends + 52 > mtu;
  const loss =
    100 -
    (100 - there.lossPct) *
      (1 - (back?.lossPct ?? 0) / 100) *
      (1 - there.corruptPct / 100) *
      (1 - (back?.corruptPct ?? 0) / 100);
  return {
    state,
    side,
    flow,
    local: machine.vm.ip,
    localPort: side === 'client' ? ephemeral : flow.port!,
    peer,
    peerPort: side === 'client' ? flow.port! : ephemeral,
    recvQ: slow && side === 'server' ? FULL_BUFFER : 0,
    sendQ: stuck
      ? Math.min(sends, 14_480)
      : slow && side === 'client'
        ? 98_304
        : state === 'SYN-SENT'
          ? 1
          : 0,
    rttMs: there.delayMs + (back?.delayMs ?? there.delayMs),
    jitterMs: there.jitterMs + (back?.jitterMs ?? 0),
    retransmits: stuck ? 9 : Math.round(loss * 0.4),
    stuck,
    reordering: there.reorderPct + (back?.reorderPct ?? 0) > 0,
  };
}

/** Counters of the NIC: what the wire did to what passed it since the machine came up. */
export interface NicCounters {
  readonly rxPackets: number;
  readonly txPackets: number;
  readonly rxBytes: number;
  readonly txBytes: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txDropped: number;
  readonly overlimits: number;
}

const UPTIME_BEFORE_MS = 9 * 86_400_000;

export function nicCounters(machine: Machine): NicCounters {
  const { vm, world } = machine;
  const packets = world.flows
    .filter((f) => f.from === vm.name || f.to === vm.name || vm.ip_forwarding)
    .reduce((sum, f) => sum + (3600_000 / f.every_ms) * (8 + (f.bytes + f.reply_bytes) / 1448), 0);
  const rx = Math.round(packets * 24) + 180_000 + (stableNumber(vm.name) % 50_000);
  const tx = Math.round(rx * 0.94);
  const share = (percent: number, of: number) => Math.round((of * percent) / 100);
  const { link } = vm;
  return {
    rxPackets: rx,
    txPackets: tx,
    rxBytes: rx * 612,
    txBytes: tx * 584,
    rxErrors: share(link.corrupt_pct, rx),
    rxDropped: share(link.loss_pct, rx),
    txDropped: link.rate_mbit === null ? 0 : share(2, tx),
    overlimits: link.rate_mbit === null ? 0 : share(35, tx),
  };
}

export function isImpaired(link: Link): boolean {
  return link.loss_pct + link.corrupt_pct + link.reorder_pct > 0;
}

export function uptimeMs(machine: Machine): number {
  return machine.now - machine.start + UPTIME_BEFORE_MS;
}
