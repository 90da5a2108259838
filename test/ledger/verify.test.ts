import { spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZERO_DIGEST } from '../../src/core/index.ts';
import {
  generateSigner,
  loadPublicKeys,
  type Signer,
  verifyFile,
  verifyJournal,
  worstStatus,
} from '../../src/ledger/index.ts';
import { encodeRecordV1 } from '../../src/ledger/record-v1.ts';
import { edit, keysOf, linesOf, putLines, signer, tempDir, writeJournal } from './helpers.ts';

const publicKeys = keysOf(signer);
const verify = (path: string) => verifyFile(path, { publicKeys, lookAgainMs: 0 });

/** Entries with every kind of content: quotes, line feeds, wide characters, nesting. */
const entries = fc.array(
  fc.record({
    command: fc.string({ unit: 'binary', maxLength: 20 }),
    n: fc.integer(),
    detail: fc.option(
      fc.dictionary(fc.string({ maxLength: 4 }), fc.string({ maxLength: 8 }), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
    ),
  }),
  { minLength: 2, maxLength: 7 },
);

/** A change to the lines of a journal, and the first line that is no longer as it was. */
type Damage = (lines: string[], a: number, b: number) => { lines: string[]; line: number } | null;

const damages: Record<string, Damage> = {
  'removal of a line': (lines, a) => ({ lines: lines.toSpliced(a, 1), line: a + 1 }),
  'repetition of a line': (lines, a) => ({ lines: lines.toSpliced(a, 0, lines[a]!), line: a + 2 }),
  'a swap of two lines': (lines, a, b) =>
    a === b ? null : { lines: lines.with(a, lines[b]!).with(b, lines[a]!), line: Math.min(a, b) + 1 },
  'a line moved elsewhere': (lines, a, b) =>
    a === b ? null : { lines: lines.toSpliced(a, 1).toSpliced(b, 0, lines[a]!), line: Math.min(a, b) + 1 },
  'an empty line': (lines, a) => ({ lines: lines.toSpliced(a, 0, ''), line: a + 1 }),
  'an invented record': (lines, a) => {
    const before = a === 0 ? ZERO_DIGEST : (JSON.parse(lines[a - 1]!).hash as string);
    const fake = encodeRecordV1({ command: 'never ran' }, a + 1, '2026-01-15T14:30:00.000Z', before);
    return { lines: lines.toSpliced(a, 0, fake.line.trimEnd()), line: a + 1 };
  },
};

describe('the verifier', () => {
  it('[LED-10] finds any single-byte change of a journal, at or before its line', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await fc.assert(
      fc.asyncProperty(entries, fc.nat(), fc.integer({ min: 1, max: 255 }), async (list, at, flip) => {
        rmSync(path, { force: true });
        rmSync(`${path}.checkpoint`, { force: true });
        await writeJournal(path, list, { signer, flush: 'group' });
        expect((await verify(path)).status).toBe('intact');
        const size = statSync(path).size;
        const where = at % size;
        const line =
          readFileSync(path)
            .subarray(0, where)
            .filter((b) => b === 10).length + 1;
        edit(path, (bytes) => {
          bytes[where]! ^= flip;
          return bytes;
        });
        const verdict = await verify(path);
        expect(verdict.status).not.toBe('intact');
        expect(verdict.first_bad).not.toBeNull();
        expect(verdict.first_bad!.line).toBeLessThanOrEqual(line);
        expect(verdict.first_bad!.byte).toBeLessThanOrEqual(where);
        expect(verdict.records).toBe(verdict.first_bad!.line - 1);
      }),
      { numRuns: 80 },
    );
  });

  it('[LED-10] finds every single-byte change of one whole journal, white space and hashes included', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [{ a: 1 }, { text: 'two words' }, { b: [1, 2] }], { signer });
    const good = readFileSync(path);
    for (let where = 0; where < good.length; where++) {
      for (const value of [where % 2 === 0 ? 0x20 : 0x0a, good[where]! ^ 0x20]) {
        if (value === good[where]) continue;
        const bytes = Buffer.from(good);
        bytes[where] = value;
        writeFileSync(path, bytes);
        const verdict = await verify(path);
        expect(verdict.status, `byte ${where} as ${value}`).not.toBe('intact');
        expect(verdict.first_bad!.byte).toBeLessThanOrEqual(where);
      }
    }
  });

  it('[LED-10] finds every single-byte change of the checkpoint', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [{ a: 1 }, { a: 2 }], { signer });
    const good = readFileSync(`${path}.checkpoint`);
    for (let where = 0; where < good.length; where += good[where] === 0x20 ? 7 : 1) {
      const bytes = Buffer.from(good);
      bytes[where]! ^= where % 3 === 0 ? 0x20 : 0x01;
      writeFileSync(`${path}.checkpoint`, bytes);
      const verdict = await verify(path);
      // A changed key id names a key nobody knows: then nothing is established, but nothing is accepted either.
      expect(['tampered', 'not_established'], `byte ${where}`).toContain(verdict.status);
    }
  }, 120_000);

  for (const [name, damage] of Object.entries(damages))
    it(`[LED-11] finds ${name}, at or before it`, async () => {
      const path = join(tempDir(), 'j.jsonl');
      await fc.assert(
        fc.asyncProperty(entries, fc.nat(), fc.nat(), async (list, a, b) => {
          rmSync(path, { force: true });
          rmSync(`${path}.checkpoint`, { force: true });
          await writeJournal(path, list, { signer, flush: 'group' });
          const lines = linesOf(path);
          const changed = damage(lines, a % lines.length, b % lines.length);
          if (!changed) return;
          putLines(path, changed.lines);
          const verdict = await verify(path);
          expect(verdict.status).not.toBe('intact');
          expect(verdict.first_bad!.line).toBeLessThanOrEqual(changed.line);
        }),
        { numRuns: 25 },
      );
    });

  it('[LED-12] finds a tail cut at any byte, and says which records are missing', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [{ a: 1 }, { a: 2 }, { a: 3 }], { signer });
    const good = readFileSync(path);
    for (let length = 0; length < good.length; length++) {
      writeFileSync(path, good.subarray(0, length));
      const verdict = await verify(path);
      expect(verdict.status, `cut at ${length}`).toBe('incomplete');
      expect(verdict.first_bad!.byte).toBeLessThanOrEqual(length);
      expect(verdict.first_bad!.what).toContain('to 3 are missing');
    }
  });

  it('[LED-12] a chain rewritten from the middle, every hash right, is not the one that was signed for', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [{ a: 1 }, { a: 2 }, { a: 3 }], { signer });
    let before: string = ZERO_DIGEST;
    const forged = [{ a: 1 }, { a: 'changed' }, { a: 3 }].map((entry, i) => {
      const { line, hash } = encodeRecordV1(entry, i + 1, '2026-01-15T14:30:00.000Z', before);
      before = hash;
      return line.trimEnd();
    });
    putLines(path, forged);
    expect(await verify(path)).toMatchObject({ status: 'tampered', first_bad: { line: 1 } });
  });

  it('[LED-13] says tampered when journals change places, with or without their checkpoints', async () => {
    const dir = tempDir();
    const [a, b] = [join(dir, 'a.jsonl'), join(dir, 'b.jsonl')];
    await writeJournal(a, [{ who: 'a' }], { signer });
    await writeJournal(b, [{ who: 'b' }], { signer });
    const swap = (x: string, y: string) => {
      renameSync(x, `${x}.tmp`);
      renameSync(y, x);
      renameSync(`${x}.tmp`, y);
    };
    swap(a, b);
    expect((await verify(a)).status).toBe('tampered');
    swap(`${a}.checkpoint`, `${b}.checkpoint`);
    expect(await verify(a)).toMatchObject({
      status: 'tampered',
      first_bad: { what: expect.stringContaining('made for b.jsonl') },
    });
  });

  it('[LED-14] is not established without a checkpoint, without the key, or beyond the last signature', async () => {
    const dir = tempDir();
    const plain = join(dir, 'plain.jsonl');
    await writeJournal(plain, [{ a: 1 }]);
    expect(await verify(plain)).toMatchObject({ status: 'not_established', records: 1, first_bad: null });
    const signed = join(dir, 'signed.jsonl');
    const { head } = await writeJournal(signed, [{ a: 1 }], { signer });
    expect((await verifyFile(signed, { publicKeys: new Map() })).status).toBe('not_established');
    expect((await verifyFile(signed, { publicKeys: keysOf(generateSigner()) })).status).toBe(
      'not_established',
    );
    appendFileSync(signed, encodeRecordV1({ a: 2 }, 2, '2026-01-15T14:30:00.000Z', head).line);
    expect(await verify(signed)).toMatchObject({
      status: 'not_established',
      first_bad: { line: 2, sequence: 2 },
    });
    rmSync(`${signed}.checkpoint`);
    expect((await verify(signed)).status).toBe('not_established');
  });

  it('[LED-14] a signature of another key under a known key id is tampering', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const liar: Signer = { ...generateSigner(), keyId: signer.keyId };
    await writeJournal(path, [{ a: 1 }], { signer: liar });
    expect((await verify(path)).status).toBe('tampered');
  });

  it('[LED-15] names and texts that look like the chain do not confuse it', async () => {
    const path = join(tempDir(), 'j.jsonl');
    const fake = `","prev_hash":"${'a'.repeat(64)}","sequence":9,"`;
    const entries = [
      { 'a"prev_hash': 'b'.repeat(64), 'a"sequence': 7 },
      { [`x${fake}`]: fake, text: fake },
      { prev_hashes: 'c'.repeat(64), xprev_hash: 'd'.repeat(64), 'sequence"': 1 },
      { detail: { prev_hash: 'e'.repeat(64), sequence: 3 } },
      { list: ['prev_hash', 'sequence', '{'] },
      { '{"prev_hash': 'f'.repeat(64), ',"sequence': 5 },
      {},
    ];
    await writeJournal(path, entries, { signer });
    expect(await verify(path)).toMatchObject({ status: 'intact', records: entries.length });
  });

  it('[LED-15] a torn last line is incomplete; an empty signed journal is intact', async () => {
    const path = join(tempDir(), 'j.jsonl');
    await writeJournal(path, [], { signer });
    expect(await verify(path)).toMatchObject({ status: 'intact', records: 0 });
    await writeJournal(path, [{ a: 1 }], { signer });
    appendFileSync(path, '{"a":2,"prev_ha');
    expect(await verify(path)).toMatchObject({ status: 'incomplete', records: 1, first_bad: { line: 2 } });
  });

  it('[LED-16] segments verify as one chain; a removed, emptied, swapped or foreign one does not', async () => {
    const dir = tempDir();
    const path = join(dir, 'j.jsonl');
    const list = Array.from({ length: 12 }, (_, n) => ({ n }));
    await writeJournal(path, list, { signer, rotateBytes: 700 });
    const whole = await verifyJournal(path, { publicKeys });
    expect(whole.verdicts.length).toBeGreaterThanOrEqual(3);
    expect(whole.verdicts.map((v) => v.status)).toEqual(whole.verdicts.map(() => 'intact'));
    expect(whole.verdicts.reduce((sum, v) => sum + v.records, 0)).toBe(12);
    const last = whole.verdicts.at(-1)!.path;
    const attacks: (() => void)[] = [
      () => rmSync(last),
      () => {
        rmSync(last);
        rmSync(`${last}.checkpoint`);
      },
      () => rmSync(join(dir, 'j.0001.jsonl')),
      () => {
        rmSync(join(dir, 'j.0001.jsonl'));
        rmSync(join(dir, 'j.0001.jsonl.checkpoint'));
      },
      () => rmSync(path),
      () => writeFileSync(last, ''),
      () => renameSync(join(dir, 'j.0001.jsonl'), join(dir, 'j.0002.jsonl')),
      () => rmSync(join(dir, 'j.0001.jsonl.checkpoint')),
    ];
    const keep = join(dir, 'keep');
    mkdirSync(keep);
    const names = whole.verdicts.flatMap((v) => [v.path, `${v.path}.checkpoint`]);
    for (const name of names) copyFileSync(name, name.replace(dir, keep));
    for (const attack of attacks) {
      for (const name of names) copyFileSync(name.replace(dir, keep), name);
      attack();
      const after = await verifyJournal(path, { publicKeys });
      expect(worstStatus(after.verdicts.map((v) => v.status)), attack.toString()).not.toBe('intact');
    }
  });

  it('[LED-17] calls a journal that another process is writing intact, through changes of segment', async () => {
    const dir = tempDir();
    const path = join(dir, 'j.jsonl');
    const writer = new URL('./kill-writer.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [writer, dir, '1', 'group'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const gone = new Promise((resolve) => child.on('close', resolve));
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve));
      child.stdout.resume();
      const keys = loadPublicKeys(join(dir, 'keys'));
      const until = Date.now() + 15_000;
      let [looks, segments, intact] = [0, 0, 0];
      while (Date.now() < until && (looks < 20 || segments < 4)) {
        const { verdicts } = await verifyJournal(path, { publicKeys: keys });
        for (const verdict of verdicts)
          expect(['intact', 'not_established'], JSON.stringify(verdict)).toContain(verdict.status);
        looks += 1;
        segments = verdicts.length;
        intact += verdicts.every((v) => v.status === 'intact') ? 1 : 0;
      }
      expect(segments).toBeGreaterThan(1);
      expect(intact).toBeGreaterThan(0);
    } finally {
      child.kill('SIGKILL');
      await gone;
    }
  }, 60_000);

  it('[LED-18] judges hostile files without failing: no lines, huge lines, other formats', async () => {
    const path = join(tempDir(), 'j.jsonl');
    for (const content of [
      Buffer.alloc(9 * 1024 * 1024, 'a'),
      Buffer.concat([Buffer.alloc(9 * 1024 * 1024, '{'), Buffer.from('\n')]),
      Buffer.from('\n\n\n'),
      Buffer.from('{"some":"other","format":1}\n'),
      Buffer.from([0xff, 0xfe, 0x00, 0x0a]),
      Buffer.from(`${'['.repeat(100_000)}\n`),
      Buffer.alloc(5000),
    ]) {
      writeFileSync(path, content);
      const verdict = await verify(path);
      expect(['tampered', 'incomplete', 'not_established']).toContain(verdict.status);
      expect(verdict.records).toBe(0);
    }
  });
});
