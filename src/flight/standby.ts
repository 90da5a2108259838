import { makeReady, type ReadySandbox } from '../sandbox/index.ts';
import { engineSpec, freshFolders, freshTemp, type StepFolders } from './engine.ts';
import type { Mode } from './protocol.ts';
import { isolationOf, placeOf, type StepPlace, stepRoot } from './step-context.ts';
import { resolveEngine } from './workflow.ts';

/**
 * Sandboxes of the launches that come next, made while engines run: one takes longer to make than all that is
 * done between two launches.
 *
 * SB1 They only save time. What does not come to pass is thrown away, and where nothing stands ready a launch
 *     makes its own. Nothing runs in one before its writ: the sandbox room sees to that.
 * SB2 Folders are fresh: made for one launch, given to it once.
 */
export interface Standby {
  /** Makes the first launch ready, while the flight is being entered into the log. */
  prepareFirst(context: StepPlace): void;
  /** Makes ready what comes after a launch that is just being made. */
  prepareAfter(context: StepPlace, mode: Mode): void;
  /** Folders for a launch, and its sandbox when one stands. */
  take(context: StepPlace, mode: Mode): Promise<Prepared>;
  close(): Promise<void>;
}

export interface Prepared {
  readonly folders: StepFolders;
  readonly ready?: ReadySandbox;
}

/** A launch that will be made if all goes well. */
interface Foreseen {
  readonly context: StepPlace;
  readonly mode: Mode;
}

/** Two are enough for one to stand while the other is being made. */
const AHEAD = 2;

export function openStandby(): Standby {
  const standing = new Map<string, Promise<Prepared | undefined>>();
  const all: Promise<Prepared | undefined>[] = [];
  const prepare = (launch: Foreseen, begin: Promise<void> | undefined) => {
    if (standing.has(nameOf(launch))) return;
    const made = (begin ? begin.then(() => make(launch)) : make(launch)).catch(() => undefined);
    standing.set(nameOf(launch), made);
    all.push(made);
  };
  return {
    prepareFirst: (context) => {
      const launch = { context, mode: 'flight-plan' } as const;
      if (isForeseeable(launch)) prepare(launch, undefined);
    },
    prepareAfter: (context, mode) => {
      // The engine that is being launched goes first.
      const turn = new Promise<void>((resolve) => setImmediate(resolve));
      let next = after({ context, mode });
      for (let i = 0; i < AHEAD && next !== undefined && isForeseeable(next); i++) {
        prepare(next, turn);
        next = after(next);
      }
    },
    take: async (context, mode) => {
      const launch = { context, mode };
      const made = await standing.get(nameOf(launch));
      standing.delete(nameOf(launch));
      return made ?? { folders: foldersFor(launch) };
    },
    // All of them: one may have been given away and then not come to be used.
    close: async () => {
      for (const made of await Promise.all(all)) await made?.ready?.discard();
    },
  };
}

async function make(launch: Foreseen): Promise<Prepared> {
  const folders = foldersFor(launch);
  const ready = await makeReady(engineSpec(placeOf(launch.context, launch.mode, folders)));
  return ready === undefined ? { folders } : { folders, ready };
}

function after({ context, mode }: Foreseen): Foreseen | undefined {
  if (mode === 'flight-plan') return { context, mode: 'take-off' };
  const { steps } = context.workflow.value;
  const step = steps[steps.findIndex((s) => s.id === context.step.id) + 1];
  const engine = step && resolveEngine(context.workflow.folder, step);
  return engine && { context: { ...context, step, engine }, mode: 'flight-plan' };
}

/** Made by us, shut in, without a network of its own, and without asking a person first. */
function isForeseeable({ context, mode }: Foreseen): boolean {
  const { engine, step } = context;
  if (isolationOf(context) === 'none' || (step.network?.[mode] ?? []).length > 0) return false;
  if (mode === 'take-off' && step.approval !== undefined) return false;
  if (engine.kind === 'file' || engine.name === 'files') return true;
  return mode === 'flight-plan' && engine.name !== 'terraform';
}

function foldersFor({ context, mode }: Foreseen): StepFolders {
  const root = stepRoot(context);
  return mode === 'flight-plan' ? freshFolders(root) : freshTemp(root, mode);
}

function nameOf({ context, mode }: Foreseen): string {
  return `${context.step.id} ${mode}`;
}
