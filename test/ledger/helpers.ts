import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { testClock } from '../../src/core/testing.ts';
import {
  generateSigner,
  type Journal,
  type JournalEntry,
  openJournal,
  type PublicKeys,
  type Signer,
} from '../../src/ledger/index.ts';

// Thousands of flushes in a test: where there is a disk in memory, they cost nothing.
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A private folder that goes away with the test. */
export function tempDir(root = ROOT): string {
  const dir = mkdtempSync(join(root, 'writ-ledger-'));
  chmodSync(dir, 0o700);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export function keysOf(...signers: readonly Signer[]): PublicKeys {
  return new Map(signers.map((s) => [s.keyId, s.publicKeyPem]));
}

/** Writes a whole journal and closes it. */
export async function writeJournal(
  path: string,
  entries: readonly JournalEntry[],
  options: { signer?: Signer; rotateBytes?: number; flush?: 'group' | 'each' } = {},
): Promise<Journal> {
  const journal = await openJournal({ path, clock: testClock(), flush: 'each', ...options });
  for (const entry of entries) await journal.append(entry);
  await journal.close();
  return journal;
}

export const signer = generateSigner();

/** Changes a file's bytes in place. */
export function edit(path: string, change: (bytes: Buffer) => Buffer): void {
  writeFileSync(path, change(readFileSync(path)));
}

export function linesOf(path: string): string[] {
  return readFileSync(path, 'latin1').split('\n').slice(0, -1);
}

export function putLines(path: string, lines: readonly string[]): void {
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''), 'latin1');
}
