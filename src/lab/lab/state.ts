/**
 * What has happened in a lab since it was prepared: one JSON file, replaced atomically, written by one
 * process at a time.
 *
 * S1 A reader never sees half a file: writes go to a temporary file that is renamed.
 * S2 Writers take turns through a lock file; a lock whose owner is gone, or older than its limit, is broken.
 */
import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TimedPatch } from '../world/timeline.ts';
import type { ActivityEntry, World } from '../world/types.ts';

export interface LabState {
  readonly version: 1;
  readonly clock: ClockSegment;
  readonly writes: readonly TimedPatch[];
  readonly activity: readonly LoggedActivity[];
  readonly captures: readonly Capture[];
  readonly blobs: readonly Blob[];
  readonly containers: readonly { readonly account: string; readonly name: string }[];
  /** Names of DNS links made through `az`: `zone/vnet` → name. */
  readonly linkNames: Readonly<Record<string, string>>;
  readonly loggedOut: boolean;
}

/** World time runs from `worldMs` at real time `realMs`, `speed` times as fast. */
export interface ClockSegment {
  readonly realMs: number;
  readonly worldMs: number;
  readonly speed: number;
}

/** An entry with the full resource id, because what it speaks of may be gone. */
export interface LoggedActivity extends ActivityEntry {
  readonly group: string;
}

export interface Capture {
  readonly name: string;
  readonly location: string;
  readonly vm: string;
  readonly group: string;
  readonly startMs: number;
  /** World time at which it ends by itself. */
  readonly limitMs: number;
  /** World time at which somebody stopped it. */
  readonly stoppedMs: number | null;
  readonly timeLimitS: number;
  readonly bytesPerPacket: number;
  readonly totalBytes: number;
  readonly filters: readonly CaptureFilterText[];
  readonly storageId: string | null;
  readonly storagePath: string | null;
  readonly filePath: string | null;
}

export type CaptureFilterText = Readonly<Record<string, string>>;

/** A file a capture left: made from the world when somebody downloads it. */
export interface Blob {
  readonly account: string;
  readonly container: string;
  readonly name: string;
  /** The capture as it was when it ended. */
  readonly capture: Capture;
}

export function firstState(world: World, realMs: number, speed: number): LabState {
  const clock = { realMs, worldMs: Date.parse(world.now), speed };
  return {
    version: 1,
    clock,
    writes: [],
    activity: [],
    captures: [],
    blobs: [],
    containers: [],
    linkNames: {},
    loggedOut: false,
  };
}

const STATE = 'state.json';
const LOCK = 'state.lock';
const LOCK_LIMIT_MS = 10_000;
const WAIT_LIMIT_MS = 15_000;

export function readState(dir: string): LabState {
  return JSON.parse(readFileSync(join(dir, STATE), 'utf8')) as LabState;
}

export function writeState(dir: string, state: LabState): void {
  const temporary = join(dir, `${STATE}.${process.pid}.tmp`);
  writeFileSync(temporary, JSON.stringify(state), { mode: 0o600 });
  renameSync(temporary, join(dir, STATE));
}

/** Runs `change` with the newest state, alone; stores what it returns as `state`. */
export async function updateState<T>(
  dir: string,
  change: (state: LabState) => Promise<{ readonly state: LabState; readonly result: T }>,
): Promise<T> {
  const unlock = await lock(join(dir, LOCK));
  try {
    const { state, result } = await change(readState(dir));
    writeState(dir, state);
    return result;
  } finally {
    unlock();
  }
}

async function lock(file: string): Promise<() => void> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    try {
      const handle = openSync(file, 'wx', 0o600);
      writeSync(handle, String(process.pid));
      closeSync(handle);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (isAbandoned(file)) rmSync(file, { force: true });
      else if (Date.now() > deadline) throw new Error(`the lab is busy: ${file} has been held too long`);
      else await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20));
    }
  }
}

function isAbandoned(file: string): boolean {
  try {
    if (Date.now() - statSync(file).mtimeMs > LOCK_LIMIT_MS) return true;
    const owner = Number(readFileSync(file, 'utf8'));
    if (!Number.isInteger(owner) || owner <= 0) return false;
    process.kill(owner, 0);
    return false;
  } catch (error) {
    // ESRCH: the owner is gone. ENOENT: the lock is. In both cases trying again is right.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
