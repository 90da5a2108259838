import { type Clock, messageOf } from '../../core/index.ts';

/** A model call that failed for good, in words for the engineer. */
export class BrainError extends Error {
  override readonly name = 'BrainError';
}

const PAUSES_MS = [1_000, 3_000, 8_000];

/** Tries again on 429 and 5xx and on broken connections; anything else is final at once. */
export async function withRetries<T>(clock: Clock, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      const pause = PAUSES_MS[attempt];
      if (pause === undefined || !mayPass(error)) throw new BrainError(describe(error), { cause: error });
      await clock.sleep(pause, signal);
    }
  }
}

function mayPass(error: unknown): boolean {
  const status = (error as { status?: unknown }).status;
  if (typeof status === 'number') return status === 408 || status === 429 || status >= 500;
  return /fetch failed|ECONNRESET|ECONNREFUSED|socket|network|terminated|Connection error/i.test(
    messageOf(error),
  );
}

function describe(error: unknown): string {
  const status = (error as { status?: unknown }).status;
  const said = messageOf(error).replace(/\s+/g, ' ').slice(0, 300);
  return typeof status === 'number'
    ? `the model answered ${status}: ${said}`
    : `the model could not be used: ${said}`;
}
