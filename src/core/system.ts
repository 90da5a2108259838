import { randomUUID } from 'node:crypto';
import type { Clock, Ids } from './ports.ts';

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** Random, 122 bits: the runtime keeps a stock of these, where asking for bytes is a call into the library each time. */
export const systemIds: Ids = { next: (prefix) => `${prefix}_${randomUUID().replaceAll('-', '')}` };
