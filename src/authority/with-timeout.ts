export type Timed<T> = { readonly late: false; readonly value: T } | { readonly late: true };

/** The work's answer, or `late` when there is none in time. The work gets a signal and may stop early. */
export async function withTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  ms: number,
  outer?: AbortSignal,
): Promise<Timed<T>> {
  const stop = new AbortController();
  const late = Promise.withResolvers<Timed<T>>();
  const giveUp = () => {
    late.resolve({ late: true });
    stop.abort();
  };
  const timer = setTimeout(giveUp, Math.min(ms, 2 ** 31 - 1));
  outer?.addEventListener('abort', giveUp, { once: true });
  try {
    if (outer?.aborted) return { late: true };
    const done = work(stop.signal).then((value): Timed<T> => ({ late: false, value }));
    // Whoever answers after the bell is no longer heard, also when it fails.
    done.catch(() => {});
    return await Promise.race([done, late.promise]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', giveUp);
  }
}
