import { basename } from 'node:path';
import { CODES, EXIT, quoteArgv, WritError } from '../core/index.ts';
import { CHECKPOINT_BYTES, type CheckpointV1, decodeCheckpointV1 } from './checkpoint-v1.ts';
import type { FilePort, OpenFile } from './file-port.ts';
import { checkpointPath, segmentPath } from './segments.ts';
import type { PublicKeys, Signer } from './types.ts';

export interface SidecarOptions {
  readonly files: FilePort;
  /** The first segment. */
  readonly path: string;
  readonly signer: Signer | null;
  readonly trusted: PublicKeys;
}

/** The checkpoint of a segment, checked; null when there is none and none is needed. */
export function readCheckpoint(options: SidecarOptions, segment: number): CheckpointV1 | null {
  const { files, signer } = options;
  const path = segmentPath(options.path, segment);
  const sidecar = checkpointPath(path);
  if (!files.exists(sidecar)) {
    if (signer && files.exists(path) && sizeOf(files, path) > 0)
      throw damage(
        path,
        null,
        'it has records but no checkpoint: it was removed, or the journal was begun without a key',
      );
    return null;
  }
  if (!signer)
    throw new WritError(
      CODES.invalid_input,
      `${path}: the journal is signed and cannot be continued without a key`,
      {
        suggestion: 'open it with the signer of its state folder (loadOrCreateSigner)',
        exit: EXIT.usage,
      },
    );
  const trusted = new Map(options.trusted).set(signer.keyId, signer.publicKeyPem);
  const decoded = decodeCheckpointV1(readAll(files, sidecar), trusted);
  if (!decoded.ok) throw damage(sidecar, 1, decoded.what);
  const { checkpoint } = decoded;
  if (checkpoint.file !== basename(path) || checkpoint.segment !== segment)
    throw damage(sidecar, 1, `it was made for ${checkpoint.file}: the files were renamed or swapped`);
  return checkpoint;
}

function readAll(files: FilePort, path: string): Buffer {
  return using(files.open(path, 'read'), (file) => {
    const bytes = Buffer.alloc(Math.min(file.stat().size, CHECKPOINT_BYTES + 1));
    return bytes.subarray(0, file.read(bytes, 0));
  });
}

export function sizeOf(files: FilePort, path: string): number {
  return using(files.open(path, 'read'), (file) => file.stat().size);
}

export function using<T>(file: OpenFile, work: (file: OpenFile) => T): T {
  try {
    return work(file);
  } finally {
    file.close();
  }
}

/** Refuses to open: nothing was changed, and this is what to do. */
export function damage(path: string, line: number | null, what: string): WritError {
  return new WritError(CODES.integrity_broken, `${path}${line === null ? '' : `:${line}`}: ${what}`, {
    suggestion: `nothing was changed. Look: writ audit verify ${quoteArgv([path])}. To start afresh, keep the evidence: move the file and what lies beside it to another folder`,
    context: { path, line },
    exit: EXIT.integrity,
  });
}
