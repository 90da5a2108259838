/** SHA-256 of a large capture: hashing takes as long as analysing, so a thread of its own does it meanwhile. */
import { Worker } from 'node:worker_threads';

/** Below this, starting a thread costs more than it saves. */
export const LARGE_FILE = 32 * 1024 * 1024;

/** A thread starts without the compile cache, and making ready to read TypeScript would take longer than starting it. */
const START =
  "require('node:module').enableCompileCache?.(); import(require('node:worker_threads').workerData.module)";

export interface HashInProgress {
  readonly digest: Promise<string>;
  /** Must be awaited before the descriptor is closed, lest the thread read another file under its number. */
  stop(): Promise<void>;
}

/** Hashes the whole file behind an open descriptor, whatever the position of its other readers. */
export function hashOnThread(fd: number): HashInProgress {
  // In a checkout this is TypeScript, in the installed package JavaScript.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const module = new URL(`./hash-worker.${extension}`, import.meta.url).href;
  const worker = new Worker(START, { eval: true, workerData: { fd, module } });
  const digest = new Promise<string>((resolve, reject) => {
    worker.once('message', (text: unknown) => resolve(String(text)));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the hashing thread ended without an answer')));
  });
  // Whoever awaits `digest` hears of a failure; when nobody does, it was not needed.
  digest.catch(() => undefined);
  return { digest, stop: async () => void (await worker.terminate()) };
}
