import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type Child, spawnChild } from './child.ts';
import { type Launch, type Launchable, planLaunch } from './plan-launch.ts';
import { newMark } from './process-tree.ts';

/**
 * A sandbox that stands and in which nothing runs: bubblewrap has made every namespace and mount and waits for
 * its filter, which it gets from `run` and a writ alone. Made while something else takes its time.
 *
 * RD1 No word of the program is executed before it is released, nor when we are killed: see `attend-bubblewrap.ts`.
 * RD2 It is used only for a launch that, planned anew at that moment, is word for word the one it was made for, and
 *     while everything it shows by a mount of its own is still the same file or folder.
 */
export interface ReadySandbox {
  /** Ends it. There is nothing to do when it was used. */
  discard(): Promise<void>;
}

interface Held {
  readonly child: Child;
  readonly launch: Launch;
  readonly shown: string;
}

const held = new WeakMap<ReadySandbox, Held>();

/** Undefined when it cannot be made; a run then starts without, and says what is wrong. */
export async function makeReady(spec: Launchable): Promise<ReadySandbox | undefined> {
  if (spec.profile?.kind !== 'bubblewrap') return undefined;
  const mark = newMark();
  const plan = await planLaunch(spec, [...spec.argv], mark).catch(() => undefined);
  if (!plan?.ok) return undefined;
  const { launch } = plan;
  // Looked at before bubblewrap does: what is swapped from now on is noticed when it is to be used.
  const shown = identityOf(launch);
  const spawned = spawnChild(launch, mark, ['pipe', 'pipe', 'pipe']);
  if (!spawned.ok) {
    await spawned.failure;
    return undefined;
  }
  const { child } = spawned;
  const ready: ReadySandbox = {
    discard: async () => {
      if (!held.delete(ready)) return;
      child.killNow();
      await child.cleanUp();
    },
  };
  held.set(ready, { child, launch, shown });
  return ready;
}

/** The waiting child, when it is one for this launch (RD2). Whoever takes it releases it and cleans up after it. */
export function takeReady(ready: ReadySandbox, launch: Launch): Child | undefined {
  const found = held.get(ready);
  if (found === undefined || found.child.process.exitCode !== null) return undefined;
  if (!isDeepStrictEqual(found.launch, launch) || identityOf(launch) !== found.shown) return undefined;
  held.delete(ready);
  return found.child;
}

function identityOf({ box }: Launch): string {
  const shown = (box?.bound ?? []).map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return shown.map((stat) => (stat === undefined ? 'nothing' : `${stat.dev}:${stat.ino}`)).join(' ');
}
