/**
 * The world's flows as conversations. Which conversation begins when is a matter of world time alone (never of
 * when a capture starts), so captures at two ends, started seconds apart, speak of the same conversations.
 */
import { resolve } from '../network/dns.ts';
import { findVm } from '../network/places.ts';
import type { Flow, World } from '../world/types.ts';
import { contentFor, dnsContent, type Subject, udpBytes } from './content.ts';
import { addressNumber, type Scene } from './scene.ts';
import type { Carrier } from './sim/carrier.ts';
import { lookUp, pingConversation, udpConversation } from './sim/datagrams.ts';
import type { EventQueue } from './sim/events.ts';
import type { Exchange } from './sim/exchange.ts';
import { draw, drawBetween, mix, seedOf } from './sim/random.ts';
import { TcpConversation, type TcpTraits } from './sim/tcp-conversation.ts';
import { type DnsAnswer, RCODE } from './wire/dns.ts';

/** Ephemeral ports of Linux; every flow has a share of its own, so no two conversations meet on one. */
const PORTS = { first: 32_768, count: 28_232 } as const;
const ABOUT = { phase: 31, start: 32, resets: 33, identifier: 34 } as const;
/** What a storage account answers to those it does not admit: a short XML text. */
const FORBIDDEN_BYTES = 600;

export interface Stage {
  readonly events: EventQueue;
  readonly carrier: Carrier;
  readonly scene: Scene;
  readonly originMs: number;
  readonly endMs: number;
}

/** A change may alter the flows themselves, so each stretch of time plays those of its own world. */
export function playFlows(stage: Stage): void {
  for (const { fromMs, toMs, world } of stage.scene.stretches(stage.endMs)) {
    world.flows.forEach((flow, index) => {
      playFlow(stage, flow, { index, of: world.flows.length, fromMs, toMs });
    });
  }
}

interface Slot {
  readonly index: number;
  readonly of: number;
  readonly fromMs: number;
  readonly toMs: number;
}

function playFlow(stage: Stage, flow: Flow, slot: Slot): void {
  const { events, originMs } = stage;
  const name = `${flow.from} ${flow.to} ${flow.protocol} ${flow.port} ${slot.index}`;
  const seed = mix(stage.scene.seed, seedOf(name));
  const phaseMs = draw(seed, ABOUT.phase) * flow.every_ms;
  const share = Math.max(1, Math.floor(PORTS.count / slot.of));
  const first = PORTS.first + ((slot.index * share) % PORTS.count);
  const begin = (number: number) => {
    const conversation = mix(seed, number);
    // Timers of applications are never exact.
    const late = draw(conversation, ABOUT.start) * Math.min(20, flow.every_ms * 0.03);
    const atMs = number * flow.every_ms + phaseMs + late;
    if (atMs >= slot.toMs) return;
    events.at((atMs - originMs) * 1000, () => {
      begin(number + 1);
      const clientPort = first + (number % share);
      converse(stage, flow, { seed: conversation, flowSeed: seed, number, clientPort });
    });
  };
  begin(Math.ceil((slot.fromMs - phaseMs) / flow.every_ms));
}

interface Turn {
  readonly seed: number;
  readonly flowSeed: number;
  readonly number: number;
  readonly clientPort: number;
}

function converse(stage: Stage, flow: Flow, turn: Turn): void {
  const { scene, events } = stage;
  const world = scene.worldAt(events.now);
  const client = findVm(world, flow.from);
  if (client === undefined || client.power !== 'running') return;
  const server = findVm(world, flow.to);
  if (server !== undefined) talk(stage, flow, turn, server.ip, flow.to);
  else if (/^[\d.]+$/u.test(flow.to)) talk(stage, flow, turn, flow.to, flow.to);
  else {
    const account = world.storage.some((s) => s.name === flow.to);
    resolveFirst(stage, flow, turn, account ? `${flow.to}.blob.core.windows.net` : flow.to);
  }
}

