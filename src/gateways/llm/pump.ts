import type { AnswerBody } from './answer-body.ts';
import type { Outlet } from './outlet.ts';

/**
 * The provider's bytes, at the caller's pace.
 *
 * M1 While the caller does not read, the provider is not read: nothing piles up here.
 * M2 A caller that does not read for a minute, or is gone, ends it.
 * M3 An answer that breaks off is an error, never an end.
 */
const STALL_MS = 60_000;

/** `take` may answer a promise: the next bytes wait for it. Whatever it throws ends the pump. */
export function pump(
  body: AnswerBody,
  outlet: Outlet,
  take: (chunk: Buffer) => Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let stalled: NodeJS.Timeout | undefined;
    let over = false;
    const finish = (error?: unknown) => {
      over = true;
      clearTimeout(stalled);
      watch.stop();
      if (error === undefined) resolve();
      else reject(error);
    };
    const onGone = () => finish(new Error('the caller went away'));
    const onDrain = () => {
      clearTimeout(stalled);
      stalled = undefined;
      if (!over) body.resume();
    };
    const next = () => {
      if (over) return;
      if (outlet.gone) onGone();
      else if (!outlet.full) body.resume();
      else {
        body.pause();
        stalled ??= setTimeout(() => finish(new Error('the caller does not read')), STALL_MS);
      }
    };
    const watch = outlet.watch(onDrain, onGone);
    body.read({
      data: (chunk) => {
        if (over) return;
        try {
          const later = take(chunk);
          if (later === undefined) {
            if (outlet.full || outlet.gone) next();
            return;
          }
          body.pause();
          later.then(next, finish);
        } catch (error) {
          finish(error);
        }
      },
      end: () => finish(),
      fail: finish,
    });
  });
}
