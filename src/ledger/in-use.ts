import { tryLock } from './lock.ts';

/** Whether a living process is writing this journal right now. */
export function journalInUse(path: string): boolean {
  const lock = tryLock(path);
  lock?.release();
  return lock === null;
}
