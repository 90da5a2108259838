/**
 * The world as the simulation needs it: at which time which paths, wires and applications are in force. All
 * knowledge of what passes and what does not comes from `trace`; here its stations become stages.
 *
 * S1 A conversation that filters once let pass goes on when a rule against it appears later; routes, wires and
 *    power take effect at once.
 * S2 An appliance that enters the path of a running conversation did not see its beginning, and drops it.
 */
import { parseIp } from '../network/ipv4.ts';
import { findVm } from '../network/places.ts';
import { trace } from '../network/trace.ts';
import type { Trace, Path as TracedPath } from '../network/types.ts';
import type { Flow, Timeline, Vm, World } from '../world/types.ts';
import type { EventQueue } from './sim/events.ts';
import { Link, type LinkSpec } from './sim/link.ts';
import type { Path } from './sim/path.ts';
import { mix, seedOf } from './sim/random.ts';
import { stagesOf } from './stages.ts';

export interface Route {
  readonly there: Path;
  readonly back: Path;
  readonly accepts: boolean;
  readonly forbidden: boolean;
  readonly filtered: boolean;
  readonly appliances: ReadonlySet<string>;
}

/** A time in which the world stays the same. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly world: World;
}

interface Epoch {
  readonly fromMs: number;
  /** Microseconds of simulation time. */
  readonly fromUs: number;
  readonly world: World;
  readonly routes: Map<string, Route>;
}

const CLEAN: LinkSpec = {
  lossPct: 0,
  delayUs: 0,
  jitterUs: 0,
  rate: null,
  mtu: 9000,
  tellsMtu: false,
  reorderPct: 0,
  corruptPct: 0,
};

export class Scene {
  readonly seed: number;
  readonly #events: EventQueue;
  readonly #epochs: readonly Epoch[];
  readonly #links = new Map<string, Link>();

  constructor(events: EventQueue, timeline: Timeline, originMs: number, endMs: number) {
    this.#events = events;
    const moments = [originMs, ...timeline.changes.filter((ms) => ms > originMs && ms < endMs)];
    this.#epochs = moments.map((ms) => ({
      fromMs: ms,
      fromUs: (ms - originMs) * 1000,
      world: timeline.at(ms),
      routes: new Map(),
    }));
    this.seed = seedOf(this.#epochs[0]!.world.id);
  }

  get first(): World {
    return this.#epochs[0]!.world;
  }

  stretches(endMs: number): readonly Stretch[] {
    return this.#epochs.map(({ fromMs, world }, index) => ({
      fromMs,
      toMs: this.#epochs[index + 1]?.fromMs ?? endMs,
      world,
    }));
  }

  epochAt(us: number): number {
    let index = this.#epochs.length - 1;
    while (index > 0 && this.#epochs[index]!.fromUs > us) index -= 1;
    return index;
  }

  worldAt(us: number): World {
    return this.#epochs[this.epochAt(us)]!.world;
  }

  vmAt(us: number, name: string): Vm | undefined {
    return findVm(this.worldAt(us), name);
  }

  /** How a conversation of this flow with this address travels now, given when it began. */
  route(flow: Flow, address: string, sourcePort: number, beganIn: number): Route {
    const nowIn = this.epochAt(this.#events.now);
    const current = this.#route(nowIn, flow, address, sourcePort);
    if (nowIn === beganIn) return current;
    const began = this.#route(beganIn, flow, address, sourcePort);
    if (current.filtered && !began.filtered) return began;
    if ([...current.appliances].every((vm) => began.appliances.has(vm))) return current;
    return { ...current, there: stopAtStrangers(current.there), back: [] };
  }

  #route(epoch: number, flow: Flow, address: string, sourcePort: number): Route {
    const { routes, world } = this.#epochs[epoch]!;
    // Source ports matter to rules only by the thousand: all of ours are ephemeral.
    const key = `${flow.from} ${address} ${flow.protocol} ${flow.port}`;
    const known = routes.get(key);
    if (known !== undefined) return known;
    const traced = trace(world, {
      from: { kind: 'vm', name: flow.from },
      to: address,
      protocol: flow.protocol,
      port: flow.port,
      sourcePort,
    });
    const made = this.#routeOf(world, traced, address);
    routes.set(key, made);
    return made;
  }

  #routeOf(world: World, traced: Trace, address: string): Route {
    const link = (vm: string, way: 'in' | 'out') => this.#link(vm, way);
    const { request, reply } = traced;
    const stages = (path: TracedPath | null, forward: boolean): Path =>
      path === null ? [{ kind: 'drop' }] : stagesOf(world, path, { link, asked: address, forward, request });
    const end = request?.end;
    return {
      there: stages(request, true),
      back: stages(reply, false),
      accepts: end?.kind === 'delivered',
      forbidden: traced.outcome.kind === 'answered' && traced.outcome.forbidden,
      filtered: isFiltered(request),
      appliances: new Set(request?.stations.flatMap((s) => (s.kind === 'forward' ? [s.vm] : [])) ?? []),
    };
  }

  #link(vm: string, way: 'in' | 'out'): Link {
    const key = `${vm} ${way}`;
    const known = this.#links.get(key);
    if (known !== undefined) return known;
    const specs = this.#epochs.map(({ world }) => specOf(findVm(world, vm)));
    const salt = mix(this.seed, seedOf(key));
    const made = new Link(this.#events, salt, (us) => specs[this.epochAt(us)] ?? CLEAN);
    this.#links.set(key, made);
    return made;
  }
}

function isFiltered(path: TracedPath | null): boolean {
  const last = path?.stations.at(-1);
  return (
    (last?.kind === 'nsg' && last.access === 'Deny') ||
    (last?.kind === 'os_firewall' && last.action !== 'ACCEPT')
  );
}

/** S2: the way leads up to the first appliance and no further. */
function stopAtStrangers(path: Path): Path {
  const at = path.findIndex((stage) => stage.kind === 'forward');
  return at < 0 ? path : [...path.slice(0, at), { kind: 'drop' }];
}

function specOf(vm: Vm | undefined): LinkSpec {
  if (vm === undefined) return CLEAN;
  const { link } = vm;
  return {
    lossPct: link.loss_pct,
    delayUs: link.delay_ms * 1000,
    jitterUs: link.jitter_ms * 1000,
    rate: link.rate_mbit === null ? null : link.rate_mbit / 8,
    mtu: link.mtu,
    tellsMtu: link.icmp_frag_needed,
    reorderPct: link.reorder_pct,
    corruptPct: link.corrupt_pct,
  };
}

export function addressNumber(address: string): number {
  return parseIp(address) ?? 0;
}
