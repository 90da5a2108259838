import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/index.ts';
import { generateSigner, openJournal, openLedger } from '../../src/ledger/index.ts';
import { edit, linesOf, putLines, tempDir } from './helpers.ts';

const BIN = new URL('../../bin/writ.js', import.meta.url).pathname;

function writ(cwd: string, ...args: string[]) {
  const env = { PATH: process.env.PATH, HOME: cwd, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd,
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr, json: () => JSON.parse(stdout) };
}

async function project(): Promise<string> {
  const root = tempDir();
  const ledger = openLedger({ stateDir: join(root, '.writ') });
  for (const name of ['one', 'two']) {
    const journal = await ledger.openJournal({
      path: join(root, 'audit', `${name}.jsonl`),
    });
    for (let n = 0; n < 6; n++) await journal.append({ command: `echo ${n}`, text: '\u001b[2J\u202ehidden' });
    await journal.close();
  }
  return root;
}

describe('writ audit verify', () => {
  it('[LED-60] says intact, for one file and for all it knows of, with exit code 0', async () => {
    const root = await project();
    const one = writ(root, 'audit', 'verify', 'audit/one.jsonl', '--json');
    expect(one.status).toBe(0);
    expect(one.json()).toMatchObject({
      status: 'intact',
      files: [{ path: 'audit/one.jsonl', status: 'intact', records: 6, first_bad: null }],
    });
    const all = writ(root, 'audit', 'verify', '--json');
    expect(all.status).toBe(0);
    expect(all.json().files.map((f: { path: string }) => f.path)).toEqual([
      '.writ/ledger/catalog.jsonl',
      'audit/one.jsonl',
      'audit/two.jsonl',
    ]);
    expect(writ(root, 'audit', 'verify').stdout).toContain('3 files: intact');
  });

  it('[LED-60] after a changed byte, a removed line or a cut tail says what and where, with exit code 5', async () => {
    const root = await project();
    const file = join(root, 'audit', 'one.jsonl');
    const good = readFileSync(file);
    const cases: [() => void, object][] = [
      [
        () => edit(file, (b) => Buffer.from(b.toString().replace('echo 3', 'echo 4'))),
        { status: 'tampered', records: 3, first_bad: { line: 4, sequence: 4 } },
      ],
      [
        () => putLines(file, linesOf(file).toSpliced(2, 1)),
        { status: 'tampered', records: 2, first_bad: { line: 3, sequence: 4 } },
      ],
      [
        () => putLines(file, linesOf(file).slice(0, 4)),
        { status: 'incomplete', records: 4, first_bad: { line: 5, sequence: 5 } },
      ],
      [
        () => edit(file, (b) => b.subarray(0, b.length - 10)),
        { status: 'incomplete', records: 5, first_bad: { line: 6, sequence: 6 } },
      ],
      [() => rmSync(file), { status: 'incomplete', records: 0 }],
    ];
    for (const [damage, expected] of cases) {
      writeFileSync(file, good);
      damage();
      const result = writ(root, 'audit', 'verify', 'audit/one.jsonl', '--json');
      expect(result.status).toBe(5);
      expect(result.json()).toMatchObject({
        status: (expected as { status: string }).status,
        files: [expected],
      });
    }
    rmSync(`${file}.checkpoint`);
    expect(writ(root, 'audit', 'verify', '--json')).toMatchObject({ status: 5 });
    expect(writ(root, 'audit', 'verify').stdout).toContain('the catalogue remembers 6');
  });

  it('[LED-60] a file that never was is an error, not a verdict; so is a key that is none', async () => {
    const root = await project();
    const missing = writ(root, 'audit', 'verify', 'nope.jsonl', '--json');
    expect(missing.status).toBe(2);
    expect(missing.json().error.message).toContain('no such file');
    writeFileSync(join(root, 'bad.pub'), 'nonsense');
    expect(writ(root, 'audit', 'verify', 'audit/one.jsonl', '--key', 'bad.pub').status).toBe(2);
  });

  it('[LED-61] other keys: of the project a file lies in, or named; without any nothing is established', async () => {
    const [root, elsewhere] = [await project(), tempDir()];
    const file = join(root, 'audit', 'one.jsonl');
    const found = writ(elsewhere, 'audit', 'verify', file, '--json').json();
    expect(found).toMatchObject({
      status: 'intact',
      files: [{ path: file, notes: [expect.stringContaining(join(root, '.writ/keys'))] }],
    });
    writeFileSync(join(elsewhere, 'other.pub'), generateSigner().publicKeyPem);
    expect(writ(elsewhere, 'audit', 'verify', file, '--key', 'other.pub', '--json')).toMatchObject({
      status: 5,
    });
    // In our own project, keys that lie beside a forged file do not count.
    const forger = generateSigner();
    const forged = join(root, 'audit', 'forged.jsonl');
    const journal = await openJournal({ path: forged, clock: systemClock, signer: forger });
    await journal.append({ forged: true });
    await journal.close();
    mkdirSync(join(root, 'audit', 'keys'));
    writeFileSync(join(root, 'audit', 'keys', 'x.pub'), forger.publicKeyPem);
    expect(writ(root, 'audit', 'verify', 'audit/forged.jsonl', '--json').json()).toMatchObject({
      status: 'not_established',
    });
    const empty = writ(elsewhere, 'audit', 'verify', '--json');
    expect([empty.status, empty.json()]).toEqual([5, { status: 'not_established', files: [] }]);
  });

  it('[LED-60] finds state and audit folders by flag and by environment', async () => {
    const [root, elsewhere] = [await project(), tempDir()];
    const flags = ['--state-dir', join(root, '.writ'), '--audit-dir', join(root, 'audit')];
    expect(writ(elsewhere, 'audit', 'verify', ...flags, '--json').json().files.length).toBe(3);
  });
});

