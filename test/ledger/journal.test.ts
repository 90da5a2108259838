import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CODES, type Json, sha256, systemClock, WritError, ZERO_DIGEST } from '../../src/core/index.ts';
import { testClock } from '../../src/core/testing.ts';
import { generateSigner, openJournal, verifyFile, verifyJournal } from '../../src/ledger/index.ts';
import { edit, keysOf, linesOf, putLines, signer, tempDir, writeJournal } from './helpers.ts';

const open = (path: string, more: object = {}) => openJournal({ path, clock: testClock(), ...more });
const refusal = async (promise: Promise<unknown>): Promise<WritError> => {
  const error = await promise.then(
    () => expect.unreachable('it was not refused'),
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(WritError);
  return error as WritError;
};

describe('a journal', () => {
  it('[LED-03] chains records from 1, with the entry at top level and its own fields added', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const journal = await open(path);
    const first = await journal.append({ command: 'ls', timestamp: '2026-01-01T00:00:00Z' });
    const second = await journal.append({ command: 'pwd' });
    await journal.close();
    const [a, b] = linesOf(path).map((line) => JSON.parse(line));
    expect(a).toEqual({
      command: 'ls',
      timestamp: '2026-01-01T00:00:00Z',
      sequence: 1,
      prev_hash: ZERO_DIGEST,
      hash: first.hash,
    });
    expect(b).toMatchObject({
      command: 'pwd',
      timestamp: '2026-01-15T14:30:00.000Z',
      sequence: 2,
      prev_hash: a.hash,
    });
    expect(second).toEqual({ sequence: 2, hash: b.hash, timestamp: b.timestamp });
    expect([journal.count, journal.head]).toEqual([2, b.hash]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('[LED-03] refuses entries it cannot record faithfully, and goes on unharmed', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const journal = await open(path, { signer });
    const bad: Record<string, Json>[] = [
      { sequence: 7 },
      { prev_hash: 'x' },
      { hash: 'x' },
      { timestamp: 'yesterday' },
      { timestamp: 5 },
      { n: Number.NaN },
      { text: '\ud800' },
      { big: 'x'.repeat(9 * 1024 * 1024) },
    ];
    for (const entry of bad) expect((await refusal(journal.append(entry))).code).toBe(CODES.invalid_input);
    await journal.append({ fine: true });
    await journal.close();
    expect(await verifyFile(path, { publicKeys: keysOf(signer) })).toMatchObject({
      status: 'intact',
      records: 1,
    });
    const strict = await open(join(tempDir(), 's.jsonl'), { timestamps: 'require' });
    await refusal(strict.append({ no: 'time' }));
    await strict.close();
  });

  it('[LED-04] appends that meet share a flush, keep their order, and none is acknowledged before it is on disk', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const journal = await open(path, { signer });
    const onDisk: number[] = [];
    await Promise.all(
      Array.from({ length: 5000 }, async (_, n) => {
        const { sequence } = await journal.append({ n });
        expect(sequence).toBe(n + 1);
        if (n % 1000 === 0) onDisk.push(linesOf(path).length - sequence);
      }),
    );
    expect(onDisk.every((ahead) => ahead >= 0)).toBe(true);
    await journal.close();
    expect(linesOf(path).map((line) => JSON.parse(line).n)).toEqual(
      Array.from({ length: 5000 }, (_, n) => n),
    );
  });

  it('[LED-04] what is acknowledged is signed for at that moment', async () => {
    const path = join(tempDir(), 'j.jsonl');
    for (const flush of ['group', 'each'] as const) {
      const journal = await open(path, { signer, flush });
      await journal.append({ flush });
      const verdict = await verifyFile(path, { publicKeys: keysOf(signer), lookAgainMs: 0 });
      expect(verdict).toMatchObject({ status: 'intact', records: journal.count });
      await journal.close();
    }
  });

  it('[LED-04] signs less often when asked to, and always on checkpoint and close', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const status = async () =>
      (await verifyFile(path, { publicKeys: keysOf(signer), lookAgainMs: 0 })).status;
    const journal = await open(path, { signer, flush: 'each', checkpointEvery: 3 });
    await journal.append({ n: 1 });
    expect(await status()).toBe('not_established');
    await journal.append({ n: 2 });
    await journal.append({ n: 3 });
    expect(await status()).toBe('intact');
    await journal.append({ n: 4 });
    expect(await status()).toBe('not_established');
    await journal.checkpoint();
    expect(await status()).toBe('intact');
    await journal.append({ n: 5 });
    await journal.close();
    await journal.close();
    expect(await status()).toBe('intact');
    expect((await refusal(journal.append({ n: 6 }))).message).toContain('closed');
  });

  it('[LED-05] has one writer: a second one is told who and what to do', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const journal = await open(path);
    const error = await refusal(open(path));
    expect(error.code).toBe(CODES.storage_locked);
    expect(error.message).toContain('being written by');
    expect(error.suggestion).toBeTruthy();
    await journal.append({ still: 'mine' });
    await journal.close();
    await (await open(path)).close();
  });

  it('[LED-06] a record refused by the disk, or a file changed under it, stops the journal for good', async () => {
    const dir = tempDir();
    for (const meddle of [
      (path: string) => appendFileSync(path, 'x'),
      (path: string) => rmSync(path),
      (path: string) => writeFileSync(path, ''),
    ]) {
      const path = join(dir, `${basename(tempDir())}.jsonl`);
      const journal = await open(path, { signer });
      await journal.append({ n: 1 });
      meddle(path);
      expect((await refusal(journal.append({ n: 2 }))).code).toBe(CODES.integrity_broken);
      await refusal(journal.append({ n: 3 }));
      await journal.close();
    }
  });

  it('[LED-06] memory is bounded: appends nobody waits for are refused, not lost', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const journal = await open(path);
    const big = 'x'.repeat(6 * 1024 * 1024);
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => journal.append({ n, big })),
    );
    await journal.close();
    const kept = results.filter((r) => r.status === 'fulfilled').length;
    expect(kept).toBeGreaterThan(10);
    expect(kept).toBeLessThan(60);
    expect(linesOf(path).length).toBe(kept);
  });
});

