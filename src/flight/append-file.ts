import { createHash } from 'node:crypto';
import { closeSync, constants, fdatasyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import type { Digest } from '../core/index.ts';

/** A file that only grows, with its digest at hand. What is added is gathered and written in one piece. */
export interface AppendFile {
  add(text: string): void;
  /** Hands what was gathered to the system, in one piece. */
  write(): void;
  /** Writes, and forces to disk what is not there yet. */
  flush(): void;
  /** SHA-256 of everything in it, what is still gathered included. */
  digest(): Digest;
  close(): void;
}

/** Keeps the first `goodBytes` and cuts off the rest: a torn tail. */
export function openAppend(path: string, goodBytes: number): AppendFile {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const fd = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  ftruncateSync(fd, goodBytes);
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(Math.min(goodBytes, 64 * 1024));
  for (let at = 0; at < goodBytes; ) {
    const n = readSync(fd, chunk, 0, chunk.length, at);
    if (n === 0) break;
    hash.update(chunk.subarray(0, n));
    at += n;
  }
  let size = goodBytes;
  let forced = goodBytes;
  let gathered = '';
  const write = () => {
    if (gathered === '') return;
    const bytes = Buffer.from(gathered);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    } catch (error) {
      // Half a line in the middle would be damage: a full disk must leave the file as it was.
      ftruncateSync(fd, size);
      throw error;
    }
    size += bytes.length;
    gathered = '';
  };
  return {
    add: (text) => {
      gathered += text;
      hash.update(text);
    },
    write,
    flush: () => {
      write();
      if (forced === size) return;
      fdatasyncSync(fd);
      forced = size;
    },
    digest: () => hash.copy().digest('hex') as Digest,
    close: () => closeSync(fd),
  };
}
