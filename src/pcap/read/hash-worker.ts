/** The other end of `FileHash`: hashes a file on a thread of its own. */
import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const STEP = 256 * 1024;

const { fd } = workerData as { readonly fd: number };
const hash = createHash('sha256');
const piece = new Uint8Array(STEP);
// Positioned reads: the descriptor is shared with the reader, its position is not.
for (let at = 0, got = 1; got > 0; at += got) {
  got = readSync(fd, piece, 0, STEP, at);
  hash.update(piece.subarray(0, got));
}
parentPort?.postMessage(hash.digest('hex'));
