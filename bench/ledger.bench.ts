import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/core/index.ts';
import {
  type Journal,
  loadOrCreateSigner,
  loadPublicKeys,
  openJournal,
  type Signer,
  verifyFile,
} from '../src/ledger/index.ts';
import { type Bench, type BenchRow, median } from './bench.ts';

/** A record like those of the shell's audit: about 300 bytes of the caller's own. */
function entry(n: number) {
  return {
    session_id: 'ghost_20260115_143022',
    audit_id: `ghost_20260115_143022_${String(n).padStart(6, '0')}`,
    command: 'az network nic list --resource-group prod --query "[].name" -o json',
    reasoning: 'find the NIC of the VM that cannot be reached',
    status: 'completed',
    classification: 'SAFE',
    action: 'auto_approved',
    exit_code: 0,
    error: null,
    duration_seconds: 0.25 + (n % 7),
    output_truncated: false,
    redaction_categories: [],
  };
}

const WINDOW = 5000;

/** Two windows are under way at a time: one is encoded while the other is flushed. */
async function appendAll(journal: Journal, count: number): Promise<void> {
  let flushing: Promise<unknown> = Promise.resolve();
  for (let done = 0; done < count; done += WINDOW) {
    const size = Math.min(WINDOW, count - done);
    const window = Promise.all(Array.from({ length: size }, (_, n) => journal.append(entry(done + n))));
    await flushing;
    flushing = window;
  }
  await flushing;
}

async function grouped(dir: string, signer: Signer, count: number, repeats: number): Promise<BenchRow> {
  const rates: number[] = [];
  for (let round = 0; round <= repeats; round++) {
    const path = join(dir, `group${round}.jsonl`);
    const journal = await openJournal({
      path,
      clock: systemClock,
      signer,
      rotateBytes: Number.MAX_SAFE_INTEGER,
    });
    const start = performance.now();
    await appendAll(journal, count);
    // The first round warms up.
    if (round > 0) rates.push((count / (performance.now() - start)) * 1000);
    await journal.close();
    if (round < repeats) rmSync(path);
  }
  return {
    what: 'records appended, group commit',
    value: median(rates),
    unit: 'records/s',
    target: '>= 100000',
    inside: `encoding, hashing, writing, fdatasync and signing of ${count} records, up to ${2 * WINDOW} outstanding; every promise awaited`,
    spread: range(rates),
  };
}

async function each(dir: string, signer: Signer, count: number): Promise<BenchRow> {
  const journal = await openJournal({
    path: join(dir, 'each.jsonl'),
    clock: systemClock,
    signer,
    flush: 'each',
  });
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await journal.append(entry(n));
    times.push((performance.now() - start) * 1000);
  }
  await journal.close();
  return {
    what: 'one record appended, a flush of its own',
    value: median(times),
    unit: 'µs',
    target: '',
    inside: `one append from call to durable and signed, one after the other, ${count} times`,
    spread: range(times),
  };
}

async function verified(path: string, keysDir: string, count: number, repeats: number): Promise<BenchRow> {
  const rates: number[] = [];
  const publicKeys = loadPublicKeys(keysDir);
  for (let round = 0; round <= repeats; round++) {
    const start = performance.now();
    const verdict = await verifyFile(path, { publicKeys });
    const seconds = (performance.now() - start) / 1000;
    if (verdict.status !== 'intact' || verdict.records !== count) throw new Error(JSON.stringify(verdict));
    if (round > 0) rates.push(count / seconds);
  }
  return {
    what: 'records verified on one core',
    value: median(rates),
    unit: 'records/s',
    target: '>= 200000',
    inside: `reading the file, hashing and parsing every line, the chain, the signature; ${count} records`,
    spread: range(rates),
  };
}

async function reopened(path: string, signer: Signer): Promise<BenchRow> {
  const start = performance.now();
  const journal = await openJournal({
    path,
    clock: systemClock,
    signer,
    rotateBytes: Number.MAX_SAFE_INTEGER,
  });
  const ms = performance.now() - start;
  const { count } = journal;
  await journal.close();
  return {
    what: 'a journal opened again',
    value: ms,
    unit: 'ms',
    target: '',
    inside: `checking the whole chain of ${count} records`,
  };
}

function range(values: readonly number[]): string {
  return `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`;
}

export const bench: Bench = {
  name: 'ledger',
  async run({ quick }) {
    const dir = mkdtempSync(join(tmpdir(), 'writ-bench-'));
    chmodSync(dir, 0o700);
    try {
      const keysDir = join(dir, 'keys');
      const signer = loadOrCreateSigner(keysDir);
      const [count, repeats] = quick ? [100_000, 3] : [300_000, 7];
      const rows = [await grouped(dir, signer, count, repeats), await each(dir, signer, quick ? 300 : 2000)];
      const last = join(dir, `group${repeats}.jsonl`);
      rows.push(await verified(last, keysDir, count, repeats), await reopened(last, signer));
      return rows;
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
