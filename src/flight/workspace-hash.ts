import { createHash } from 'node:crypto';
import { closeSync, lstatSync, opendirSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Digest, digestOf, sha256 } from '../core/index.ts';

/**
 * One digest for a folder's content: names, kinds, executable bits, bytes, link targets.
 * `.git`, `.writ`, `audit` at the top and what `.writignore` names are left out; `.writignore` itself never is.
 */
const LEFT_OUT = new Set(['.git', '.writ', 'audit']);
const MAX_FILES = 200_000;

export interface WorkspaceOptions {
  readonly folder: string;
  /** Folders of ours that may lie inside under other names (a configured state or audit folder). */
  readonly except?: readonly string[];
}

export function workspaceHash({ folder, except = [] }: WorkspaceOptions): Digest {
  const ignored = readIgnore(folder);
  const entries: (readonly [string, string, string])[] = [];
  const walk = (dir: string) => {
    const handle = opendirSync(dir, { bufferSize: 512 });
    try {
      for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
        const path = join(dir, entry.name);
        const name = relative(folder, path);
        if (LEFT_OUT.has(name) || except.includes(path) || ignored(name)) continue;
        if (entries.length >= MAX_FILES) throw new Error(`${folder} holds more than ${MAX_FILES} files`);
        if (entry.isDirectory()) {
          entries.push([name, 'dir', '']);
          walk(path);
        } else if (entry.isSymbolicLink()) entries.push([name, 'link', sha256(readlinkSync(path, 'buffer'))]);
        else if (entry.isFile()) {
          const { mode, size } = lstatSync(path);
          entries.push([name, mode & 0o111 ? 'exec' : 'file', fileHash(path, size)]);
        } else entries.push([name, 'other', '']);
      }
    } finally {
      handle.closeSync();
    }
  };
  walk(folder);
  entries.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return digestOf(entries.map(([name, kind, hash]) => [Buffer.from(name).toString('hex'), kind, hash]));
}

const SMALL = 1024 * 1024;

/** A file's digest in constant memory; a small one, as its `size` says, is read at once. */
export function fileHash(path: string, size = lstatSync(path).size): Digest {
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

/** Lines of `.writignore`: a name anywhere, or a path from the workspace; `*` within a name. `#` is a remark. */
function readIgnore(folder: string): (name: string) => boolean {
  let text: string;
  try {
    text = readFileSync(join(folder, '.writignore'), 'utf8');
  } catch {
    return () => false;
  }
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
