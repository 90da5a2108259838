import { verify } from 'node:crypto';
import { canonicalJson } from '../core/index.ts';

/**
 * Checkpoint format, version 1: what a signer vouches for about one segment of a journal. Frozen, like
 * the record format.
 *
 * C1 A checkpoint file is exactly CHECKPOINT_BYTES long: one JSON object, blanks, one LF. It is
 *    overwritten in place, within one page, so a killed process leaves the old one or the new one.
 * C2 Without its last member `sig`, the object is RFC 8785 canonical JSON; `sig` is the Ed25519 signature,
 *    128 lower-case hex digits, of the ASCII text `writ checkpoint v1`, LF, and those canonical bytes.
 * C3 `count` is the sequence of the segment's last record, over all segments; `bytes` the segment's length.
 *    `first` and `before` are the sequence and `prev_hash` that the segment's first record has or will have.
 */
export const CHECKPOINT_BYTES = 1024;
const DOMAIN = 'writ checkpoint v1\n';

export interface CheckpointV1 {
  readonly v: 1;
  /** Random id of the journal, the same in all segments. */
  readonly journal: string;
  /** File name of the segment it speaks of: a renamed or swapped file does not fit. */
  readonly file: string;
  readonly segment: number;
  readonly first: number;
  readonly before: string;
  readonly count: number;
  readonly head: string;
  readonly bytes: number;
  /** Records that were covered only after a restart, in all segments so far. */
  readonly adopted: number;
  /** True when a next segment follows. */
  readonly sealed: boolean;
  /** True when the journal is listed in a catalogue. */
  readonly listed: boolean;
  readonly timestamp: string;
  readonly key_id: string;
}

export function encodeCheckpointV1(checkpoint: CheckpointV1, sign: (data: Uint8Array) => Uint8Array): Buffer {
  const body = canonicalJson(checkpoint);
  const sig = Buffer.from(sign(Buffer.from(DOMAIN + body))).toString('hex');
  const text = Buffer.from(`${body.slice(0, -1)},"sig":"${sig}"}`);
  if (text.length >= CHECKPOINT_BYTES) throw new RangeError(`the name ${checkpoint.file} is too long`);
  const out = Buffer.alloc(CHECKPOINT_BYTES, ' ');
  text.copy(out);
  out[CHECKPOINT_BYTES - 1] = 0x0a;
  return out;
}

export type DecodedCheckpointV1 =
  | { readonly ok: true; readonly checkpoint: CheckpointV1 }
  | {
      readonly ok: false;
      readonly reason: 'malformed' | 'unknown_key' | 'bad_signature';
      readonly what: string;
    };

/** Decodes and checks the signature; any other byte than the writer's makes it fail. */
export function decodeCheckpointV1(
  bytes: Buffer,
  publicKeys: ReadonlyMap<string, string>,
): DecodedCheckpointV1 {
  if (bytes.length !== CHECKPOINT_BYTES)
    return malformed(`the checkpoint is ${bytes.length} bytes long, not ${CHECKPOINT_BYTES}`);
  const text = bytes.toString('latin1').trimEnd();
  const found = /^(.*),"sig":"([0-9a-f]{128})"\}$/.exec(text);
  const body = `${found?.[1]}}`;
  let checkpoint: CheckpointV1;
  try {
    checkpoint = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as CheckpointV1;
  } catch {
    return malformed('the checkpoint is not JSON ending with its signature');
  }
  const padding = bytes.subarray(text.length);
  if (!padding.every((b, i) => b === (i === padding.length - 1 ? 0x0a : 0x20)))
    return malformed('the blanks behind the checkpoint were changed');
  if (checkpoint?.v !== 1) return malformed(`checkpoint version ${String(checkpoint?.v)} is not known`);
  const pem = publicKeys.get(checkpoint.key_id);
  if (pem === undefined)
    return {
      ok: false,
      reason: 'unknown_key',
      what: `signed by key ${String(checkpoint.key_id)}, which is not known here`,
    };
  const data = Buffer.concat([Buffer.from(DOMAIN), Buffer.from(body, 'latin1')]);
  if (!verify(null, data, pem, Buffer.from(found?.[2] ?? '', 'hex')))
    return { ok: false, reason: 'bad_signature', what: 'the signature of the checkpoint is wrong' };
  return { ok: true, checkpoint };
}

function malformed(what: string): DecodedCheckpointV1 {
  return { ok: false, reason: 'malformed', what };
}