describe('writ audit show', () => {
  it('without a file lists the journals there are', async () => {
    const root = await project();
    expect(writ(root, 'audit', 'show', '--json').json().journals).toContain('audit/one.jsonl');
    expect(writ(root, 'audit', 'show').stdout).toContain('audit/one.jsonl\n');
  });

  it('[LED-62] prints the newest records with nothing that could steer a terminal', async () => {
    const root = await project();
    const { status, stdout } = writ(root, 'audit', 'show', 'audit/one.jsonl', '--limit', '2');
    expect(status).toBe(0);
    expect(stdout.trimEnd().split('\n').length).toBe(2);
    expect(stdout).toContain('echo 5');
    expect(stdout).not.toMatch(/\u001b|\u202e/);
    const json = writ(root, 'audit', 'show', 'audit/one.jsonl', '--json').json();
    expect([json.records.length, json.problems]).toEqual([6, []]);
    appendFileSync(join(root, 'audit', 'one.jsonl'), '{"torn');
    const damaged = writ(root, 'audit', 'show', 'audit/one.jsonl', '--json');
    expect([damaged.status, damaged.json().problems.length]).toEqual([5, 1]);
    for (const args of [
      ['--limit', '0'],
      ['--limit', 'x'],
      ['--follow', '--json'],
    ])
      expect(writ(root, 'audit', 'show', 'audit/one.jsonl', ...args).status).toBe(2);
    expect(writ(root, 'audit', 'show', 'audit/nope.jsonl').status).toBe(2);
  });
});

describe('writ audit export', () => {
  it('[LED-63] makes a bundle that verifies elsewhere, and only as a whole', async () => {
    const [root, elsewhere] = [await project(), tempDir()];
    const bundle = join(elsewhere, 'evidence.tar');
    const made = writ(root, 'audit', 'export', 'audit', '.writ', '-o', bundle, '--json');
    expect(made.status, made.stderr).toBe(0);
    expect(statSync(bundle).mode & 0o777).toBe(0o600);
    const verified = writ(elsewhere, 'audit', 'verify', 'evidence.tar', '--json');
    expect(verified.status).toBe(0);
    expect(
      verified.json().files.map((f: { status: string; records: number }) => [f.status, f.records]),
    ).toEqual([
      ['intact', 0],
      ['intact', 6],
      ['intact', 6],
      ['intact', 4],
    ]);
    const key = made.json().files.find((f: { name: string }) => f.name.startsWith('keys/')).name;
    expect(writ(elsewhere, 'audit', 'verify', 'evidence.tar', '--key', join(root, '.writ', key)).status).toBe(
      0,
    );
    writeFileSync(join(elsewhere, 'other.pub'), generateSigner().publicKeyPem);
    expect(writ(elsewhere, 'audit', 'verify', 'evidence.tar', '--key', 'other.pub').status).toBe(5);
    expect(spawnSync('tar', ['tf', bundle], { encoding: 'utf8' }).stdout).toContain(
      'journals/audit/one.jsonl\n',
    );

    const good = readFileSync(bundle);
    for (let i = 0; i < 3; i++) {
      const bytes = Buffer.from(good);
      const at = Math.floor((good.length * (i + 0.5)) / 3);
      bytes[at]! ^= 1;
      writeFileSync(bundle, bytes);
      expect(writ(elsewhere, 'audit', 'verify', 'evidence.tar', '--json').status, `byte ${at}`).toBe(5);
    }
    for (const length of [good.length - 1, 5000]) {
      writeFileSync(bundle, good.subarray(0, length));
      expect(writ(elsewhere, 'audit', 'verify', 'evidence.tar', '--json').status, `${length} bytes`).toBe(5);
    }
  }, 60_000);

  it('[LED-63] overwrites nothing and leaves nothing half-done', async () => {
    const here = await project();
    writeFileSync(join(here, 'taken.tar'), 'mine');
    expect(writ(here, 'audit', 'export', 'audit', '-o', 'taken.tar').status).toBe(2);
    expect(readFileSync(join(here, 'taken.tar'), 'utf8')).toBe('mine');
    expect(writ(here, 'audit', 'export', 'audit/none.jsonl', '-o', 'new.tar').status).toBe(2);
    expect(existsSync(join(here, 'new.tar'))).toBe(false);
  });

  it('[LED-64] help has an example; retire lets a journal go', async () => {
    const here = await project();
    for (const sub of ['verify', 'show', 'export', 'retire'])
      expect(writ(here, 'audit', sub, '--help').stdout).toMatch(/Examples?:/);
    rmSync(join(here, 'audit', 'one.jsonl'));
    rmSync(join(here, 'audit', 'one.jsonl.checkpoint'));
    expect(writ(here, 'audit', 'verify').status).toBe(5);
    expect(
      writ(here, 'audit', 'retire', 'audit/one.jsonl', '--reason', 'retention', '--json').json(),
    ).toEqual({ path: 'audit/one.jsonl', retired: true });
    expect(writ(here, 'audit', 'verify').status).toBe(0);
  });
});
