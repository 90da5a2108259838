/** What a network tool stands on: a world, a machine, a moment. The same tools run on the engineer's own
 *  machine and inside the emulated guests; only the origin differs. */

import { resolve } from '../network/dns.ts';
import { parseIp } from '../network/ipv4.ts';
import { findVm } from '../network/places.ts';
import { stableNumber } from '../network/service-tags.ts';
import { trace } from '../network/trace.ts';
import type { Origin, Resolution, Trace } from '../network/types.ts';
import type { FlowProtocol, Vm, World } from '../world/types.ts';

export interface ToolContext {
  readonly world: World;
  readonly origin: Origin;
  /** World time in milliseconds. */
  readonly now: number;
  /** 0 ≤ x < 1, the same sequence for the same call at the same moment. */
  readonly random: () => number;
}

export interface ToolResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export function toolContext(world: World, origin: Origin, now: number, seed: string): ToolContext {
  let state = stableNumber(`${world.id}:${now}:${seed}`) || 1;
  const random = () => {
    // xorshift32: good enough to decide which ping is lost.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
  return { world, origin, now, random };
}

export const out = (stdout: string, code = 0): ToolResult => ({ stdout, stderr: '', code });
export const fail = (stderr: string, code: number): ToolResult => ({ stdout: '', stderr, code });

export interface Target {
  readonly shown: string;
  readonly address: string | null;
  readonly resolution: Resolution | null;
}

/** A host as a person types it: an address, or a name that is looked up from where the tool runs. */
export function target(ctx: ToolContext, host: string): Target {
  if (parseIp(host) !== undefined) return { shown: host, address: host, resolution: null };
  if (host === 'localhost') return { shown: host, address: '127.0.0.1', resolution: null };
  const own = ctx.origin.kind === 'vm' ? ctx.origin.name.toLowerCase() : '';
  if (host.toLowerCase() === own)
    return { shown: host, address: findVm(ctx.world, host)!.ip, resolution: null };
  const resolution = resolve(ctx.world, ctx.origin, host);
  return { shown: host, address: resolution.address, resolution };
}

export interface Attempt {
  readonly trace: Trace;
  /** Both ways, without jitter. */
  readonly rttMs: number;
  readonly jitterMs: number;
  /** Of a packet and its answer together. */
  readonly lossPct: number;
  readonly mtu: number;
  readonly mtuAt: string | null;
  readonly fragNeededTold: boolean;
  readonly rateMbit: number | null;
  /** The VM that answers, if it is one. */
  readonly vm: Vm | undefined;
}

/** Sends something to an address and looks what comes of it. */
export function attempt(
  ctx: ToolContext,
  address: string,
  protocol: FlowProtocol,
  port: number | null,
): Attempt {
  const found = trace(ctx.world, { from: ctx.origin, to: address, protocol, port });
  const there = found.request?.properties;
  const back = found.reply?.properties;
  const narrow = [there, back].filter((p) => p !== undefined).sort((a, b) => a.mtu - b.mtu)[0];
  const rates = [there?.rateMbit, back?.rateMbit].filter((r): r is number => typeof r === 'number');
  const end = found.request?.destination;
  const pass = (p: { lossPct: number; corruptPct: number } | undefined) =>
    p ? (1 - p.lossPct / 100) * (1 - p.corruptPct / 100) : 1;
  return {
    trace: found,
    rttMs: (there?.delayMs ?? 0) + (back?.delayMs ?? there?.delayMs ?? 0),
    jitterMs: (there?.jitterMs ?? 0) + (back?.jitterMs ?? 0),
    lossPct: (1 - pass(there) * pass(back)) * 100,
    mtu: narrow?.mtu ?? 1500,
    mtuAt: narrow?.mtuAt ?? null,
    fragNeededTold: narrow?.fragNeededTold ?? true,
    rateMbit: rates.length === 0 ? null : Math.min(...rates),
    vm: end?.kind === 'vm' ? findVm(ctx.world, end.name) : undefined,
  };
}

/** One measured round trip: distance, jitter either way, and a little noise. */
export function sampleRtt(ctx: ToolContext, a: Attempt): number {
  const jitter = (ctx.random() * 2 - 1) * a.jitterMs;
  return Math.max(0.05, a.rttMs + jitter + ctx.random() * 0.15);
}

export function isLost(ctx: ToolContext, a: Attempt): boolean {
  return ctx.random() * 100 < a.lossPct;
}

export function isOwnAddress(ctx: ToolContext, address: string): boolean {
  if (address.startsWith('127.')) return true;
  return ctx.origin.kind === 'vm' && findVm(ctx.world, ctx.origin.name)?.ip === address;
}