describe('opening a journal', () => {
  it('[LED-07] goes on where it stopped', async () => {
    const path = join(tempDir(), 'j.jsonl');
    for (let round = 0; round < 4; round++) {
      const journal = await open(path, { signer });
      expect([journal.count, journal.recovery]).toEqual([round, null]);
      await journal.append({ round });
      await journal.close();
    }
    expect(await verifyFile(path, { publicKeys: keysOf(signer) })).toMatchObject({
      status: 'intact',
      records: 4,
    });
  });

  for (const tail of ['{"n":2,"prev_', '{"n":2}garbage that is not JSON\n', '\0\0\0\0\0', '{'])
    it(`[LED-07] keeps a torn tail aside and records it: ${JSON.stringify(tail)}`, async () => {
      const dir = tempDir();
      const path = join(dir, 'j.jsonl');
      await writeJournal(path, [{ n: 1 }], { signer });
      appendFileSync(path, tail);
      const journal = await open(path, { signer });
      const { torn } = journal.recovery ?? expect.unreachable();
      expect(torn).toMatchObject({ bytes: Buffer.byteLength(tail), sha256: sha256(tail) });
      expect(readFileSync(torn!.file, 'utf8')).toBe(tail);
      expect(statSync(torn!.file).mode & 0o777).toBe(0o600);
      await journal.close();
      expect(JSON.parse(linesOf(path)[1]!)).toMatchObject({
        event: 'journal.torn_tail',
        torn_bytes: Buffer.byteLength(tail),
        torn_sha256: sha256(tail),
        torn_file: basename(torn!.file),
      });
      expect((await verifyFile(path, { publicKeys: keysOf(signer) })).status).toBe('intact');
      // The same bytes torn off again are another tear.
      appendFileSync(path, tail);
      const again = await open(path, { signer });
      await again.close();
      expect(linesOf(path).filter((line) => line.includes('journal.torn_tail')).length).toBe(2);
    });

  it('[LED-07] whole records that no signature covers yet are taken over, and the checkpoint says so', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [{ n: 1 }, { n: 2 }], { signer });
    const old = readFileSync(`${path}.checkpoint`);
    await writeJournal(path, [{ n: 3 }, { n: 4 }], { signer });
    writeFileSync(`${path}.checkpoint`, old);
    const journal = await open(path, { signer });
    expect(journal.recovery).toEqual({ torn: null, adopted: 2 });
    await journal.close();
    const verdict = await verifyFile(path, { publicKeys: keysOf(signer) });
    expect(verdict).toMatchObject({ status: 'intact', records: 4 });
    expect(verdict.notes.join()).toContain('2 records were signed for only after a restart');
  });

  const damages: [string, (path: string) => void][] = [
    [
      'an edited record',
      (path) => edit(path, (b) => Buffer.from(b.toString('latin1').replace('"n":2', '"n":7'), 'latin1')),
    ],
    [
      'an edited last record',
      (path) => edit(path, (b) => Buffer.from(b.toString('latin1').replace('"n":3', '"n":7'), 'latin1')),
    ],
    ['a removed record', (path) => putLines(path, linesOf(path).toSpliced(1, 1))],
    ['a removed tail', (path) => putLines(path, linesOf(path).slice(0, -1))],
    ['a tail cut inside a record', (path) => edit(path, (b) => b.subarray(0, b.length - 20))],
    ['garbage in the middle', (path) => putLines(path, linesOf(path).with(1, 'garbage'))],
    [
      'swapped records',
      (path) => putLines(path, linesOf(path).with(1, linesOf(path)[2]!).with(2, linesOf(path)[1]!)),
    ],
    ['an emptied file', (path) => writeFileSync(path, '')],
    ['a removed file', (path) => rmSync(path)],
    ['a removed checkpoint', (path) => rmSync(`${path}.checkpoint`)],
    [
      'an edited checkpoint',
      (path) =>
        edit(`${path}.checkpoint`, (b) =>
          Buffer.from(b.toString('latin1').replace('"count":3', '"count":2'), 'latin1'),
        ),
    ],
    ['a shortened checkpoint', (path) => edit(`${path}.checkpoint`, (b) => b.subarray(0, 1000))],
  ];
  for (const [name, damage] of damages)
    it(`[LED-08] refuses ${name}, says where and what to do, and changes nothing`, async () => {
      const dir = tempDir();
      const path = join(dir, 'j.jsonl');
      await writeJournal(path, [{ n: 1 }, { n: 2 }, { n: 3 }], { signer });
      damage(path);
      const before = snapshot(dir);
      const error = await refusal(open(path, { signer }));
      expect(error).toMatchObject({ code: CODES.integrity_broken, exit: 5 });
      expect(error.message).toContain(path);
      expect(error.suggestion).toContain('writ audit verify');
      expect(snapshot(dir)).toEqual(before);
      // The lock is let go: another try fails the same way.
      expect((await refusal(open(path, { signer }))).code).toBe(CODES.integrity_broken);
    });

  it('[LED-08] names the line of the damage', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [{ n: 1 }, { n: 2 }, { n: 3 }], { signer });
    putLines(path, linesOf(path).with(1, linesOf(path)[1]!.replace('"n":2', '"n":3')));
    expect((await refusal(open(path, { signer }))).message).toContain(`${path}:2:`);
  });

  it('[LED-08] refuses a signed journal without a key, an unsigned one with a key, and one of another key', async () => {
    const dir = tempDir();
    const signed = join(dir, 'signed.jsonl');
    await writeJournal(signed, [{ n: 1 }], { signer });
    expect((await refusal(open(signed))).message).toContain('signed');
    expect((await refusal(open(signed, { signer: generateSigner() }))).message).toContain('not known');
    const other = generateSigner();
    await (await open(signed, { signer: other, trustedKeys: keysOf(signer) })).close();
    const plain = join(dir, 'plain.jsonl');
    await writeJournal(plain, [{ n: 1 }]);
    expect((await refusal(open(plain, { signer }))).message).toContain('no checkpoint');
  });

  it('[LED-09] refuses names and folders that are not safe', async () => {
    const dir = tempDir();
    for (const name of ['j.txt', 'j.0001.jsonl', `${'x'.repeat(200)}.jsonl`, 'tab\t.jsonl'])
      expect((await refusal(open(join(dir, name)))).exit).toBe(2);
    chmodSync(dir, 0o777);
    expect((await refusal(open(join(dir, 'j.jsonl')))).code).toBe(CODES.unsafe_state_dir);
    chmodSync(dir, 0o700);
    expect((await refusal(open(join(dir, 'missing', 'j.jsonl')))).code).toBe(CODES.unsafe_state_dir);
    writeFileSync(join(dir, 'target'), '');
    symlinkSync(join(dir, 'target'), join(dir, 'link.jsonl'));
    await refusal(open(join(dir, 'link.jsonl')));
    expect(readFileSync(join(dir, 'target'), 'utf8')).toBe('');
    mkdirSync(join(dir, 'folder.jsonl'));
    await refusal(open(join(dir, 'folder.jsonl')));
  });
});

