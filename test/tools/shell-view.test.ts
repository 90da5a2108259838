import { existsSync, linkSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findClosed } from '../../src/tools/denied-files.ts';
import { workbench } from './road.ts';

const bench = workbench();
const other = workbench();
afterAll(() => {
  bench.remove();
  other.remove();
});
beforeAll(async () => {
  await bench.file('readme.txt', 'NEEDLE public');
  await bench.file('.env', 'NEEDLE env');
  await bench.file('deep/er/api.key', 'NEEDLE key');
  await bench.file('deep/er/API2.KEY', 'NEEDLE upper');
  await bench.file('private/plan.txt', 'NEEDLE private');
  await bench.file('.config/token', 'NEEDLE hidden');
  await bench.file('.git/config', '[core]');
  await bench.file('out/locked.txt', 'as it was');
  await other.file('vault/secret.txt', 'NEEDLE vault');
  symlinkSync('deep/er/api.key', join(bench.path, 'alias.txt'));
});

const PROGRAMS =
  'allow_executables: [grep, find, cat, tar, cp, ls, du, sh, bash, xargs, python3, git, wc, sort, head, tee, mv, ln, touch]';
const FILES =
  'fs.read: { allow_paths: ["./**"], deny_paths: ["**/.env", "**/*.key", "./private"] }, fs.write: { allow_paths: ["./out/**"], deny_paths: ["./out/locked.txt"] }';
const run = (cmd: readonly string[], rules = '', files = FILES) =>
  bench.call(`tools: { shell.run: { ${PROGRAMS}${rules} }, ${files} }`, 'shell.run', { cmd: [...cmd] });

/** Everything a command could tell us. */
const said = (got: Awaited<ReturnType<typeof run>>) => `${got.data?.stdout}\n${got.data?.stderr}`;

