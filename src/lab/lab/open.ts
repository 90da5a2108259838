/** A prepared lab, opened by a stand-in: the world as it is now, and how to change it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contradictions } from '../world/check.ts';
import { type ApplyPatch, makeTimeline } from '../world/timeline.ts';
import type { PatchOperation, Timeline, World } from '../world/types.ts';
import { atSpeed, speedFromEnvironment, worldTime } from './clock.ts';
import { type LabState, readState, updateState } from './state.ts';

export const WORLD_FILE = 'world.json';
/** There while somebody has set trouble for `az`. */
export const TROUBLES_FILE = 'troubles.json';

export interface Lab {
  readonly dir: string;
  readonly base: World;
  readonly state: LabState;
  /** World time of this call. */
  readonly now: number;
  readonly timeline: Timeline;
  /** The world at this moment. */
  readonly world: World;
}

/** What a command wants to change; all of it is stored together or not at all. */
export interface Change {
  readonly patch?: readonly PatchOperation[];
  readonly activity?: { readonly operation: string; readonly resource: string; readonly group: string };
  readonly state?: (state: LabState) => LabState;
}

export async function openLab(
  dir: string,
  realMs: number,
  env: Readonly<Record<string, string | undefined>>,
  stored?: LabState,
): Promise<Lab> {
  const base = JSON.parse(readFileSync(join(dir, WORLD_FILE), 'utf8')) as World;
  const read = stored ?? readState(dir);
  const wanted = speedFromEnvironment(env) ?? read.clock.speed;
  const state = wanted === read.clock.speed ? read : { ...read, clock: atSpeed(read.clock, realMs, wanted) };
  const now = worldTime(state.clock, realMs);
  const apply: ApplyPatch =
    base.faults_over_time.length + state.writes.length > 0
      ? (await import('../world/patch.ts')).applyJsonPatch
      : () => null;
  const timeline = makeTimeline(base, state.writes, apply);
  return { dir, base, state, now, timeline, world: timeline.at(now) };
}

/** Opens the lab for itself alone, lets `work` look and decide, and stores the changes it asks for. */
export async function changeLab<T>(
  dir: string,
  realMs: number,
  env: Readonly<Record<string, string | undefined>>,
  caller: string,
  work: (lab: Lab, change: (wanted: Change) => void) => Promise<T>,
): Promise<T> {
  return updateState(dir, async (stored) => {
    const lab = await openLab(dir, realMs, env, stored);
    let state = lab.state;
    const result = await work(lab, (wanted) => {
      state = applied(lab, state, wanted, caller);
    });
    return { state, result };
  });
}

function applied(lab: Lab, state: LabState, wanted: Change, caller: string): LabState {
  let next = wanted.state ? wanted.state(state) : state;
  if (wanted.patch && wanted.patch.length > 0)
    next = { ...next, writes: [...next.writes, { at_ms: lab.now, patch: wanted.patch }] };
  if (wanted.activity) {
    const entry = { ...wanted.activity, time: new Date(lab.now).toISOString(), caller, status: 'Succeeded' };
    next = { ...next, activity: [...next.activity, entry] };
  }
  return next;
}

/** What would be wrong with the world after this patch: a command refuses with it before anything is stored. */
export async function objection(world: World, patch: readonly PatchOperation[]): Promise<string | null> {
  const { applyJsonPatch } = await import('../world/patch.ts');
  const { complete } = await import('../world/complete.ts');
  const copy = structuredClone(world);
  const failed = applyJsonPatch(copy, patch);
  return failed ? failed.message : (contradictions(complete(copy))[0]?.message ?? null);
}
