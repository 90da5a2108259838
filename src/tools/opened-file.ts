import * as fs from 'node:fs';
import { dirname, join, sep } from 'node:path';

/**
 * Files by descriptor. A path can be swapped between two looks at it; a descriptor cannot. So: open without
 * following a link, ask the kernel where the descriptor really is, and use only that descriptor.
 *
 * F1 What was opened must be, by the kernel's word, the very path that was judged.
 * F2 Opening never waits: a FIFO or device is recognised after a non-blocking open and refused.
 * F3 New files and folders are made relative to a folder's descriptor, never by a path that could change.
 */
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, O_WRONLY, O_CREAT, O_EXCL } = fs.constants;
const FD_FOLDER = '/proc/self/fd';
const hasFdFolder = fs.existsSync(FD_FOLDER);

export interface Opened {
  readonly fd: number;
  readonly stat: fs.Stats;
}

/** The file at a judged path, or why it is not the one that was judged. */
export function openJudged(path: string, kind: 'file' | 'directory'): Opened | { readonly problem: string } {
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (kind === 'directory' ? O_DIRECTORY : 0));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ELOOP' || code === 'ENOTDIR')
      return { problem: 'it was swapped for a link while being opened' };
    throw error;
  }
  const stat = fs.fstatSync(fd);
  const problem = isAt(fd, stat, path)
    ? wrongKind(stat, kind)
    : 'it was swapped for another file while being opened';
  if (problem === undefined) return { fd, stat };
  fs.closeSync(fd);
  return { problem };
}

function wrongKind(stat: fs.Stats, kind: 'file' | 'directory'): string | undefined {
  const right = kind === 'file' ? stat.isFile() : stat.isDirectory();
  return right ? undefined : `it is ${nameOf(stat)}, not a ${kind}`;
}

function nameOf(stat: fs.Stats): string {
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a pipe';
  if (stat.isSocket()) return 'a socket';
  if (stat.isCharacterDevice() || stat.isBlockDevice()) return 'a device';
  return 'a file';
}

function isAt(fd: number, stat: fs.Stats, path: string): boolean {
  if (hasFdFolder) return fs.readlinkSync(`${FD_FOLDER}/${fd}`) === path;
  // Elsewhere: the path has no links in it now, and leads to the very inode that is open.
  const now = fs.lstatSync(path);
  return fs.realpathSync.native(path) === path && now.ino === stat.ino && now.dev === stat.dev;
}

/** At most `max + 1` bytes, so that the caller sees when there are more. */
export function readAtMost(fd: number, max: number): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total <= max) {
    const chunk = Buffer.allocUnsafe(Math.min(64 * 1024, max + 1 - total));
    const read = fs.readSync(fd, chunk, 0, chunk.length, null);
    if (read === 0) break;
    chunks.push(chunk.subarray(0, read));
    total += read;
  }
  return Buffer.concat(chunks, total);
}

/** Could this open file be written? Replacing it asks only for rights on its folder. */
export function isWritable(opened: Opened, path: string): boolean {
  try {
    fs.accessSync(hasFdFolder ? `${FD_FOLDER}/${opened.fd}` : path, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A folder held open while something is made in it. */
export interface Folder {
  readonly fd: number;
  readonly path: string;
}

/** Name of an entry of an open folder, so that the kernel starts from the descriptor. */
export function entryOf(folder: Folder, name: string): string {
  return hasFdFolder ? `${FD_FOLDER}/${folder.fd}/${name}` : join(folder.path, name);
}

/** Opens a judged folder, making the missing part of it one name at a time. */
export function openFolder(path: string, create: boolean): Folder | { readonly problem: string } {
  const missing: string[] = [];
  let existing = path;
  while (create && !fs.existsSync(existing) && existing !== sep) {
    missing.unshift(existing.slice(dirname(existing) === sep ? 1 : dirname(existing).length + 1));
    existing = dirname(existing);
  }
  const opened = openJudged(existing, 'directory');
  if ('problem' in opened) return opened;
  let folder: Folder = { fd: opened.fd, path: existing };
  for (const name of missing) {
    const next = makeFolder(folder, name);
    fs.closeSync(folder.fd);
    if ('problem' in next) return next;
    folder = next;
  }
  return folder;
}

function makeFolder(parent: Folder, name: string): Folder | { readonly problem: string } {
  const entry = entryOf(parent, name);
  try {
    fs.mkdirSync(entry, 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const path = join(parent.path, name);
  const fd = fs.openSync(entry, O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
  if (isAt(fd, fs.fstatSync(fd), path)) return { fd, path };
  fs.closeSync(fd);
  return { problem: 'a folder was swapped while it was being made' };
}

/**
 * Writes a whole file in one step: readers see the old one or the new one, never half of it. The new one has the
 * mode of the old one, or what this process gives to new files. Nobody else may write under the temporary name.
 */
export function replaceFile(
  folder: Folder,
  name: string,
  content: Uint8Array,
  mode: number | undefined,
  temporary: string,
): void {
  const entry = entryOf(folder, temporary);
  fs.rmSync(entry, { force: true });
  const fd = fs.openSync(entry, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode ?? 0o666);
  try {
    try {
      for (let at = 0; at < content.length; ) at += fs.writeSync(fd, content, at);
      if (mode !== undefined) fs.fchmodSync(fd, mode);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(entry, entryOf(folder, name));
  } catch (error) {
    fs.rmSync(entry, { force: true });
    throw error;
  }
  fs.fsyncSync(folder.fd);
}
