import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock, WritError } from '../../src/core/index.ts';
import { testClock, testIds } from '../../src/core/testing.ts';
import { intent, openJournal, outcome } from '../../src/ledger/index.ts';
import {
  isJournalEvent,
  type JournalItem,
  openIntents,
  readJournal,
  readRecords,
} from '../../src/ledger/read.ts';
import { linesOf, putLines, signer, tempDir, writeJournal } from './helpers.ts';

async function all(path: string): Promise<JournalItem[]> {
  const items: JournalItem[] = [];
  for await (const item of readJournal(path)) items.push(item);
  return items;
}

describe('reading a journal', () => {
  it('[LED-50] streams every record of every segment, with its place', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(
      path,
      Array.from({ length: 20 }, (_, n) => ({ n })),
      { signer, rotateBytes: 900 },
    );
    const items = await all(path);
    expect(items.map((i) => i.kind === 'record' && i.record.n)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    );
    expect(items[0]).toMatchObject({ file: path, line: 1, byte: 0 });
    expect(items[1]).toMatchObject({ file: path, line: 2, byte: `${linesOf(path)[0]}\n`.length });
    expect(items.at(-1)?.file).not.toBe(path);
  });

  it('[LED-50] reports what is wrong and reads on', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
    const lines = linesOf(path);
    putLines(path, [lines[0]!, 'garbage', lines[1]!.replace('"n":2', '"n":9'), lines[3]!]);
    appendFileSync(path, '{"torn');
    const items = await all(path);
    expect(items.map((i) => (i.kind === 'record' ? i.record.n : `${i.line}: ${i.what}`))).toEqual([
      1,
      '2: not JSON',
      '3: its hash is not that of its bytes',
      '4: record 4 where 2 should be',
      '5: the last line is torn (it has no line feed)',
    ]);
    expect(items[3]).toMatchObject({ record: { n: 4 } });
  });

  it('[LED-50] holds one line in memory, however long the file says it is', async () => {
    const path = join(tempDir(), 'j.jsonl');
    writeFileSync(path, Buffer.concat([Buffer.alloc(40 * 1024 * 1024, 'x'), Buffer.from('\nnot json\n')]));
    const before = process.memoryUsage().arrayBuffers;
    const items = await all(path);
    expect(items.map((i) => i.kind === 'problem' && [i.line, i.byte, i.what])).toEqual([
      [1, 0, 'the line is longer than a record can be'],
      [2, 40 * 1024 * 1024 + 1, 'not JSON'],
    ]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * 1024 * 1024);
  });

  it('[LED-50] a missing journal is an error that says so', async () => {
    const error = await all(join(tempDir(), 'none.jsonl')).catch((e) => e);
    expect(error).toBeInstanceOf(WritError);
    expect(error.message).toContain('no such journal');
  });

  it('[LED-50] follows a journal that grows, into its next segment, until told to stop', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const journal = await openJournal({ path, clock: systemClock, rotateBytes: 500 });
    const stop = new AbortController();
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const item of readJournal(path, { follow: stop.signal, pollMs: 5 })) {
        expect(item.kind).toBe('record');
        seen.push(item.record?.n);
        if (seen.length === 12) stop.abort();
      }
    })();
    for (let n = 0; n < 12; n++) {
      await journal.append({ n });
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    await following;
    await journal.close();
    expect(seen).toEqual(Array.from({ length: 12 }, (_, n) => n));
  });
});

describe('intents and outcomes', () => {
  it('[LED-51] an intent is durable before its id is known; without an outcome it is unknown', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const journal = await openJournal({ path, clock: testClock(), signer });
    const ids = testIds();
    const first = await intent(journal, { what: 'delete the rule' }, ids);
    expect(JSON.parse(linesOf(path).at(-1)!)).toMatchObject({
      phase: 'intent',
      intent_id: first,
      what: 'delete the rule',
    });
    const second = await intent(journal, { what: 'add the rule' }, ids);
    await outcome(journal, second, { outcome: 'done', exit_code: 0 });
    await journal.close();
    const open = await openIntents(readRecords(path));
    expect(open.map((i) => [i.intentId, i.outcome, i.record.what])).toEqual([
      [first, 'unknown', 'delete the rule'],
    ]);
    const later = await openJournal({ path, clock: testClock(), signer });
    await outcome(later, first, { outcome: 'unknown' });
    await later.close();
    expect(await openIntents(readRecords(path))).toEqual([]);
  });

  it('[LED-51] records in which the journal speaks of itself can be told apart', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [{ n: 1 }]);
    appendFileSync(path, '{"torn');
    await writeJournal(path, [{ n: 2 }]);
    const own: boolean[] = [];
    for await (const record of readRecords(path)) own.push(isJournalEvent(record));
    expect(own).toEqual([false, true, false]);
  });
});
