/**
 * Multipath TCP: which streams are paths of one connection. Paths share the list of operations seen so far, since a
 * repeated ack that carries a new operation is no duplicate.
 *
 * Bounds: at most `MAX_TOKENS` connections are remembered, the oldest go first.
 */
import { createHash } from 'node:crypto';
import { u32be } from '../read/bytes.ts';
import { MPTCP } from './options.ts';
import { I, STREAM_WORDS, type StreamState } from './stream-state.ts';

const MAX_TOKENS = 4096;
const CAPABLE = 0;
const JOIN = 1;
const KEY = 8;
/** Operations beyond this one change nothing. */
const LAST_OPERATION = 7;

interface Connection {
  operations: number;
  readonly slots: Set<number>;
}

export class MultipathTcp {
  readonly #state: StreamState;
  readonly #byToken = new Map<number, Connection>();
  readonly #bySlot = new Map<number, Connection>();

  constructor(state: StreamState) {
    this.#state = state;
  }

  /** Options from `start` on, which is one of MPTCP; all that fit before `limit` are in the capture. */
  options(slot: number, b: Uint8Array, start: number, limit: number): void {
    let o = start;
    while (o + 1 < limit && b[o] !== 0) {
      const length = b[o] === 1 ? 1 : b[o + 1]!;
      if (length === 0 || o + length > limit) return;
      if (b[o] === MPTCP && length > 2) this.#option(slot, b, o, length);
      o += length;
    }
  }

  #option(slot: number, b: Uint8Array, o: number, length: number): void {
    const operation = b[o + 2]! >> 4;
    if (operation === CAPABLE && length >= 4 + KEY) {
      const version = b[o + 2]! & 15;
      this.#join(slot, tokenOf(b.subarray(o + 4, o + 4 + KEY), version));
      if (length >= 4 + 2 * KEY) this.#join(slot, tokenOf(b.subarray(o + 12, o + 12 + KEY), version));
    } else if (operation === JOIN && length === 12) this.#join(slot, u32be(b, o + 4));
    if (operation > LAST_OPERATION) return;
    const connection = this.#bySlot.get(slot) ?? this.#attach(slot, { operations: 0, slots: new Set() });
    const operations = connection.operations | (1 << operation);
    if (operations === connection.operations) return;
    connection.operations = operations;
    for (const path of connection.slots) this.#state.words[path * STREAM_WORDS + I.mptcp] = operations;
  }

  forget(slot: number): void {
    if (this.#bySlot.size === 0) return;
    this.#bySlot.get(slot)?.slots.delete(slot);
    this.#bySlot.delete(slot);
  }

  #join(slot: number, token: number): void {
    const known = this.#byToken.get(token);
    if (known !== undefined) {
      this.#attach(slot, known);
      return;
    }
    if (this.#byToken.size >= MAX_TOKENS) this.#byToken.delete(this.#byToken.keys().next().value ?? 0);
    const own = this.#bySlot.get(slot) ?? this.#attach(slot, { operations: 0, slots: new Set() });
    this.#byToken.set(token, own);
  }

  #attach(slot: number, connection: Connection): Connection {
    const before = this.#bySlot.get(slot);
    if (before === connection) return connection;
    before?.slots.delete(slot);
    connection.slots.add(slot);
    this.#bySlot.set(slot, connection);
    this.#state.words[slot * STREAM_WORDS + I.mptcp] = connection.operations;
    return connection;
  }
}

/** A connection is named by the first bytes of a key's digest: which one depends on the version. */
function tokenOf(key: Uint8Array, version: number): number {
  if (version > 1) return 0;
  const digest = createHash(version === 0 ? 'sha1' : 'sha256')
    .update(key)
    .digest();
  return u32be(digest, 0);
}