describe('opening from the last checkpoint', () => {
  const quick = { signer, check: 'since_checkpoint', flush: 'each' };

  it('[LED-07] goes on, takes over unsigned records, keeps tears aside and records each once', async () => {
    const path = join(tempDir(), 'j.jsonl');
    for (let round = 0; round < 3; round++) {
      const journal = await open(path, quick);
      expect(journal.count).toBe(round === 0 ? 0 : 2 * round);
      expect(journal.recovery?.torn?.bytes).toBe(undefined);
      await journal.append({ round });
      await journal.append({ round });
      await journal.close();
    }
    const old = readFileSync(`${path}.checkpoint`);
    await writeJournal(path, [{ late: true }], { signer });
    writeFileSync(`${path}.checkpoint`, old);
    appendFileSync(path, '{"torn');
    const journal = await open(path, quick);
    expect(journal.recovery).toMatchObject({ adopted: 1, torn: { bytes: 6 } });
    await journal.close();
    await (await open(path, quick)).close();
    expect(linesOf(path).filter((line) => line.includes('torn_tail')).length).toBe(1);
    expect(await verifyFile(path, { publicKeys: keysOf(signer) })).toMatchObject({
      status: 'intact',
      records: 8,
    });
  });

  it('[LED-08] refuses a cut, an edited end and damage after the checkpoint', async () => {
    const dir = tempDir();
    const path = join(dir, 'j.jsonl');
    await writeJournal(path, [{ n: 1 }, { n: 2 }], { signer });
    const [good, checkpoint] = [readFileSync(path), readFileSync(`${path}.checkpoint`)];
    await writeJournal(path, [{ n: 3 }, { n: 4 }], { signer });
    const longer = readFileSync(path);
    const cases = [
      good.subarray(0, -5),
      good.subarray(0, good.indexOf(10) + 1),
      Buffer.from(good.toString().replace('"n":2', '"n":5')),
      Buffer.from(good.toString().replace(/"hash":"..(?=[0-9a-f]{62}"\}\n$)/, '"hash":"00')),
      Buffer.from(longer.toString().replace('"n":3', '"n":5')),
    ];
    writeFileSync(`${path}.checkpoint`, checkpoint);
    for (const [i, bytes] of cases.entries()) {
      writeFileSync(path, bytes);
      const result = await open(path, quick).then(
        async (journal) => journal.close().then(() => 'opened'),
        (error: WritError) => error.code,
      );
      // What the signature does not reach is for the verifier: an edit before the signed end, hash left alone.
      expect(result, `case ${i}`).toBe(i === 2 ? 'opened' : CODES.integrity_broken);
    }
  });

  it('[LED-05] waits for another writer as long as it is told to', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const holder = await open(path, quick);
    const waiting = open(path, { ...quick, lockWaitMs: 5000 });
    await holder.append({ first: true });
    await holder.close();
    const second = await waiting;
    expect(second.count).toBe(1);
    await second.close();
  });
});

