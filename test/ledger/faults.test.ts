import { appendFileSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WritError } from '../../src/core/index.ts';
import { testClock } from '../../src/core/testing.ts';
import { type Journal, verifyJournal, worstStatus } from '../../src/ledger/index.ts';
import { openJournal } from '../../src/ledger/journal.ts';
import { readRecords } from '../../src/ledger/read.ts';
import { faultyDisk } from './fault-port.ts';
import { keysOf, signer, tempDir } from './helpers.ts';

const publicKeys = keysOf(signer);

/** What was acknowledged before the disk failed. */
async function work(
  path: string,
  files: ReturnType<typeof faultyDisk>['files'],
  from: number,
): Promise<number[]> {
  const acknowledged: number[] = [];
  let journal: Journal | undefined;
  try {
    journal = await openJournal(
      { path, clock: testClock(), signer, flush: 'each', rotateBytes: 600 },
      { files },
    );
    for (let n = from; n < from + 6; n++) {
      await journal.append({ n });
      acknowledged.push(n);
    }
    await journal.checkpoint();
    await journal.close();
  } catch (error) {
    expect(error).toBeInstanceOf(WritError);
    // Poisoned: nothing is taken any more.
    await journal?.append({ n: -1 }).then(
      () => expect.unreachable('an append after a failure was acknowledged'),
      (refusal) => expect(refusal).toBeInstanceOf(WritError),
    );
    await journal?.close().catch(() => {});
  }
  return acknowledged;
}

async function contents(path: string): Promise<number[]> {
  const found: number[] = [];
  for await (const record of readRecords(path)) if (typeof record.n === 'number') found.push(record.n);
  return found;
}

/** After a failure: whatever the disk holds, it is never tampered; opening it again settles it for good. */
async function settle(path: string, acknowledged: readonly number[], what: string): Promise<void> {
  const before = worstStatus(
    (await verifyJournal(path, { publicKeys, lookAgainMs: 0 })).verdicts.map((v) => v.status),
  );
  expect(before, what).not.toBe('tampered');
  // Without a change of segment: what an interrupted one left behind must not linger.
  const journal = await openJournal({ path, clock: testClock(), signer, flush: 'each' });
  await journal.append({ n: 1000 });
  await journal.close();
  const after = (await verifyJournal(path, { publicKeys, lookAgainMs: 0 })).verdicts;
  expect(
    after.map((v) => v.status),
    `${what}: ${JSON.stringify(after)}`,
  ).toEqual(after.map(() => 'intact'));
  const found = await contents(path);
  expect(found, what).toEqual([...new Set(found)]);
  expect(
    found.filter((n) => acknowledged.includes(n)),
    what,
  ).toEqual(acknowledged);
  expect(found, what).not.toContain(-1);
}

for (const short of [false, true])
  for (const once of [false, true])
    describe(`a disk that fails ${once ? 'once' : 'for good'}${short ? ', in the middle of an append' : ''}`, () => {
      it('[LED-20] at every call of a new journal: nothing acknowledged is lost, nothing is tampered', async () => {
        for (let n = 1; ; n++) {
          const path = join(tempDir(), 'j.jsonl');
          const disk = faultyDisk(n, { short, once });
          const acknowledged = await work(path, disk.files, 0);
          await settle(path, acknowledged, `call ${n}`);
          if (!disk.failed) {
            expect(n).toBeGreaterThan(30);
            break;
          }
        }
      });

      it('[LED-20] at every call of opening after a crash that tore the last line', async () => {
        const crashed = tempDir();
        const earlier = await work(join(crashed, 'j.jsonl'), faultyDisk(Number.POSITIVE_INFINITY).files, 0);
        const last = (await verifyJournal(join(crashed, 'j.jsonl'), { publicKeys })).verdicts.at(-1)!.path;
        appendFileSync(last, readFileSync(last).subarray(0, 40));
        for (let n = 1; ; n++) {
          const dir = tempDir();
          const path = join(dir, 'j.jsonl');
          cpSync(crashed, dir, { recursive: true });
          const disk = faultyDisk(n, { short, once });
          const acknowledged = await work(path, disk.files, 100);
          await settle(path, [...earlier, ...acknowledged], `call ${n}`);
          const tears: string[] = [];
          for await (const record of readRecords(path))
            if (record.event === 'journal.torn_tail') tears.push(String(record.torn_bytes));
          expect(tears, `call ${n}`).toContain('40');
          if (!disk.failed) break;
        }
      });
    });
