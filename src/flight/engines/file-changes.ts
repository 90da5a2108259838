import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { Invalid } from './contract.ts';

/** Files of a folder, reached without symlinks, and changes to them that are all made or all taken back. */
export interface Change {
  readonly path: string;
  readonly action: 'create' | 'update' | 'delete';
  /** Digest of the file before and after; null when there is none. */
  readonly before: string | null;
  readonly after: string | null;
  /** Whether a new file may be executed. An existing one keeps its mode. */
  readonly executable: boolean;
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

export function readFile(folder: string, path: string): Buffer | null {
  const full = inside(folder, path);
  const stat = lstatSync(full, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (!stat.isFile()) throw new Invalid(`${path} is not a plain file`);
  if (stat.size > MAX_FILE_BYTES) throw new Invalid(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
  return readFileSync(full);
}

/** Makes the changes in order. When one fails, those before it are taken back, and the failure is told. */
export function perform(folder: string, changes: readonly Change[], contentOf: (i: number) => Buffer): void {
  const undo: (() => void)[] = [];
  try {
    for (const [i, change] of changes.entries()) undo.push(...make(folder, change, () => contentOf(i)));
  } catch (error) {
    const left: string[] = [];
    for (const back of undo.reverse())
      try {
        back();
      } catch (problem) {
        left.push(problem instanceof Error ? problem.message : String(problem));
      }
    const reason = error instanceof Error ? error.message : String(error);
    const end = left.length === 0 ? 'what was done has been undone' : `not undone: ${left.join('; ')}`;
    throw new Error(`${reason}; ${end}`, { cause: error });
  }
}

/** One change, and the ways back from it in the order they were gone. */
function make(folder: string, change: Change, content: () => Buffer): readonly (() => void)[] {
  const full = inside(folder, change.path);
  const old = readFile(folder, change.path);
  const mode = lstatSync(full, { throwIfNoEntry: false })?.mode;
  const restore = () => (old === null ? rmSync(full) : place(full, old, mode));
  if (change.action === 'delete') {
    rmSync(full);
    return [restore];
  }
  const folders = missingFolders(folder, dirname(full));
  mkdirSync(dirname(full), { recursive: true });
  place(full, content(), mode ?? (change.executable ? 0o755 : 0o644));
  return [...folders.map((made) => () => rmdirSync(made)), restore];
}

/** Whole or not at all: a reader never sees half a file, and nothing that lies in the way is followed. */
function place(full: string, bytes: Buffer, mode: number | undefined): void {
  const fresh = `${full}.writ-new`;
  try {
    writeFileSync(fresh, bytes, { flag: 'wx' });
    if (mode !== undefined) chmodSync(fresh, mode & 0o777);
    renameSync(fresh, full);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(fresh, { force: true });
    throw error;
  }
}

/** Folders that have to be made on the way, outermost first. */
function missingFolders(folder: string, wanted: string): readonly string[] {
  const missing: string[] = [];
  for (let dir = wanted; dir.length > folder.length && !exists(dir); dir = dirname(dir)) missing.unshift(dir);
  return missing;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The path in the folder, reached without symlinks; anything else is a mistake. */
function inside(folder: string, path: string): string {
  if (isAbsolute(path) || path.split('/').includes('..') || path === '.')
    throw new Invalid(`${path} is outside the workspace`);
  const full = join(folder, path);
  for (let dir = dirname(full); dir.length > folder.length; dir = dirname(dir))
    if (exists(dir) && realpathSync(dir) !== dir) throw new Invalid(`${path} goes through a symlink`);
  return full;
}