describe('what a command sees of denied files', () => {
  const trust = ', allow_interpreters: [sh, bash, python, find, xargs, tar, git]';
  const readers: readonly (readonly string[])[] = [
    ['grep', '-r', 'NEEDLE', '.'],
    ['grep', '-r', 'NEEDLE'],
    ['grep', '-R', 'NEEDLE', '.'],
    ['grep', '-ra', '--devices=read', 'NEEDLE', '.'],
    ['find', '.', '-type', 'f', '-exec', 'cat', '{}', '+'],
    ['tar', 'cf', '-', '.'],
    ['sh', '-c', 'for f in $(find . -type f) .env deep/er/* private/*; do cat "$f"; done'],
    [
      'sh',
      '-c',
      'cat deep/*/a*.key; cat .en?; cat pri*/plan.txt; cat ali*.txt; cat rea*.txt; X=./deep/../.env; head -c 100 $X',
    ],
    ['bash', '-c', 'T=/tmp/copy; cp -r . $T; grep -r NEEDLE $T; P=/proc/self/root$PWD; cat $P/.env'],
    ['sh', '-c', 'find . -type f | xargs cat'],
    [
      'python3',
      '-c',
      'import os\nfor d, _, fs in os.walk("."):\n  for f in fs: print(open(d + "/" + f).read())',
    ],
  ];
  for (const cmd of readers)
    it(`[TOOL-38] ${cmd.join(' ').slice(0, 60)} finds what is allowed and nothing else`, async () => {
      const got = await run(cmd, trust);
      expect(got.status, got.reason).toBe('success');
      expect(said(got)).toContain('NEEDLE public');
      for (const word of ['env', 'key', 'upper', 'private', 'hidden'])
        expect(said(got)).not.toContain(`NEEDLE ${word}`);
    });

  it('[TOOL-38] moving, linking and writing over do not bring a denied file back', async () => {
    for (const script of [
      'mv private public; cat public/plan.txt',
      'mv deep shallow; cat shallow/er/api.key',
      'ln deep/er/api.key copy.txt; cat copy.txt',
      'umount deep/er/api.key; cat deep/er/api.key',
    ]) {
      const got = await run(['sh', '-c', script], trust, FILES.replace('./out/**', './**'));
      expect(said(got), script).not.toContain('NEEDLE');
      expect(readFileSync(join(bench.path, 'deep/er/api.key'), 'utf8'), script).toBe('NEEDLE key');
      expect(existsSync(join(bench.path, 'private/plan.txt')), script).toBe(true);
    }
  });

  it('[TOOL-38] a file that may not be written is not written by a command either', async () => {
    const got = await run(['sh', '-c', 'echo new > out/locked.txt; echo free > out/free.txt'], trust);
    expect(got.status).toBe('denied');
    const sneaky = 'X=out/locked.txt; echo new > "$X"; mv "$X" out/y; Y=out/free.txt; echo free > "$Y"';
    await run(['sh', '-c', sneaky], trust);
    expect(readFileSync(join(bench.path, 'out/locked.txt'), 'utf8')).toBe('as it was');
    expect(readFileSync(join(bench.path, 'out/free.txt'), 'utf8')).toBe('free\n');
  });

  it('[TOOL-38] a pattern for some names opens no folder for writing, a file by name only itself', async () => {
    await bench.file('notes/a.md', 'old');
    await bench.file('notes/b.txt', 'old');
    const files = 'fs.write: { allow_paths: ["./*.md", "./notes/a.md", "./none/**"] }';
    const script = 'for f in new.md notes/b.txt notes/c.md notes/a.md; do F=$f; echo new > "$F"; done; true';
    await run(['sh', '-c', script], trust, files);
    expect(existsSync(join(bench.path, 'new.md'))).toBe(false);
    expect(existsSync(join(bench.path, 'notes/c.md'))).toBe(false);
    expect(readFileSync(join(bench.path, 'notes/b.txt'), 'utf8')).toBe('old');
    expect(readFileSync(join(bench.path, 'notes/a.md'), 'utf8')).toBe('new\n');
  });

  it('[TOOL-38] hidden names are closed also where no pattern reaches', async () => {
    const got = await run(['grep', '-r', 'NEEDLE'], '', 'fs.read: { allow_paths: ["./docs/**"] }');
    expect(said(got)).toContain('NEEDLE public');
    expect(said(got)).not.toMatch(/NEEDLE (env|hidden)/);
  });

  it('[TOOL-41] Writ’s own records are not there for a command, even inside what it may write', async () => {
    const state = join(bench.path, '.state');
    await bench.file('.state/keys/ledger.key', 'NEEDLE signing');
    const files = 'fs.write: { allow_paths: ["./.state/keys/**", "./**"], allow_hidden: true }';
    const got = await bench.call(
      `tools: { shell.run: { ${PROGRAMS}${trust} }, ${files} }`,
      'shell.run',
      { cmd: ['sh', '-c', 'grep -r NEEDLE .; F=.state/keys/ledger.key; echo x > "$F"; cat "$F"; true'] },
      { masked: [state] },
    );
    expect(said(got)).toContain('NEEDLE public');
    expect(said(got)).not.toContain('NEEDLE signing');
    expect(readFileSync(join(state, 'keys/ledger.key'), 'utf8')).toBe('NEEDLE signing');
  });

  it('[TOOL-19] a fork bomb ends, and takes nothing else with it', async () => {
    const got = await run(
      ['bash', '-c', 'f() { f | f & }; f; while :; do :; done'],
      `${trust}, timeout_seconds: 20`,
    );
    expect(got.data).toMatchObject({ exit_code: 137 });
  }, 30_000);

  it('[TOOL-38] a denied folder elsewhere is closed, and hidden names open when the block says so', async () => {
    symlinkSync(join(other.path, 'vault'), join(bench.path, 'vault'));
    const files = `fs.read: { allow_paths: ["./**", "${other.path}/**"], deny_paths: ["${other.path}/vault"] }`;
    const got = await run(['grep', '-R', 'NEEDLE', '.'], trust, files);
    expect(said(got)).toContain('NEEDLE public');
    expect(said(got)).not.toContain('NEEDLE vault');
    const open = await run(['grep', '-r', 'NEEDLE', '.'], ', allow_hidden: true', files);
    expect(said(open)).toContain('NEEDLE hidden');
    const spelled = FILES.replace('"./**"', '"./**", "./.config/token"');
    expect(said(await run(['grep', '-r', 'NEEDLE', '.'], '', spelled))).toContain('NEEDLE hidden');
  });

  it('[TOOL-38] what git keeps for itself stays, and a hard link is no other file', async () => {
    expect(said(await run(['cat', '.git/config'], ', allow_hidden: true'))).toContain('[core]');
    expect((await run(['git', 'init', '-q', 'out/repo'])).data).toMatchObject({ exit_code: 0 });
    linkSync(join(bench.path, 'deep/er/api.key'), join(bench.path, 'second-name.txt'));
    expect(said(await run(['grep', '-r', 'NEEDLE', '.']))).not.toContain('NEEDLE key');
  });

  it('[TOOL-38] too much to look through is an error, never a shorter list', async () => {
    for (let i = 0; i < 300; i++) await other.file(`many/${i}.key`, 'x');
    const closing = { hidden: (path: string) => path.endsWith('.key'), fixed: () => false };
    expect(findClosed([other.path], closing)).toMatchObject({ problem: expect.stringContaining('256') });
    expect(findClosed([join(other.path, 'vault')], closing)).toEqual({ masked: [], readonly: [] });
  });
});