/** Asks the VM's resolver, over a path of its own; the conversation begins when an address comes back. */
function resolveFirst(stage: Stage, flow: Flow, turn: Turn, name: string): void {
  const { scene, events, carrier } = stage;
  const from = { kind: 'vm', name: flow.from } as const;
  const { server } = resolve(scene.worldAt(events.now), from, name);
  const query: Flow = { ...flow, protocol: 'udp', port: 53, to: server };
  const seed = mix(turn.seed, 53);
  const nothing = { fill: () => undefined };
  const exchange: Exchange = {
    ...ends(stage, query, server, turn.clientPort),
    seed,
    clientPort: turn.clientPort,
    serverPort: 53,
    bytes: 0,
    replyBytes: 0,
    request: nothing,
    reply: nothing,
  };
  lookUp(events, carrier, exchange, {
    name,
    id: mix(seed, 1) & 0xffff,
    answer: () => answerTo(scene.worldAt(events.now), flow.from, name),
    resolved: (address) => {
      // Nothing else in the world has this number, so the text form is only for the trace.
      const text = [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
      talk(stage, flow, turn, text, name);
    },
  });
}

function answerTo(world: World, from: string, name: string): DnsAnswer | null {
  const found = resolve(world, { kind: 'vm', name: from }, name);
  const cnames = found.answers.filter((a) => a.type === 'CNAME').map((a) => a.value.replace(/\.$/u, ''));
  const addresses = found.answers.filter((a) => a.type === 'A').map((a) => addressNumber(a.value));
  const authority = found.zone ?? name.slice(name.indexOf('.') + 1);
  switch (found.status) {
    case 'TIMEOUT':
      return null;
    case 'SERVFAIL':
      return { rcode: RCODE.serverFailure, cnames, addresses, ttl: 0 };
    case 'NXDOMAIN':
      return { rcode: RCODE.nameError, cnames, addresses, authority, ttl: 0 };
    case 'NOERROR':
      return {
        rcode: RCODE.noError,
        cnames,
        addresses,
        ttl: found.answers[0]?.ttl ?? 60,
        ...(addresses.length === 0 ? { authority } : {}),
      };
  }
}

/** Addresses, and the ways between them as they are at any moment. */
function ends(stage: Stage, flow: Flow, address: string, sourcePort: number) {
  const { scene, events } = stage;
  const began = scene.epochAt(events.now);
  let epoch = began;
  let current = scene.route(flow, address, sourcePort, began);
  const route = () => {
    const now = scene.epochAt(events.now);
    if (now !== epoch) {
      epoch = now;
      current = scene.route(flow, address, sourcePort, began);
    }
    return current;
  };
  return {
    client: addressNumber(scene.vmAt(events.now, flow.from)?.ip ?? '0.0.0.0'),
    server: addressNumber(address),
    ways: { there: () => route().there, back: () => route().back, accepts: () => route().accepts },
  };
}

function talk(stage: Stage, flow: Flow, turn: Turn, address: string, host: string): void {
  const { scene, events, carrier } = stage;
  const route = scene.route(flow, address, turn.clientPort, scene.epochAt(events.now));
  const exchange = exchangeOf(stage, flow, turn, address, host, route.forbidden);
  switch (flow.protocol) {
    case 'tcp':
      new TcpConversation(
        events,
        carrier,
        exchange,
        traitsOf(scene.worldAt(events.now), flow, address, turn),
      ).start();
      return;
    case 'udp':
      udpConversation(events, carrier, exchange);
      return;
    case 'icmp':
      pingConversation(events, carrier, exchange, {
        identifier: mix(turn.flowSeed, ABOUT.identifier) & 0xffff,
        sequence: turn.number % 65_536,
      });
      return;
  }
}

function exchangeOf(
  stage: Stage,
  flow: Flow,
  turn: Turn,
  address: string,
  host: string,
  forbidden: boolean,
): Exchange {
  const port = flow.port ?? 0;
  const both = {
    protocol: flow.protocol === 'udp' ? 'udp' : 'tcp',
    port,
    host,
    forbidden,
    seed: turn.seed,
  } as const;
  const request: Subject = { ...both, forward: true, bytes: flow.bytes };
  const reply: Subject = {
    ...both,
    forward: false,
    bytes: forbidden ? Math.min(FORBIDDEN_BYTES, flow.reply_bytes) : flow.reply_bytes,
  };
  const common = {
    ...ends(stage, flow, address, turn.clientPort),
    seed: turn.seed,
    clientPort: turn.clientPort,
    serverPort: port,
  };
  if (flow.protocol === 'udp') {
    if (port === 53) {
      const asked = dnsContent(request, 'www.example.com', 0);
      const told = dnsContent(reply, 'www.example.com', addressNumber('93.184.215.14'));
      return {
        ...common,
        bytes: asked.bytes,
        replyBytes: told.bytes,
        request: asked.content,
        reply: told.content,
      };
    }
    const bytes = udpBytes(port, flow.bytes);
    const replyBytes = flow.reply_bytes === 0 ? 0 : udpBytes(port, flow.reply_bytes);
    return { ...common, bytes, replyBytes, request: contentFor(request), reply: contentFor(reply) };
  }
  return {
    ...common,
    bytes: request.bytes,
    replyBytes: reply.bytes,
    request: contentFor(request),
    reply: contentFor(reply),
  };
}

/** What the applications at both ends are like. An application's habits are those of the server it is. */
function traitsOf(world: World, flow: Flow, address: string, turn: Turn): TcpTraits {
  const server = world.vms.find((vm) => vm.ip === address || vm.public_ip === address);
  const client = findVm(world, flow.from);
  const resets = draw(turn.seed, ABOUT.resets) * 100 < (server?.app.resets_pct ?? 0);
  if (server?.app.reads_slowly === true) return { slowReader: 'server', resets };
  // A VM that serves nobody can only be slow at reading what it asked for.
  const serves = world.flows.some((other) => findVm(world, other.to) === client || other.to === client?.ip);
  const slowClient = client?.app.reads_slowly === true && !serves;
  return { slowReader: slowClient ? 'client' : null, resets };
}

/** A rough count of packets a second, to keep the time before a capture affordable. */
export function packetsPerSecond(world: World): number {
  let total = 0;
  for (const flow of world.flows) {
    const packets = 12 + Math.min(20_000, ((flow.bytes + flow.reply_bytes) / 1448) * 1.5);
    total += (packets * 1000) / flow.every_ms;
  }
  return total;
}

/** How far a VM's clock is off: a few milliseconds, the same in every capture of it. */
export function drawClockOffsetUs(worldSeed: number, vm: string): number {
  const seed = mix(worldSeed, seedOf(vm));
  const size = drawBetween(seed, 1, 300, 4_000);
  return Math.round(draw(seed, 2) < 0.5 ? -size : size);
}
