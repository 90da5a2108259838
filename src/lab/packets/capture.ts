import { CODES, EXIT, WritError } from '../../core/index.ts';
import { findVm, macAddress } from '../network/places.ts';
import { applyJsonPatch } from '../world/patch.ts';
import { makeTimeline } from '../world/timeline.ts';
import type { Timeline, World } from '../world/types.ts';
import { type CaptureFilter, compileFilters } from './filter.ts';
import { playNeighbours } from './neighbours.ts';
import { Recorder } from './recorder.ts';
import { Scene } from './scene.ts';
import { Carrier } from './sim/carrier.ts';
import { EventQueue } from './sim/events.ts';
import { LEAVE_AFTER_US } from './sim/tcp-conversation.ts';
import { drawClockOffsetUs, packetsPerSecond, playFlows } from './traffic.ts';
import { parseMac } from './wire/ethernet.ts';
import { WHOLE_PACKET } from './wire/pcap-writer.ts';

export interface CaptureOptions {
  readonly vm: string;
  readonly startMs: number;
  readonly durationMs: number;
  readonly bytesPerPacket?: number;
  readonly filters?: readonly CaptureFilter[];
  readonly maxBytes?: number;
  readonly resolution?: 'us' | 'ns';
}

export interface CaptureResult {
  readonly bytes: Uint8Array;
  readonly packets: number;
  /** Why the capture ended before its time, if it did. */
  readonly cutShort: 'packets' | 'bytes' | null;
}

export const MAX_PACKETS = 200_000;
/** Azure's own limit on a capture file. */
const MAX_BYTES = 1_073_741_824;
const MAX_DURATION_MS = 18_000_000;
/** However busy the world, the simulation ends. */
const MAX_EVENTS = 3_000_000;
/** Packets that may be simulated only to know what was under way when the capture began. */
const LOOK_BACK_PACKETS = 60_000;
const GRIDS_MS = [10_000, 1_000, 100];

export function synthesizeCapture(world: World | Timeline, options: CaptureOptions): Uint8Array {
  return captureStatistics(world, options).bytes;
}

export function captureStatistics(source: World | Timeline, options: CaptureOptions): CaptureResult {
  const timeline = 'at' in source ? source : makeTimeline(source, [], applyJsonPatch);
  const world = timeline.at(options.startMs);
  const vm = findVm(world, options.vm);
  checkOptions(options, vm !== undefined, world);
  const originMs = originOf(world, options.startMs);
  const endMs = options.startMs + options.durationMs;
  const events = new EventQueue(originMs);
  const scene = new Scene(events, timeline, originMs, endMs);
  const recorder = new Recorder({
    vm: vm!.name,
    mac: parseMac(macAddress(vm!)),
    originMs,
    startMs: options.startMs,
    endMs,
    clockOffsetUs: drawClockOffsetUs(scene.seed, vm!.name),
    snaplen: (options.bytesPerPacket ?? 0) === 0 ? WHOLE_PACKET : options.bytesPerPacket!,
    resolution: options.resolution ?? 'us',
    filter: compileFilters(options.filters),
    maxPackets: MAX_PACKETS,
    maxBytes: Math.min(options.maxBytes ?? MAX_BYTES, MAX_BYTES),
  });
  const carrier = new Carrier(events, (point, way, packet) => {
    if (point === vm!.name) recorder.see(events.now, way, packet);
  });
  const stage = { events, carrier, scene, originMs, endMs };
  playFlows(stage);
  playNeighbours(stage, vm!.name, recorder);
  events.run(
    options.durationMs * 1000 + (options.startMs - originMs) * 1000,
    () => recorder.cutShort !== null || events.processed >= MAX_EVENTS,
  );
  const cutShort = recorder.cutShort ?? (events.processed >= MAX_EVENTS ? 'packets' : null);
  return { bytes: recorder.finish(), packets: recorder.packets, cutShort };
}

/**
 * Where the simulation begins: early enough for conversations under way at the start of the capture, on a grid,
 * so that captures started one after the other share the same past.
 */
function originOf(world: World, startMs: number): number {
  const affordable = (LOOK_BACK_PACKETS / Math.max(1, packetsPerSecond(world))) * 1000;
  const lookBack = Math.min(LEAVE_AFTER_US / 1000, affordable);
  const grid = GRIDS_MS.find((ms) => ms <= lookBack) ?? 10;
  return Math.floor((startMs - lookBack) / grid) * grid;
}

function checkOptions(options: CaptureOptions, known: boolean, world: World): void {
  if (!known) {
    throw new WritError(CODES.invalid_input, `no VM ${JSON.stringify(options.vm)} in world ${world.id}`, {
      suggestion: `Name one of: ${world.vms.map((vm) => vm.name).join(', ')}.`,
      exit: EXIT.usage,
    });
  }
  const { startMs, durationMs, bytesPerPacket = 0, maxBytes = 1 } = options;
  const wrong = [
    !(Number.isFinite(startMs) && startMs >= 0) && 'startMs',
    !(durationMs > 0 && durationMs <= MAX_DURATION_MS) && 'durationMs',
    !(Number.isInteger(bytesPerPacket) && bytesPerPacket >= 0 && bytesPerPacket <= 4_294_967_295) &&
      'bytesPerPacket',
    !(maxBytes > 0) && 'maxBytes',
  ].filter((name) => name !== false);
  if (wrong.length === 0) return;
  throw new WritError(CODES.invalid_input, `capture of ${options.vm}: ${wrong.join(', ')} out of range`, {
    suggestion: 'A capture lasts up to 18000 s; times and sizes are positive numbers.',
    exit: EXIT.usage,
  });
}
