import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { type Digest, sha256 } from '../core/index.ts';
import type { FilePort } from './file-port.ts';
import type { ScanResult } from './scan.ts';
import { sizeOf } from './sidecar.ts';

/** Bytes a crash left behind the last whole record, kept in a file of their own. */
export interface Tear {
  readonly bytes: number;
  readonly sha256: Digest;
  readonly file: string;
}

/** Names of the files that keep torn bytes of a segment. */
export function tearsOf(files: FilePort, path: string): string[] {
  return files
    .list(dirname(path))
    .filter((name) => name.startsWith(`${basename(path)}.torn.`) && /\.\d+\.[0-9a-f]{64}$/.test(name));
}

/** Saves the torn bytes, then shortens the journal by them. Answers all tears that have no record yet. */
export function setAside(files: FilePort, path: string, scan: ScanResult): Tear[] {
  if (scan.tail.kind === 'torn') {
    const file = files.open(path, 'append');
    try {
      const bytes = Buffer.alloc(scan.tail.bytes);
      file.read(bytes, scan.goodBytes);
      // Named by place and content: the same bytes torn off twice are two tears.
      const name = `${path}.torn.${scan.goodBytes}.${sha256(bytes)}`;
      if (!files.exists(name)) save(files, name, bytes);
      file.truncate(scan.goodBytes);
      file.datasyncNow();
    } finally {
      file.close();
    }
  }
  return tearsOf(files, path)
    .map((name) => ({ name, sha256: name.slice(-64) as Digest }))
    .filter((tear) => !scan.recordedTears.has(tear.name))
    .map(({ name, sha256 }) => {
      const file = join(dirname(path), name);
      return { file, sha256, bytes: sizeOf(files, file) };
    });
}

function save(files: FilePort, name: string, bytes: Buffer): void {
  const draft = `${name}.${randomBytes(6).toString('hex')}`;
  const file = files.open(draft, 'create');
  try {
    file.writeAt(bytes, 0);
    file.datasyncNow();
  } finally {
    file.close();
  }
  files.rename(draft, name);
  files.syncDir(dirname(name));
}
