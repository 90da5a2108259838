import type { Dispatcher } from 'undici';

/**
 * The body of a provider's answer, handed to one reader as it comes, without a stream in between.
 *
 * A1 What came before there is a reader waits for it, and no more than a little of it.
 * A2 Its end or its failure is heard once. An answer that breaks off, or is given up, is a failure, never an end.
 * A3 Given up before it was sent: it is not sent any more.
 */
export interface BodyReader {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: Error): void;
}

export interface AnswerBody {
  /** Once. */
  read(reader: BodyReader): void;
  pause(): void;
  resume(): void;
  /** Gives up the rest: the provider's connection is closed. */
  destroy(reason?: Error): void;
}

/** What may wait here for its reader; then the provider waits. */
const WAITING_BYTES = 64 * 1024;

export interface AnswerHead {
  readonly status: number;
  readonly headers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];
}

/** One request on its way, for undici's dispatcher: tells the head of the answer, then is its body. */
export class IncomingAnswer implements Dispatcher.DispatchHandler, AnswerBody {
  readonly #head = Promise.withResolvers<AnswerHead>();
  readonly #signal: AbortSignal;
  readonly #onAbort: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #reader: BodyReader | undefined;
  #paused = false;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #over: { readonly error?: Error } | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#onAbort = () => this.destroy(signal.reason instanceof Error ? signal.reason : GIVEN_UP);
    signal.addEventListener('abort', this.#onAbort, { once: true });
    // Whoever asks for the head hears of it; nobody may be asking any more.
    this.#head.promise.catch(() => undefined);
  }

  /** Rejects when there is no answer. */
  get head(): Promise<AnswerHead> {
    return this.#head.promise;
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    this.#handOver();
  }

  pause(): void {
    this.#paused = true;
    if (this.#over === undefined) this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#handOver();
  }

  destroy(reason: Error = GIVEN_UP): void {
    this.#waiting = [];
    this.#paused = false;
    this.#finish({ error: reason });
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over?.error !== undefined) controller.abort(this.#over.error);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: AnswerHead['headers'],
  ): void {
    // 100 and its like come before the answer.
    if (status >= 200) this.#head.resolve({ status, headers });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over !== undefined) return;
    if (this.#reader !== undefined && !this.#paused && this.#waiting.length === 0) {
      this.#reader.data(chunk);
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > WAITING_BYTES) this.#controller?.pause();
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish({ error });
  }

  #finish(how: { readonly error?: Error }): void {
    if (this.#over !== undefined) return;
    this.#over = how;
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (how.error !== undefined) this.#head.reject(how.error);
    this.#handOver();
  }

  /** What waits, then the end; as far as the reader takes it. */
  #handOver(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    while (!this.#paused && this.#waiting.length > 0) {
      const chunk = this.#waiting.shift()!;
      this.#waitingBytes -= chunk.length;
      reader.data(chunk);
    }
    if (this.#paused || this.#reader === undefined) return;
    if (this.#over === undefined) {
      if (this.#controller?.paused) this.#controller.resume();
      return;
    }
    this.#reader = undefined;
    if (this.#over.error === undefined) reader.end();
    else reader.fail(this.#over.error);
  }
}

const GIVEN_UP = new Error('the answer was given up');

/** Reads a whole body up to a limit; undefined when it is larger. */
export function readAll(body: AnswerBody, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    body.read({
      data: (chunk) => {
        size += chunk.length;
        if (size <= limit) chunks.push(chunk);
        else {
          resolve(undefined);
          body.destroy();
        }
      },
      end: () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
      fail: reject,
    });
  });
}
