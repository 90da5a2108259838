import { verify } from 'node:crypto';
import * as fs from 'node:fs';
import { canonicalJson, type Digest, fileError, parseJson } from '../../core/index.ts';
import type { PublicKeys, Signer } from '../../ledger/index.ts';

/**
 * The signed statement beside the database: how long the chain is and how it ends. One fixed-size page,
 * overwritten in place, so a killed process leaves the old statement or the new one.
 */
export interface StoreCheckpoint {
  readonly v: 1;
  readonly store: string;
  readonly seq: number;
  readonly head: string;
  readonly runs: number;
  readonly events: number;
  readonly calls: number;
  readonly results: number;
  readonly timestamp: string;
  readonly key_id: string;
}

export const CHECKPOINT_BYTES = 1024;
const DOMAIN = 'writ run store checkpoint v1\n';

export function checkpointPath(dbPath: string): string {
  return `${dbPath}.checkpoint`;
}

export function encodeCheckpoint(checkpoint: StoreCheckpoint, signer: Signer): Buffer {
  const body = canonicalJson(checkpoint);
  const sig = Buffer.from(signer.sign(Buffer.from(DOMAIN + body))).toString('hex');
  const page = Buffer.alloc(CHECKPOINT_BYTES, ' ');
  page.write(`${body.slice(0, -1)},"sig":"${sig}"}`);
  page[CHECKPOINT_BYTES - 1] = 0x0a;
  return page;
}

export type ReadCheckpoint =
  | { readonly kind: 'good'; readonly checkpoint: StoreCheckpoint }
  | { readonly kind: 'missing' }
  | { readonly kind: 'bad'; readonly what: string };

export function readCheckpoint(path: string, keys: PublicKeys): ReadCheckpoint {
  let page: Buffer;
  try {
    page = fs.readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'bad', what: 'the checkpoint cannot be read' };
  }
  // Made before the first statement is written into it.
  if (page.length === 0) return { kind: 'missing' };
  const found = /^(\{[^\n]*),"sig":"([0-9a-f]{128})"\} *\n$/.exec(page.toString('latin1'));
  if (page.length !== CHECKPOINT_BYTES || !found)
    return { kind: 'bad', what: 'the checkpoint is not in its form' };
  const body = `${found[1]}}`;
  const parsed = parseJson(body);
  if (!parsed.ok) return { kind: 'bad', what: 'the checkpoint is not JSON' };
  const checkpoint = parsed.value as unknown as StoreCheckpoint;
  const pem = keys.get(checkpoint.key_id);
  if (pem === undefined)
    return { kind: 'bad', what: 'the checkpoint is signed by a key that is not known here' };
  if (!verify(null, Buffer.from(DOMAIN + body), pem, Buffer.from(found[2] as string, 'hex')))
    return { kind: 'bad', what: 'the signature of the checkpoint is wrong' };
  return { kind: 'good', checkpoint };
}

/** The file held open for a run; each statement replaces the last in one write. */
export class CheckpointFile {
  readonly #path: string;
  readonly #fd: number;
  readonly #signer: Signer;

  constructor(dbPath: string, signer: Signer) {
    const { O_RDWR, O_CREAT, O_NOFOLLOW } = fs.constants;
    this.#path = checkpointPath(dbPath);
    this.#fd = fs.openSync(this.#path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    this.#signer = signer;
  }

  write(head: Omit<StoreCheckpoint, 'v' | 'key_id' | 'head'> & { readonly head: Digest | string }): void {
    const page = encodeCheckpoint({ v: 1, key_id: this.#signer.keyId, ...head }, this.#signer);
    try {
      fs.writeSync(this.#fd, page, 0, page.length, 0);
    } catch (error) {
      throw fileError(error, this.#path);
    }
  }

  close(): void {
    try {
      fs.fsyncSync(this.#fd);
    } catch (error) {
      throw fileError(error, this.#path);
    } finally {
      fs.closeSync(this.#fd);
    }
  }
}
