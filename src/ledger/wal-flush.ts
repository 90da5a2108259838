import * as fs from 'node:fs';

/**
 * Durability of SQLite commits without a wait in each of them.
 *
 * Opened with `synchronous: 'NORMAL'`, a commit appends to the write-ahead log and returns; a commit whose
 * frames have reached the disk survives a power cut. So the flush can be done here, off the main thread, and
 * one flush serves every commit that was made before it began.
 *
 * W1 `flushed` resolves only after a flush that began after it was called.
 * W2 A failed flush rejects everyone who waited for it, and everyone after: what is on disk is unknown.
 */
export interface WalFlush {
  flushed(): Promise<void>;
  close(): void;
}

/** `database` must be open in WAL mode, and stay open for as long as this is. */
export function openWalFlush(database: string): WalFlush {
  const fd = fs.openSync(`${database}-wal`, fs.constants.O_RDWR | fs.constants.O_NOFOLLOW);
  let running = false;
  let failure: Error | undefined;
  let waiting: PromiseWithResolvers<void> | undefined;
  const run = () => {
    const served = waiting;
    waiting = undefined;
    running = true;
    fs.fdatasync(fd, (error) => {
      running = false;
      failure ??= error ?? undefined;
      if (failure) served?.reject(failure);
      else served?.resolve();
      if (waiting) run();
    });
  };
  return {
    flushed: () => {
      if (failure) return Promise.reject(failure);
      waiting ??= Promise.withResolvers<void>();
      const { promise } = waiting;
      // At once; commits that come while it runs share the next.
      if (!running) run();
      return promise;
    },
    close: () => fs.closeSync(fd),
  };
}
