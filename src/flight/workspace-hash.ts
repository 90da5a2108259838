import { createHash } from 'node:crypto';
import { closeSync, lstatSync, opendirSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, digestOf, sha256 } from '../core/index.ts';

/**
 * One digest for a folder's content: names, kinds, executable bits, bytes, link targets.
 * `.git`, `.writ`, `audit` at the top and what `.writignore` names are left out; `.writignore` itself never is.
 */
const LEFT_OUT = new Set(['.git', '.writ', 'audit']);
const MAX_FILES = 200_000;
const MAX_BYTES = 16 * 1024 ** 3;

export interface WorkspaceOptions {
  readonly folder: string;
  /** Folders of ours that may lie inside under other names (a configured state or audit folder). */
  readonly except?: readonly string[];
  /** What `.writignore` said when it was read; as it is now when left out. */
  readonly ignore?: string;
}

export function workspaceHash({ folder, except = [], ignore }: WorkspaceOptions): Digest {
  const ignored = ignoring(ignore ?? readIgnore(folder));
  const entries: (readonly [string, string, string])[] = [];
  let bytes = 0;
  /** Names byte by byte (Latin-1), as the system has them: not all are UTF-8. */
  const walk = (dir: string) => {
    const handle = opendirSync(placeOf(folder, dir), { bufferSize: 512, encoding: 'latin1' });
    try {
      for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
        const name = dir === '' ? entry.name : `${dir}/${entry.name}`;
        const path = placeOf(folder, name);
        const shown = Buffer.from(name, 'latin1').toString('utf8');
        if (LEFT_OUT.has(name) || except.includes(join(folder, shown)) || ignored(shown)) continue;
        if (entries.length >= MAX_FILES) throw tooMuch(folder, `${MAX_FILES} files`);
        if (entry.isDirectory()) {
          entries.push([name, 'dir', '']);
          walk(name);
        } else if (entry.isSymbolicLink()) entries.push([name, 'link', sha256(readlinkSync(path, 'buffer'))]);
        else if (entry.isFile()) {
          const { mode, size } = lstatSync(path);
          bytes += size;
          if (bytes > MAX_BYTES) throw tooMuch(folder, `${MAX_BYTES} bytes`);
          entries.push([name, mode & 0o111 ? 'exec' : 'file', fileHash(path, size)]);
        } else entries.push([name, 'other', '']);
      }
    } finally {
      handle.closeSync();
    }
  };
  walk('');
  entries.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return digestOf(
    entries.map(([name, kind, hash]) => [Buffer.from(name, 'latin1').toString('hex'), kind, hash]),
  );
}

function placeOf(folder: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]);
}

function tooMuch(folder: string, what: string): Error {
  return new Error(`${folder} holds more than ${what}: name what does not matter in .writignore`);
}

const SMALL = 1024 * 1024;

/** A file's digest in constant memory; a small one, as its `size` says, is read at once. */
export function fileHash(path: string | Buffer, size = lstatSync(path).size): Digest {
  if (size <= SMALL) return sha256(readFileSync(path));
  const fd = openSync(path, 'r');
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(256 * 1024);
    for (let n = readSync(fd, chunk); n > 0; n = readSync(fd, chunk)) hash.update(chunk.subarray(0, n));
    return hash.digest('hex') as Digest;
  } finally {
    closeSync(fd);
  }
}

export function readIgnore(folder: string): string {
  try {
    return readFileSync(join(folder, '.writignore'), 'utf8');
  } catch {
    return '';
  }
}

/** Lines of `.writignore`: a name anywhere, or a path from the workspace; `*` within a name. `#` is a remark. */
function ignoring(text: string): (name: string) => boolean {
  const patterns = text
    .split('\n')
    .map((line) => line.trim().replace(/\/$/, ''))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({
      deep: line.replace(/^\//, '').includes('/') || line.startsWith('/'),
      test: globOf(line),
    }));
  return (name) =>
    name !== '.writignore' &&
    patterns.some(({ deep, test }) => test.test(deep ? name : (name.split('/').at(-1) ?? name)));
}

function globOf(line: string): RegExp {
  const words = line.replace(/^\//, '').split(/(\*\*|\*|\?)/);
  const wild: Record<string, string> = { '**': '.*', '*': '[^/]*', '?': '[^/]' };
  return new RegExp(`^${words.map((w) => wild[w] ?? w.replace(/[.+^${}()|[\]\\]/g, '\\$&')).join('')}$`);
}
