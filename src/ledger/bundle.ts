import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, dirname, relative, sep } from 'node:path';
import { type Clock, CODES, canonicalJson, EXIT, messageOf, quoteArgv, WritError } from '../core/index.ts';
import { checkpointPath, segmentPath } from './segments.ts';
import { TAR_END, tarHeader, tarPadding } from './tar-write.ts';
import type { PublicKeys, Signer } from './types.ts';

/**
 * A bundle: journals with their checkpoints, the public keys, and a signed list of it all, in one tar file
 * that `writ audit verify` reads in place and any tar unpacks.
 *
 * B1 Files go in as they are found, sound or not: a bundle is evidence, not a repair.
 * B2 The list comes last, so a bundle that is cut short has none.
 */
export interface BundleOptions {
  /** First segments of the journals. */
  readonly journals: readonly string[];
  readonly out: string;
  readonly publicKeys: PublicKeys;
  /** Vouches for the list; without one it is unsigned. */
  readonly signer: Signer | null;
  readonly clock: Clock;
  /** Names inside the bundle are relative to this. */
  readonly root: string;
}

export interface BundledFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

export const MANIFEST_DOMAIN = 'writ bundle v1\n';

export function writeBundle(options: BundleOptions): readonly BundledFile[] {
  const { out, clock, signer } = options;
  let fd: number;
  try {
    fd = fs.openSync(out, 'wx', 0o600);
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new WritError(
      taken ? CODES.invalid_input : CODES.storage_failed,
      `${out}: ${taken ? 'already there' : messageOf(error)}`,
      { suggestion: 'name another file with -o', exit: taken ? EXIT.usage : EXIT.failed },
    );
  }
  try {
    const writer = new TarWriter(fd, Math.floor(clock.now().getTime() / 1000));
    for (const [id, pem] of options.publicKeys) writer.text(`keys/${id}.pub`, pem);
    for (const base of options.journals)
      for (const file of filesOf(base)) writer.file(nameOf(options.root, file), file);
    const files = [...writer.files];
    const manifest = canonicalJson({
      v: 1,
      created: clock.now().toISOString(),
      files,
      ...(signer ? { key_id: signer.keyId } : {}),
    });
    writer.text('manifest.json', manifest);
    if (signer)
      writer.text(
        'manifest.sig',
        Buffer.from(signer.sign(Buffer.from(MANIFEST_DOMAIN + manifest))).toString('hex'),
      );
    writer.end();
    fs.fsyncSync(fd);
    return files;
  } catch (error) {
    // Nothing half-done is left.
    fs.unlinkSync(out);
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

/** Every file of a journal: segments, checkpoints, torn tails. Checkpoints first, so none is newer than its file. */
function filesOf(base: string): string[] {
  const names = fs.existsSync(dirname(base)) ? fs.readdirSync(dirname(base)).sort() : [];
  const found: string[] = [];
  for (let segment = 0; ; segment++) {
    const path = segmentPath(base, segment);
    const torn = names
      .filter((n) => n.startsWith(`${basename(path)}.torn.`))
      .map((n) => `${dirname(base)}/${n}`);
    const here = [checkpointPath(path), path, ...torn].filter((file) => fs.existsSync(file));
    if (here.length === 0) break;
    found.push(...here);
  }
  if (found.length === 0)
    throw new WritError(CODES.invalid_input, `${base}: there is no such journal`, {
      suggestion: `ls -l ${quoteArgv([dirname(base)])}`,
      exit: EXIT.usage,
    });
  return found;
}

function nameOf(root: string, file: string): string {
  const inside = relative(root, file).split(sep);
  return ['journals', ...inside.filter((part) => part !== '..' && part !== '')].join('/');
}

class TarWriter {
  readonly files: BundledFile[] = [];
  readonly #fd: number;
  readonly #mtime: number;

  constructor(fd: number, mtime: number) {
    this.#fd = fd;
    this.#mtime = mtime;
  }

  text(name: string, content: string): void {
    const bytes = Buffer.from(content);
    this.#put(tarHeader(name, bytes.length, this.#mtime), bytes, tarPadding(bytes.length));
    this.#note(name, bytes.length, createHash('sha256').update(bytes).digest('hex'));
  }

  /** Copies what the file holds at this moment; a journal that grows meanwhile is cut at that length. */
  file(name: string, path: string): void {
    const from = fs.openSync(path, 'r');
    try {
      const { size } = fs.fstatSync(from);
      this.#put(tarHeader(name, size, this.#mtime));
      const digest = createHash('sha256');
      const chunk = Buffer.allocUnsafe(1024 * 1024);
      for (let at = 0; at < size; ) {
        const n = fs.readSync(from, chunk, 0, Math.min(chunk.length, size - at), at);
        if (n === 0) throw new Error(`${path} became shorter while it was read`);
        digest.update(chunk.subarray(0, n));
        this.#put(chunk.subarray(0, n));
        at += n;
      }
      this.#put(tarPadding(size));
      this.#note(name, size, digest.digest('hex'));
    } finally {
      fs.closeSync(from);
    }
  }

  end(): void {
    this.#put(TAR_END);
  }

  #put(...pieces: Buffer[]): void {
    for (const piece of pieces) for (let at = 0; at < piece.length; ) at += fs.writeSync(this.#fd, piece, at);
  }

  #note(name: string, bytes: number, sha256: string): void {
    if (this.files.some((file) => file.name === name))
      throw new Error(`${name} would be in the bundle twice`);
    this.files.push({ name, bytes, sha256 });
  }
}
