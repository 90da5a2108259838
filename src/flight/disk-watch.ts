import { lstatSync, opendirSync, rmSync, statfsSync } from 'node:fs';

/**
 * Holds an engine to a bounded share of the disk while it runs.
 *
 * DW1 Its own folders may hold so many bytes and files. What is over is stopped, and thrown away.
 * DW2 Wherever it may write, room stays for the record of what happened.
 */
export interface DiskWatch {
  /** Aborted as soon as there is a problem. */
  readonly signal: AbortSignal;
  /** Looks a last time; what is wrong, or null. */
  problem(): string | null;
  stop(): void;
}

export interface DiskLimits {
  readonly bytes: number;
  readonly files: number;
  /** Left free for everybody else; half of what is free, where there is less than twice this. */
  readonly reserve: number;
}

const LIMITS: DiskLimits = { bytes: 2 * 1024 ** 3, files: 20_000, reserve: 256 * 1024 ** 2 };
const LOOK_EVERY_MS = 100;

export function watchDisk(
  own: readonly string[],
  shared: readonly string[],
  limits = LIMITS,
  free: (path: string) => number = freeBytes,
): DiskWatch {
  const floors = [...own, ...shared].map((path) => ({
    path,
    least: Math.min(limits.reserve, free(path) / 2),
  }));
  const stopped = new AbortController();
  let found: string | null = null;
  const look = () => {
    if (found !== null) return;
    if (floors.some(({ path, least }) => free(path) < least))
      found = 'the disk was nearly full: the engine was stopped';
    else if (overfull(own, limits))
      found = `the engine wrote more than it may keep (${limits.bytes} bytes or ${limits.files} files of artifacts and temporary files); they were thrown away`;
    if (found === null) return;
    stopped.abort();
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    signal: stopped.signal,
    problem: () => {
      look();
      if (found !== null) for (const folder of own) rmSync(folder, { recursive: true, force: true });
      return found;
    },
    stop: () => clearInterval(timer),
  };
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function overfull(folders: readonly string[], { bytes: most, files: mostFiles }: DiskLimits): boolean {
  let bytes = 0;
  let files = 0;
  // Names byte by byte: one that is no UTF-8 hides nothing.
  const walk = (dir: string): boolean => {
    let handle: ReturnType<typeof opendirSync>;
    try {
      handle = opendirSync(Buffer.from(dir, 'latin1'), { encoding: 'latin1' });
    } catch (error) {
      // What an engine has closed to us cannot be counted: it is over, unless it is gone.
      return (error as NodeJS.ErrnoException).code !== 'ENOENT';
    }
    try {
      for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
        if (++files > mostFiles) return true;
        if (entry.isDirectory()) {
          if (walk(`${dir}/${entry.name}`)) return true;
        } else bytes += sizeOf(`${dir}/${entry.name}`);
        if (bytes > most) return true;
      }
      return false;
    } finally {
      handle.closeSync();
    }
  };
  return folders.some((folder) => walk(Buffer.from(folder).toString('latin1')));
}

function sizeOf(path: string): number {
  return lstatSync(Buffer.from(path, 'latin1'), { throwIfNoEntry: false })?.size ?? 0;
}
