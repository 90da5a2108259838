/** The inside of a VM as far as a diagnosing engineer looks: a world seen from one machine, and changes to it. */
import { findVm } from '../network/places.ts';
import { stableNumber } from '../network/service-tags.ts';
import { type ToolContext, type ToolResult, toolContext } from '../tools/context.ts';
import { complete } from '../world/complete.ts';
import { applyJsonPatch } from '../world/patch.ts';
import type { Listener, PatchOperation, Vm, World } from '../world/types.ts';

export class Machine {
  readonly name: string;
  readonly now: number;
  /** When the world began: counters count from a while before. */
  readonly start: number;
  readonly seed: string;
  readonly variables = new Map<string, string>();
  readonly patches: PatchOperation[] = [];
  #world: World;
  #calls = 0;

  constructor(world: World, vm: Vm, now: number, seed: string) {
    this.name = vm.name;
    this.now = now;
    this.start = Date.parse(world.now);
    this.seed = seed;
    this.#world = world;
  }

  get world(): World {
    return this.#world;
  }

  get vm(): Vm {
    return findVm(this.#world, this.name)!;
  }

  /** Where this machine stands in the file, for patches. */
  get path(): string {
    return `/vms/${this.#world.vms.findIndex((v) => v.name === this.name)}`;
  }

  /** Later commands of the same script see it; the world keeps it when the script is done. */
  change(patch: readonly PatchOperation[]): void {
    const copy = structuredClone(this.#world);
    if (applyJsonPatch(copy, patch) !== null) return;
    this.#world = complete(copy);
    this.patches.push(...patch);
  }

  /** A tool's view, with fresh luck for every call. */
  tools(): ToolContext {
    return toolContext(
      this.#world,
      { kind: 'vm', name: this.name },
      this.now,
      `${this.seed}#${this.#calls++}`,
    );
  }
}

/** `waited`: the command sat there until Linux's own patience ran out; `timeout` would have cut it off. */
export type GuestResult = ToolResult & { readonly waited?: boolean };
export type GuestCommand = (argv: readonly string[], machine: Machine, stdin: string) => GuestResult;
export type GuestCommands = Readonly<Record<string, GuestCommand>>;

/** A program that ought to serve a port: what listens, and what traffic expects but does not find. */
export interface Service {
  readonly unit: string;
  readonly process: string;
  readonly pid: number;
  readonly listeners: readonly Listener[];
  /** Ports somebody wants and nobody listens on. */
  readonly missing: readonly { readonly port: number; readonly protocol: 'tcp' | 'udp' }[];
}

const UNITS: Readonly<Record<string, string>> = {
  sshd: 'ssh',
  postgres: 'postgresql',
  mysqld: 'mysql',
  nfsd: 'nfs-server',
  'beam.smp': 'rabbitmq-server',
};

export function services(machine: Machine, programFor: (port: number) => string): readonly Service[] {
  const { vm, world } = machine;
  const wanted = world.flows
    .filter((f) => f.to === vm.name && f.port !== null && f.protocol !== 'icmp')
    .map((f) => ({ port: f.port!, protocol: f.protocol as 'tcp' | 'udp' }))
    .filter((w, i, all) => all.findIndex((o) => o.port === w.port && o.protocol === w.protocol) === i)
    .filter((w) => !vm.listens.some((l) => l.port === w.port && l.protocol === w.protocol));
  const names = [...new Set([...vm.listens.map((l) => l.process), ...wanted.map((w) => programFor(w.port))])];
  return names.map((process) => ({
    unit: UNITS[process] ?? process,
    process,
    pid: 600 + (stableNumber(`${vm.name}:${process}`) % 4000),
    listeners: vm.listens.filter((l) => l.process === process),
    missing: wanted.filter((w) => programFor(w.port) === process),
  }));
}
