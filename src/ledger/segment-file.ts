import { randomBytes } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { type Clock, CODES, WritError } from '../core/index.ts';
import { type CheckpointV1, encodeCheckpointV1 } from './checkpoint-v1.ts';
import type { FilePort, OpenFile } from './file-port.ts';
import { checkpointPath } from './segments.ts';
import type { Signer } from './types.ts';

/** What a checkpoint says about a segment, before time and key are put to it. */
export type Standing = Omit<CheckpointV1, 'v' | 'file' | 'timestamp' | 'key_id'>;

/** The segment being written: its file and, with a signer, the checkpoint beside it. */
export class SegmentFile {
  readonly path: string;
  readonly #file: OpenFile;
  readonly #sidecar: OpenFile | null;
  readonly #signer: Signer | null;
  #bytes: number;

  constructor(path: string, file: OpenFile, sidecar: OpenFile | null, signer: Signer | null, bytes: number) {
    this.path = path;
    this.#file = file;
    this.#sidecar = sidecar;
    this.#signer = signer;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds data and waits until the disk has it. What `sealOf` makes of the new length is signed while the disk
   * works, and put down as the checkpoint only once the data it vouches for is there. `inline` flushes on
   * this thread.
   */
  async append(
    pieces: readonly Uint8Array[],
    clock: Clock,
    sealOf: (bytes: number) => Standing | null,
    inline = false,
  ): Promise<void> {
    this.#checkUndisturbed();
    for (const piece of pieces) {
      for (let done = 0; done < piece.length; ) {
        const n = await this.#file.append(done === 0 ? piece : piece.subarray(done));
        if (n <= 0) throw new Error(`${this.path}: the disk took no more bytes`);
        done += n;
        this.#bytes += n;
      }
    }
    const flushed = inline ? this.#file.datasyncNow() : this.#file.datasync();
    let checkpoint: Buffer | null = null;
    try {
      const standing = this.#signer && sealOf(this.#bytes);
      if (this.#signer && standing) checkpoint = signed(this.path, standing, clock.now(), this.#signer);
    } finally {
      await flushed;
    }
    if (checkpoint) this.#sidecar?.writeAt(checkpoint, 0);
  }

  /** Overwrites the checkpoint and flushes it, so that it also survives a power cut. */
  writeCheckpoint(standing: Standing, now: Date): void {
    if (!this.#sidecar || !this.#signer) return;
    this.#sidecar.writeAt(signed(this.path, standing, now, this.#signer), 0);
    this.#sidecar.datasyncNow();
  }

  close(): void {
    this.#file.close();
    this.#sidecar?.close();
  }

  /** Another hand on the file, or a file removed under us, must not go unnoticed until someone verifies. */
  #checkUndisturbed(): void {
    const { size, links } = this.#file.stat();
    if (links === 0 || size !== this.#bytes)
      throw new WritError(
        CODES.integrity_broken,
        links === 0
          ? `${this.path} was removed while it was being written`
          : `${this.path} is ${size} bytes long, not ${this.#bytes}: something else wrote to it`,
        {
          suggestion: `stop what changes it, then: writ audit verify ${this.path}`,
          context: { path: this.path },
        },
      );
  }
}

function signed(path: string, standing: Standing, now: Date, signer: Signer): Buffer {
  const stamp = { v: 1, file: basename(path), timestamp: now.toISOString(), key_id: signer.keyId } as const;
  return encodeCheckpointV1({ ...standing, ...stamp }, signer.sign);
}

/** Puts a checkpoint file in place as a whole: the old one, the new one, never a part. */
export function placeCheckpoint(
  files: FilePort,
  segmentFile: string,
  standing: Standing,
  now: Date,
  signer: Signer,
): void {
  const target = checkpointPath(segmentFile);
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  const file = files.open(draft, 'create');
  try {
    file.writeAt(signed(segmentFile, standing, now, signer), 0);
    file.datasyncNow();
  } finally {
    file.close();
  }
  files.rename(draft, target);
  files.syncDir(dirname(target));
}

/**
 * Makes an empty segment. For the first one the checkpoint comes first: a journal with records always has one.
 * For later ones the file comes first: an empty file without a checkpoint is a rotation that was interrupted,
 * and opening finishes it.
 */
export function createSegment(
  files: FilePort,
  path: string,
  standing: Standing,
  now: Date,
  signer: Signer | null,
): SegmentFile {
  const placeFile = () => {
    if (!files.exists(path)) files.open(path, 'create').close();
    files.syncDir(dirname(path));
  };
  if (standing.segment > 0) placeFile();
  if (signer) placeCheckpoint(files, path, standing, now, signer);
  if (standing.segment === 0) placeFile();
  return openSegment(files, path, signer);
}

export function openSegment(files: FilePort, path: string, signer: Signer | null): SegmentFile {
  const file = files.open(path, 'append');
  try {
    const sidecar = signer ? files.open(checkpointPath(path), 'update') : null;
    return new SegmentFile(path, file, sidecar, signer, file.stat().size);
  } catch (error) {
    file.close();
    throw error;
  }
}
