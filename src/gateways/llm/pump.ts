import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * The provider's bytes, at the caller's pace.
 *
 * M1 While the caller does not read, the provider is not read: nothing piles up here.
 * M2 A caller that does not read for a minute, or is gone, ends it; so does the signal.
 * M3 An answer that breaks off is an error, never an end.
 */
const STALL_MS = 60_000;

/** `take` may answer a promise: the next bytes wait for it. Whatever it throws ends the pump. */
export function pump(
  body: Readable,
  res: ServerResponse,
  signal: AbortSignal,
  take: (chunk: Buffer) => Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let stalled: NodeJS.Timeout | undefined;
    const finish = (error?: unknown) => {
      clearTimeout(stalled);
      body.off('data', onData).off('end', onEnd).off('close', onBroken);
      res.off('drain', onDrain).off('close', onGone);
      signal.removeEventListener('abort', onGone);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onEnd = () => finish();
    const onBroken = () => finish(new Error('the provider broke off its answer'));
    const onGone = () => finish(new Error('the caller went away, or time is up'));
    const onDrain = () => {
      clearTimeout(stalled);
      stalled = undefined;
      body.resume();
    };
    const next = () => {
      if (res.destroyed) onGone();
      else if (!res.writableNeedDrain) body.resume();
      else {
        body.pause();
        stalled ??= setTimeout(() => finish(new Error('the caller does not read')), STALL_MS);
      }
    };
    const onData = (chunk: Buffer) => {
      try {
        const later = take(chunk);
        if (later === undefined) {
          if (res.writableNeedDrain || res.destroyed) next();
          return;
        }
        body.pause();
        later.then(next, finish);
      } catch (error) {
        finish(error);
      }
    };
    if (signal.aborted) {
      onGone();
      return;
    }
    body.on('end', onEnd).on('close', onBroken).on('data', onData);
    // Also heard after the end of this: a body given up before it is read says so as an error.
    body.on('error', finish);
    res.on('drain', onDrain).on('close', onGone);
    signal.addEventListener('abort', onGone, { once: true });
  });
}
