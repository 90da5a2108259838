import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testClock } from '../../src/core/testing.ts';
import { verifyBundle, worstStatus, writeBundle } from '../../src/ledger/index.ts';
import { keysOf, signer, tempDir, writeJournal } from './helpers.ts';

async function bundle(withKey = true): Promise<{ path: string; dir: string; names: string[] }> {
  const dir = tempDir();
  const long = join(dir, `${'long-name-'.repeat(11)}.jsonl`);
  await writeJournal(join(dir, 'j.jsonl'), [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }], {
    signer,
    rotateBytes: 400,
  });
  await writeJournal(long, [{ n: 1 }], { signer });
  const path = join(dir, 'b.tar');
  const files = writeBundle({
    journals: [join(dir, 'j.jsonl'), long],
    out: path,
    publicKeys: keysOf(signer),
    signer: withKey ? signer : null,
    clock: testClock(),
    root: dir,
  });
  return { path, dir, names: files.map((f) => f.name) };
}
const statusOf = async (path: string, keys = keysOf(signer)) =>
  worstStatus((await verifyBundle(path, keys)).map((v) => v.status));

describe('a bundle', () => {
  it('[LED-63] holds journals of any name and number of segments, and any tar reads it', async () => {
    const { path, names, dir } = await bundle();
    expect(await statusOf(path)).toBe('intact');
    expect(await statusOf(path, new Map())).toBe('intact');
    const listed = spawnSync('tar', ['tf', path], { encoding: 'utf8' }).stdout.trimEnd().split('\n');
    expect(listed).toEqual([...names, 'manifest.json', 'manifest.sig']);
    const out = join(dir, 'out');
    spawnSync('sh', ['-c', 'mkdir "$1" && tar xf "$2" -C "$1"', 'sh', out, path]);
    expect(readFileSync(join(out, 'journals', 'j.jsonl'))).toEqual(readFileSync(join(dir, 'j.jsonl')));
  });

  it('[LED-63] any changed byte of what it holds is found, and any cut', async () => {
    const { path } = await bundle();
    const good = readFileSync(path);
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const bytes = Buffer.from(good);
        bytes[at]! ^= flip;
        writeFileSync(path, bytes);
        expect(await statusOf(path)).not.toBe('intact');
      }),
      { numRuns: 150 },
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), async (length) => {
        writeFileSync(path, good.subarray(0, length));
        expect(await statusOf(path)).not.toBe('intact');
      }),
      { numRuns: 40 },
    );
  });

  it('[LED-63] a file taken out, with its line in the list, needs the key to hide', async () => {
    const { path, dir } = await bundle();
    const out = join(dir, 'out');
    const repack = (change: string) => {
      const script = `rm -rf "$1" && mkdir "$1" && tar xf "$2" -C "$1" && cd "$1" && ${change} && tar cf again.tar --format=ustar --owner=0 --group=0 keys/* journals/j* manifest.json manifest.sig`;
      const { status, stderr } = spawnSync('sh', ['-c', script, 'sh', out, path], { encoding: 'utf8' });
      expect(status, stderr).toBe(0);
      return join(out, 'again.tar');
    };
    // The long name is not packed again: it is in the list but gone.
    expect(await statusOf(repack('true'))).toBe('incomplete');
    const without = `node -e '
      const fs = require("fs"); const m = JSON.parse(fs.readFileSync("manifest.json"));
      m.files = m.files.filter((f) => !f.name.includes("long-name")); fs.writeFileSync("manifest.json", JSON.stringify(m));'`;
    expect(await statusOf(repack(without))).toBe('tampered');
  });

  it('[LED-63] without a key its list establishes nothing; its journals still speak for themselves', async () => {
    const { path } = await bundle(false);
    const verdicts = await verifyBundle(path, keysOf(signer));
    expect(verdicts[0]?.status).toBe('not_established');
    expect(verdicts.slice(1).every((v) => v.status === 'intact')).toBe(true);
  });
});
