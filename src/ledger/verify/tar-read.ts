import * as fs from 'node:fs';
import { posix } from 'node:path';
import { type Evidence, readFully, type Source } from './source.ts';

/** One file inside a bundle. */
export interface TarEntry {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

const BLOCK = 512;
const MAX_ENTRIES = 200_000;
const MAX_NAME = 4096;

/** A bundle that is no sound archive; the message says where. */
export class BadArchive extends Error {}

export function looksLikeTar(path: string): boolean {
  const fd = fs.openSync(path, 'r');
  try {
    const header = Buffer.alloc(BLOCK);
    return readFully(fd, header, 0) === BLOCK && header.toString('latin1', 257, 262) === 'ustar';
  } finally {
    fs.closeSync(fd);
  }
}

/**
 * Reads the list of a ustar archive. Hostile input: plain files only, every header's checksum counts, no name
 * twice, nothing behind the end.
 */
export function readTarList(fd: number): readonly TarEntry[] {
  const total = fs.fstatSync(fd).size;
  const header = Buffer.alloc(BLOCK);
  const entries = new Map<string, TarEntry>();
  let longName: string | null = null;
  for (let at = 0; at + BLOCK <= total; ) {
    if (readFully(fd, header, at) !== BLOCK) throw new BadArchive(`byte ${at}: unreadable`);
    if (header.every((byte) => byte === 0)) {
      // An archive ends with at least two empty blocks, and is a whole number of blocks long.
      if (total - at < 2 * BLOCK || total % BLOCK !== 0)
        throw new BadArchive(`byte ${total}: the archive is cut short`);
      if (!isZero(fd, at, total))
        throw new BadArchive(`byte ${at}: something stands behind the end of the archive`);
      return [...entries.values()];
    }
    checkHeader(header, at);
    const size = octal(header, 124, 12, at);
    const offset = at + BLOCK;
    if (offset + size > total) throw new BadArchive(`byte ${at}: the archive ends inside a file`);
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === 'L') {
      if (size > MAX_NAME) throw new BadArchive(`byte ${at}: a name of ${size} bytes`);
      const name = Buffer.alloc(size);
      readFully(fd, name, offset);
      longName = text(name);
    } else if (type === '0') {
      const name: string = longName ?? shortName(header);
      longName = null;
      if (!safe(name) || entries.has(name))
        throw new BadArchive(`byte ${at}: the name ${JSON.stringify(name)} is not allowed, or there twice`);
      if (entries.size >= MAX_ENTRIES) throw new BadArchive(`more than ${MAX_ENTRIES} files`);
      entries.set(name, { name, offset, size });
    } else
      throw new BadArchive(
        `byte ${at}: an entry of type ${JSON.stringify(type)}; only files belong in a bundle`,
      );
    at = offset + Math.ceil(size / BLOCK) * BLOCK;
    if (at > total || !isZero(fd, offset + size, at))
      throw new BadArchive(`byte ${offset + size}: something stands between two files`);
  }
  throw new BadArchive(`byte ${total}: the archive is cut short`);
}

/** The files of an archive as evidence, read in place. */
export function tarEvidence(fd: number, entries: readonly TarEntry[]): Evidence {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    list: (dir) =>
      entries.filter((e) => posix.dirname(e.name) === dir).map((e) => e.name.slice(dir.length + 1)),
    exists: (path) => byName.has(path),
    open: (path) => {
      const entry = byName.get(path);
      return entry ? within(fd, entry) : null;
    },
  };
}

function within(fd: number, { offset, size }: TarEntry): Source {
  return {
    size: () => size,
    read: (into, position) =>
      readFully(fd, into.subarray(0, Math.max(0, Math.min(into.length, size - position))), offset + position),
    close: () => {},
  };
}

function isZero(fd: number, from: number, total: number): boolean {
  const chunk = Buffer.alloc(64 * 1024);
  for (let at = from; at < total; ) {
    const n = readFully(fd, chunk.subarray(0, Math.min(chunk.length, total - at)), at);
    if (n === 0) return false;
    if (!chunk.subarray(0, n).every((byte) => byte === 0)) return false;
    at += n;
  }
  return true;
}

function checkHeader(header: Buffer, at: number): void {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 0x20 : (header[i] ?? 0);
  if (sum !== octal(header, 148, 8, at)) throw new BadArchive(`byte ${at}: the header was changed`);
}

function octal(header: Buffer, start: number, length: number, at: number): number {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(header.toString('latin1', start, start + length))?.[1];
  if (digits === undefined) throw new BadArchive(`byte ${at}: not the header of a file`);
  return Number.parseInt(digits, 8);
}

function shortName(header: Buffer): string {
  const prefix = text(header.subarray(345, 500));
  const name = text(header.subarray(0, 100));
  return prefix === '' ? name : `${prefix}/${name}`;
}

function text(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

function safe(name: string): boolean {
  return (
    name !== '' &&
    !name.startsWith('/') &&
    name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}
