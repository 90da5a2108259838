import { verify } from 'node:crypto';
import type { PublicKeys } from '../types.ts';
import { checkpointName } from './names.ts';
import { type Evidence, readSmall } from './source.ts';

/** What a signature vouches for. */
export interface Vouched {
  readonly journal: string;
  readonly file: string;
  readonly segment: number;
  readonly first: number;
  readonly before: string;
  readonly count: number;
  readonly head: string;
  readonly bytes: number;
  readonly adopted: number;
  readonly sealed: boolean;
  readonly listed: boolean;
  readonly key_id: string;
}

export type CheckpointState =
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly what: string }
  | { readonly kind: 'stranger'; readonly keyId: string }
  | { readonly kind: 'good'; readonly vouched: Vouched };

const LENGTH = 1024;
const DOMAIN = Buffer.from('writ checkpoint v1\n');
// Everything that was signed, the signature, blanks up to the fixed length, and one LF.
const SHAPE = /^(\{.*),"sig":"([0-9a-f]{128})"\} *\n$/;

export function readCheckpoint(evidence: Evidence, segmentFile: string, keys: PublicKeys): CheckpointState {
  const bytes = readSmall(evidence, checkpointName(segmentFile), LENGTH);
  if (!bytes) return { kind: 'none' };
  if (bytes.length !== LENGTH) return { kind: 'broken', what: `it is not ${LENGTH} bytes long` };
  const shape = SHAPE.exec(bytes.toString('latin1'));
  if (!shape) return { kind: 'broken', what: 'it does not have the form of a checkpoint' };
  const signed = Buffer.from(`${shape[1]}}`, 'latin1');
  const vouched = parse(signed.toString('utf8'));
  if (!vouched) return { kind: 'broken', what: 'what it says cannot be read' };
  const pem = keys.get(vouched.key_id);
  if (pem === undefined) return { kind: 'stranger', keyId: vouched.key_id };
  if (!verify(null, Buffer.concat([DOMAIN, signed]), pem, Buffer.from(shape[2] ?? '', 'hex')))
    return { kind: 'broken', what: 'its signature is wrong' };
  return { kind: 'good', vouched };
}

function parse(text: string): Vouched | null {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
  const numbers = ['segment', 'first', 'count', 'bytes', 'adopted'].every((name) => {
    const n = value[name];
    return Number.isSafeInteger(n) && (n as number) >= 0;
  });
  const texts = ['journal', 'file', 'before', 'head', 'key_id'].every(
    (name) => typeof value[name] === 'string',
  );
  const flags = ['sealed', 'listed'].every((name) => typeof value[name] === 'boolean');
  return value.v === 1 && numbers && texts && flags ? (value as unknown as Vouched) : null;
}
