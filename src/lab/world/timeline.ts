/** The world over time: the file, its own changes, and those made through `az`, folded in order of time. */
import { complete } from './complete.ts';
import type { PatchOperation, Timeline, World } from './types.ts';

/** A change at a moment of world time. */
export interface TimedPatch {
  readonly at_ms: number;
  readonly patch: readonly PatchOperation[];
}

/** Applies one JSON Patch to a document in place; answers the first error. Given from outside: see `patch.ts`. */
export type ApplyPatch = (document: object, patch: readonly PatchOperation[]) => Error | null;

export function makeTimeline(base: World, writes: readonly TimedPatch[], apply: ApplyPatch): Timeline {
  const start = Date.parse(base.now);
  const own = base.faults_over_time.map((f) => ({ at_ms: start + f.at_s * 1000, patch: f.patch }));
  // The world's own change comes first when both fall on one moment: the write was made knowing it.
  const all = [...own, ...writes].sort((a, b) => a.at_ms - b.at_ms);
  const versions: World[] = [base];
  const at = (ms: number): World => {
    let count = 0;
    while (count < all.length && all[count]!.at_ms <= ms) count++;
    for (let i = versions.length; i <= count; i++)
      versions.push(changed(versions[i - 1]!, all[i - 1]!.patch, apply));
    return versions[count]!;
  };
  return { at, changes: all.map((c) => c.at_ms) };
}

/**
 * A change that no longer fits (someone removed what it speaks of) is skipped: in life, too, a disk that has
 * been deleted cannot fail.
 */
function changed(world: World, patch: readonly PatchOperation[], apply: ApplyPatch): World {
  const copy = structuredClone(world) as World;
  return apply(copy, patch) === null ? complete(copy) : world;
}
