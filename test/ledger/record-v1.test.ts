import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256, ZERO_DIGEST } from '../../src/core/index.ts';
import { testClock } from '../../src/core/testing.ts';
import { FastEncoderV1, roomFor, writeRecord } from '../../src/ledger/encode-fast.ts';
import { openJournal, readPublicKey, verifyFile, verifyJournal } from '../../src/ledger/index.ts';
import { decodeRecordV1, encodeRecordV1 } from '../../src/ledger/record-v1.ts';
import { linesOf, tempDir } from './helpers.ts';

const golden = new URL('./golden/', import.meta.url).pathname;
const goldenEntries = JSON.parse(readFileSync(join(golden, 'entries.json'), 'utf8'));
const goldenKey = readPublicKey(join(golden, 'ledger.pub'));
const keys = new Map([[goldenKey.id, goldenKey.pem]]);

/** Keys a caller may use: the journal's own names are refused elsewhere. */
const key = fc
  .oneof(fc.string({ maxLength: 12 }), fc.constantFrom('__proto__', 'toJSON', '0', '12', 'a', 'constructor'))
  .filter((k) => !['sequence', 'timestamp', 'prev_hash', 'hash'].includes(k) && k.isWellFormed());
const scalar = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value'), { maxLength: 4 }), tie('object')),
  object: fc.dictionary(fc.string({ maxLength: 6 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));
const entry = fc.dictionary(key, json.value, { maxKeys: 8, noNullPrototype: true }) as fc.Arbitrary<
  Record<string, unknown>
>;

describe('record format v1', () => {
  it('[LED-01] the hash is that of the canonical JSON without it, and stands last on the line', () => {
    fc.assert(
      fc.property(entry, fc.integer({ min: 1, max: 1e9 }), (fields, sequence) => {
        const before = sha256('before');
        const { line, hash } = encodeRecordV1(fields, sequence, '2026-01-15T14:30:00.000Z', before);
        const { hash: claimed, ...rest } = JSON.parse(line);
        expect(claimed).toBe(hash);
        expect(sha256(canonicalJson({ ...fields, ...rest }))).toBe(hash);
        expect(line.endsWith(`,"hash":"${hash}"}\n`)).toBe(true);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        const decoded = decodeRecordV1(Buffer.from(line).subarray(0, -1));
        expect(decoded.ok && decoded.record.sequence).toBe(sequence);
      }),
      { numRuns: 300 },
    );
  });

  it('[LED-01] the quick encoder writes the same bytes as the plain one, for any entry', () => {
    const encoder = new FastEncoderV1();
    fc.assert(
      fc.property(entry, fc.integer({ min: 1, max: 1e9 }), (fields, sequence) => {
        const timestamp = '2026-01-15T14:30:00.000Z';
        const plain = encodeRecordV1(fields, sequence, timestamp, ZERO_DIGEST);
        const body = encoder.body(fields, sequence, timestamp, ZERO_DIGEST);
        const buffer = Buffer.alloc(roomFor(body) + 7);
        const { hash, bytes } = writeRecord(buffer, 7, body);
        expect(buffer.toString('utf8', 7, 7 + bytes)).toBe(plain.line);
        expect(hash).toBe(plain.hash);
      }),
      { numRuns: 500 },
    );
  });

  it('[LED-01] what has no canonical form is refused by both encoders', () => {
    const bad = [
      { a: Number.NaN },
      { a: [Number.POSITIVE_INFINITY] },
      { a: '\ud800' },
      { a: ['\udc00'] },
      { a: 1n },
      { a: () => 1 },
      { a: [undefined] },
    ];
    for (const fields of bad) {
      expect(() => encodeRecordV1(fields, 1, 't', ZERO_DIGEST)).toThrow(TypeError);
      expect(() => new FastEncoderV1().body(fields, 1, 't', ZERO_DIGEST)).toThrow(TypeError);
    }
  });
});

describe('golden files of v1', () => {
  it('[LED-02] a journal written today has the bytes of the golden one', async () => {
    const path = join(tempDir(), 'golden.jsonl');
    const clock = testClock('2026-01-15T14:30:00.000Z');
    const journal = await openJournal({ path, clock });
    for (const fields of goldenEntries) {
      await journal.append(fields);
      clock.advance(1000);
    }
    await journal.close();
    expect(readFileSync(path, 'utf8')).toBe(readFileSync(join(golden, 'golden.jsonl'), 'utf8'));
  });

  it('[LED-02] the golden journal, two segments and their checkpoints, verifies as intact', async () => {
    const { verdicts } = await verifyJournal(join(golden, 'signed.jsonl'), { publicKeys: keys });
    expect(verdicts.map((v) => [v.status, v.records])).toEqual([
      ['intact', 5],
      ['intact', 1],
    ]);
  });

  it('[LED-02] the spoiled golden journal does not: one byte of record 3 differs', async () => {
    const dir = tempDir();
    copyFileSync(join(golden, 'spoiled.jsonl'), join(dir, 'signed.jsonl'));
    copyFileSync(join(golden, 'signed.jsonl.checkpoint'), join(dir, 'signed.jsonl.checkpoint'));
    const verdict = await verifyFile(join(dir, 'signed.jsonl'), { publicKeys: keys });
    expect(verdict.status).toBe('tampered');
    expect(verdict.first_bad).toMatchObject({
      line: 3,
      sequence: 3,
      what: 'its hash is not that of its bytes',
    });
    const good = linesOf(join(golden, 'signed.jsonl'));
    expect(verdict.first_bad?.byte).toBe(`${good[0]}\n${good[1]}\n`.length);
  });
});