describe('segments', () => {
  it('[LED-16] a journal goes on in a next segment without a break in the chain', async () => {
    const dir = tempDir();
    const path = join(dir, 'j.jsonl');
    const all = Array.from({ length: 30 }, (_, n) => ({ n }));
    await writeJournal(path, all.slice(0, 17), { signer, rotateBytes: 1000 });
    await writeJournal(path, all.slice(17), { signer, rotateBytes: 1000 });
    const names = readdirSync(dir)
      .filter((name) => name.endsWith('.jsonl'))
      .sort();
    expect(names.length).toBeGreaterThan(3);
    const records = ['j.jsonl', ...names.filter((n) => n !== 'j.jsonl')]
      .flatMap((n) => linesOf(join(dir, n)))
      .map((l) => JSON.parse(l));
    expect(records.map((r) => r.n)).toEqual(all.map((e) => e.n));
    expect(records.map((r) => r.sequence)).toEqual(all.map((e) => e.n + 1));
    for (const [i, record] of records.entries())
      if (i > 0) expect(record.prev_hash).toBe(records[i - 1].hash);
    const { verdicts } = await verifyJournal(path, { publicKeys: keysOf(signer) });
    expect(verdicts.every((v) => v.status === 'intact')).toBe(true);
  });

  it('[LED-16] works without a key too, and a removed segment is refused on opening', async () => {
    const dir = tempDir();
    const path = join(dir, 'j.jsonl');
    await writeJournal(
      path,
      Array.from({ length: 12 }, (_, n) => ({ n })),
      { rotateBytes: 800 },
    );
    const journal = await open(path);
    expect(journal.count).toBe(12);
    await journal.close();
    const signed = join(dir, 's.jsonl');
    await writeJournal(
      signed,
      Array.from({ length: 12 }, (_, n) => ({ n })),
      { signer, rotateBytes: 800 },
    );
    const last = readdirSync(dir)
      .filter((n) => /^s\.\d+\.jsonl$/.test(n))
      .sort()
      .at(-1)!;
    writeFileSync(join(dir, last), '');
    expect((await refusal(open(signed, { signer }))).code).toBe(CODES.integrity_broken);
    rmSync(join(dir, last));
    rmSync(join(dir, `${last}.checkpoint`));
    expect((await refusal(open(signed, { signer }))).message).toContain('missing');
  });
});

it('[LED-05] the lock is that of the system: it is free as soon as the holder is gone', async () => {
  const path = join(tempDir(), 'j.jsonl');
  const journal = await openJournal({ path, clock: systemClock });
  await journal.close();
  expect(existsSync(join(path, '..', '.j.jsonl.lock'))).toBe(true);
  const again = await openJournal({ path, clock: systemClock });
  await again.close();
});

function snapshot(dir: string): Record<string, string> {
  const names = readdirSync(dir).filter((name) => !name.endsWith('.lock'));
  return Object.fromEntries(names.map((name) => [name, sha256(readFileSync(join(dir, name)))]));
}
