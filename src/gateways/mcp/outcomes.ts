import { messageOf } from '../../core/index.ts';

/**
 * Records of what has already happened. Nobody waits for them: they are made once the answer is on its way and
 * share the flush of the next intent (appended `soon`).
 *
 * O1 They are appended in the order they were noted, before any intent that comes after them.
 * O2 If one cannot be kept, `failed` is told at once: nothing more is forwarded then.
 */
export interface Outcomes {
  note(append: () => Promise<unknown>): void;
  /** Hands over what waits, so that it lands before what is appended next. */
  release(): void;
  /** Resolves when everything noted so far is on disk, or has failed. */
  settled(): Promise<void>;
}

export function openOutcomes(failed: (reason: string) => void): Outcomes {
  let waiting: (() => Promise<unknown>)[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const release = () => {
    if (waiting.length === 0) return;
    const appends = waiting;
    waiting = [];
    for (const append of appends) last = append().catch((error) => failed(messageOf(error)));
  };
  return {
    note: (append) => {
      if (waiting.push(append) === 1) setImmediate(release);
    },
    release,
    settled: async () => {
      release();
      await last;
    },
  };
}
