import { CODES, messageOf, WritError } from '../core/index.ts';

/**
 * Many appends, one flush.
 *
 * G1 Lines are committed in the order they were added.
 * G2 A promise resolves only after `commit` of the batch that holds its line has succeeded.
 * G3 A line that is pushed `soon` starts no flush: it shares the next, which begins after SOON_MS at the latest.
 * G4 One failed commit poisons the queue: that batch, everything waiting and everything later rejects.
 *    What is on disk after a failed flush is unknown, and going on would turn a doubt into a lie.
 */
export class GroupCommit {
  readonly #commit: (batches: readonly Batch[]) => Promise<void>;
  readonly #shared: boolean;
  readonly #maxWaitingBytes: number;
  #waiting: Batch[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | null = null;
  #later: NodeJS.Timeout | undefined;
  /** A small buffer that was written out, for the next batch. */
  #spare: Buffer | undefined;
  #poison: WritError | null = null;

  constructor(options: {
    readonly commit: (batches: readonly Batch[]) => Promise<void>;
    /** False gives each line a flush of its own. */
    readonly shared: boolean;
    /** Lines waiting for the disk hold memory: beyond this, appends are refused. */
    readonly maxWaitingBytes?: number;
  }) {
    this.#commit = options.commit;
    this.#shared = options.shared;
    this.#maxWaitingBytes = options.maxWaitingBytes ?? 256 * 1024 * 1024;
  }

  get poison(): WritError | null {
    return this.#poison;
  }

  /** Room for a line of at most `bytes`: write it at `batch.used`, then `push` it in the same turn. */
  reserve(bytes: number): Batch {
    if (this.#poison) throw this.#poison;
    if (this.#waitingBytes + bytes > this.#maxWaitingBytes) throw overwhelmed(this.#waitingBytes);
    const last = this.#waiting.at(-1);
    if (last && this.#shared && last.buffer.length - last.used >= bytes) return last;
    return {
      buffer: this.#bufferOf(this.#shared ? Math.max(bytes, capacityAfter(last)) : bytes),
      used: 0,
      urgent: false,
      waiters: [],
    };
  }

  #bufferOf(bytes: number): Buffer {
    const spare = bytes === MIN_BATCH_BYTES ? this.#spare : undefined;
    if (spare === undefined) return Buffer.allocUnsafeSlow(bytes);
    this.#spare = undefined;
    return spare;
  }

  /** Takes the line that was written into a reserved batch. Resolves to `receipt` when it is durable. */
  push<T>(batch: Batch, bytes: number, receipt: T, when: 'now' | 'soon' = 'now'): Promise<T> {
    return new Promise((resolve, reject) => {
      if (batch.waiters.length === 0) this.#waiting.push(batch);
      batch.used += bytes;
      this.#waitingBytes += bytes;
      batch.waiters.push({ receipt, resolve: resolve as (receipt: unknown) => void, reject });
      batch.urgent ||= when === 'now';
      if (batch.urgent) this.#running ??= this.#run();
      else this.#later ??= setTimeout(() => this.#hurry(), SOON_MS);
    });
  }

  /** What waits for company waits no longer. */
  #hurry(): void {
    this.#cancelLater();
    for (const batch of this.#waiting) batch.urgent = true;
    if (this.#waiting.length > 0) this.#running ??= this.#run();
  }

  #cancelLater(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
  }

  /** Resolves when nothing waits any more, however it ended. */
  async idle(): Promise<void> {
    for (this.#hurry(); this.#running; this.#hurry()) await this.#running;
  }

  async #run(): Promise<void> {
    // One turn of the loop, so that appends made together land in one batch.
    if (this.#shared) await new Promise(setImmediate);
    while (this.#waiting.some((batch) => batch.urgent)) {
      const batches = this.#waiting.splice(0, this.#shared ? MAX_BATCHES_A_FLUSH : 1);
      if (this.#waiting.length === 0) this.#cancelLater();
      try {
        await this.#commit(batches);
      } catch (error) {
        this.#fail(error, batches);
        break;
      }
      for (const { buffer, used, waiters } of batches) {
        if (buffer.length === MIN_BATCH_BYTES) this.#spare = buffer;
        this.#waitingBytes -= used;
        for (const waiter of waiters) waiter.resolve(waiter.receipt);
      }
    }
    this.#running = null;
  }

  /** Poisons the queue for a failure outside of a commit. */
  stop(error: unknown): WritError {
    this.#poison ??= poisoned(error);
    return this.#poison;
  }

  #fail(error: unknown, batches: readonly Batch[]): void {
    const poison = this.stop(error);
    for (const { waiters } of [...batches, ...this.#waiting])
      for (const { reject } of waiters) reject(poison);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

/** Lines that go to the disk together. */
export interface Batch {
  readonly buffer: Buffer;
  used: number;
  /** Somebody waits for one of its lines. */
  urgent: boolean;
  readonly waiters: Waiter[];
}

interface Waiter {
  readonly receipt: unknown;
  readonly resolve: (receipt: unknown) => void;
  readonly reject: (error: WritError) => void;
}

const SOON_MS = 5;
/** Batches grow while they pile up, and what has piled up shares a flush; few bytes are held when there is little to do. */
const MIN_BATCH_BYTES = 16 * 1024;
const MAX_BATCH_BYTES = 1024 * 1024;
const MAX_BATCHES_A_FLUSH = 16;

function capacityAfter(last: Batch | undefined): number {
  return last ? Math.min(last.buffer.length * 2, MAX_BATCH_BYTES) : MIN_BATCH_BYTES;
}

function overwhelmed(bytes: number): WritError {
  return new WritError(CODES.storage_failed, `${bytes} bytes of records wait for the disk`, {
    suggestion: 'await earlier appends before adding more',
  });
}

function poisoned(error: unknown): WritError {
  const inner = error instanceof WritError ? error : null;
  return new WritError(inner?.code ?? CODES.storage_failed, `the journal stopped: ${messageOf(error)}`, {
    suggestion:
      inner?.suggestion ??
      'free space or mend the disk, then start again: opening checks what was written and goes on from there',
    cause: error,
    ...(inner ? { exit: inner.exit, context: inner.context } : {}),
  });
}
