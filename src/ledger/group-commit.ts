import { CODES, messageOf, WritError } from '../core/index.ts';

/**
 * Many appends, one flush.
 *
 * G1 Lines are committed in the order they were added.
 * G2 A promise resolves only after `commit` of the batch that holds its line has succeeded.
 * G3 One failed commit poisons the queue: that batch, everything waiting and everything later rejects.
 *    What is on disk after a failed flush is unknown, and going on would turn a doubt into a lie.
 */
export class GroupCommit {
  readonly #commit: (lines: readonly string[]) => Promise<void>;
  readonly #maxLines: number;
  readonly #maxBytes: number;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | null = null;
  #poison: WritError | null = null;

  constructor(options: {
    readonly commit: (lines: readonly string[]) => Promise<void>;
    /** 1 gives each line a flush of its own. */
    readonly maxLines: number;
    /** Lines waiting for the disk hold memory: beyond this, appends are refused. */
    readonly maxWaitingBytes?: number;
  }) {
    this.#commit = options.commit;
    this.#maxLines = options.maxLines;
    this.#maxBytes = options.maxWaitingBytes ?? 256 * 1024 * 1024;
  }

  get poison(): WritError | null {
    return this.#poison;
  }

  /** Throws before anything is queued when a line of this length cannot be taken. */
  admit(bytes: number): void {
    if (this.#poison) throw this.#poison;
    if (this.#waitingBytes + bytes > this.#maxBytes)
      throw new WritError(CODES.storage_failed, `${this.#waitingBytes} bytes of records wait for the disk`, {
        suggestion: 'await earlier appends before adding more',
      });
  }

  /** Resolves to `receipt` when the line is durable. */
  add<T>(line: string, receipt: T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#poison) return reject(this.#poison);
      this.#waiting.push({ line, resolve: () => resolve(receipt), reject });
      this.#waitingBytes += line.length;
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing waits any more, however it ended. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // One turn of the loop, so that appends made together land in one batch.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      try {
        await this.#commit(batch.map((w) => w.line));
      } catch (error) {
        this.#fail(error, batch);
        break;
      }
      for (const { line, resolve } of batch) {
        this.#waitingBytes -= line.length;
        resolve();
      }
    }
    this.#running = null;
  }

  #take(): Waiting[] {
    if (this.#waiting.length <= this.#maxLines) {
      const all = this.#waiting;
      this.#waiting = [];
      return all;
    }
    return this.#waiting.splice(0, this.#maxLines);
  }

  #fail(error: unknown, batch: readonly Waiting[]): void {
    this.#poison = poisoned(error);
    for (const { reject } of batch) reject(this.#poison);
    for (const { reject } of this.#waiting) reject(this.#poison);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: WritError) => void;
}

function poisoned(error: unknown): WritError {
  const inner = error instanceof WritError ? error : null;
  return new WritError(inner?.code ?? CODES.storage_failed, `the journal stopped: ${messageOf(error)}`, {
    suggestion:
      inner?.suggestion ??
      'free space or mend the disk, then start again: opening checks what was written and goes on from there',
    cause: error,
  });
}
