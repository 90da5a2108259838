import * as fs from 'node:fs';

/** Where evidence is read from: a folder, or a bundle. Read only. */
export interface Evidence {
  /** Names in a folder; empty when there is none. */
  list(dir: string): readonly string[];
  /** Null when there is no such file. */
  open(path: string): Source | null;
  exists(path: string): boolean;
}

export interface Source {
  size(): number;
  /** Fills `into` from `position`; fewer bytes only at the end. */
  read(into: Buffer, position: number): number;
  close(): void;
}

export const diskEvidence: Evidence = {
  list(dir) {
    try {
      return fs.readdirSync(dir).sort();
    } catch {
      return [];
    }
  },
  exists: (path) => fs.existsSync(path),
  open(path) {
    let fd: number;
    try {
      fd = fs.openSync(path, fs.constants.O_RDONLY);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    return {
      size: () => fs.fstatSync(fd).size,
      read: (into, position) => readFully(fd, into, position),
      close: () => fs.closeSync(fd),
    };
  },
};

export function readFully(fd: number, into: Buffer, position: number): number {
  let done = 0;
  while (done < into.length) {
    const n = fs.readSync(fd, into, done, into.length - done, position + done);
    if (n === 0) break;
    done += n;
  }
  return done;
}

/** A small file as a whole, or null; one byte more than `limit` at most. */
export function readSmall(evidence: Evidence, path: string, limit: number): Buffer | null {
  const source = evidence.open(path);
  if (!source) return null;
  try {
    const bytes = Buffer.alloc(Math.min(source.size(), limit + 1));
    return bytes.subarray(0, source.read(bytes, 0));
  } finally {
    source.close();
  }
}
