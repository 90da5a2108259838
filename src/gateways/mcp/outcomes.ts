import { messageOf } from '../../core/index.ts';

/**
 * Records of what has already happened. Nobody waits for them, so they wait for the next intent and share
 * its flush, a few milliseconds at most.
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

const WAIT_MS = 5;
const MAX_WAITING = 1000;

export function openOutcomes(failed: (reason: string) => void): Outcomes {
  let waiting: (() => Promise<unknown>)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    const appends = waiting;
    waiting = [];
    for (const append of appends) last = append().catch((error) => failed(messageOf(error)));
  };
  return {
    note: (append) => {
      waiting.push(append);
      if (waiting.length >= MAX_WAITING) release();
      else timer ??= setTimeout(release, WAIT_MS);
    },
    release,
    settled: async () => {
      release();
      await last;
    },
  };
}
