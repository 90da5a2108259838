import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bench } from './engine-kit.ts';
import { fly, folder } from './kit.ts';

const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n';

function repository(config: object, files: Record<string, string> = {}) {
  const steps = [
    { id: 's', engine: 'git', config: { branch: 'fix', message: 'why', patch: PATCH, ...config } },
  ];
  const dir = folder({ 'workflow.yaml': JSON.stringify({ id: 'g', steps }), 'a.txt': 'one\n', ...files });
  made.push(dir);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'safe.directory=*', ...args], {
      cwd: dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  return { dir, git };
}

describe('the engine git, when it plans', () => {
  it.each([
    ['a patch that touches .git', { patch: PATCH.replaceAll('a.txt', '.git/config') }, 'touches .git/config'],
    ['a patch that leaves', { patch: PATCH.replaceAll('a.txt', '../../x') }, 'touches ../../x'],
    ['a name in quotes that leaves', { patch: PATCH.replace('b/a.txt', '"b/\\056\\056/x"') }, 'touches ../x'],
    [
      'a rename into .git',
      {
        patch:
          'diff --git a/a.txt b/a.txt\nsimilarity index 100%\nrename from a.txt\nrename to .git/hooks/x\n',
      },
      'touches .git/hooks/x',
    ],
    ['a patch of nothing', { patch: 'hello\n' }, 'names no file'],
    ['an empty patch', { patch: '' }, 'is not a text'],
    ['a branch that is none', { patch: PATCH, branch: '-x' }, 'not a branch name'],
    ['a branch with two dots', { patch: PATCH, branch: 'a..b' }, 'not a branch name'],
    ['a patch file outside', { patch_file: '../secret' }, 'does not exist'],
    ['a patch file behind a symlink', { patch_file: 'link' }, 'outside the workspace'],
    ['a key nobody knows', { patch: PATCH, push: true }, 'there is no push'],
    ['no repository', { patch: PATCH }, 'not the top folder of a git repository'],
  ])('[FLT-E8] %s is a mistake of the configuration', (_, config, reason) => {
    const at = bench({ 'a.txt': 'one\n' });
    symlinkSync('/etc/hostname', join(at.workspace, 'link'));
    const { code, receipt } = at.run('git', { branch: 'fix', message: 'why', ...config });
    expect({ code, status: receipt.status }).toEqual({ code: 2, status: 'failure' });
    expect(receipt.error).toContain(reason);
  });
});

describe('the engine git, when it takes off', () => {
  it('runs no hook, and refuses a tree with work in it', async () => {
    const { dir, git } = repository({});
    const hooks = ['pre-commit', 'post-checkout', 'post-commit', 'reference-transaction', 'commit-msg'];
    for (const hook of hooks) {
      mkdirSync(join(dir, '.git/hooks'), { recursive: true });
      writeFileSync(
        join(dir, '.git/hooks', hook),
        '#!/bin/sh\ntouch "$(git rev-parse --show-toplevel)/ran"\n',
      );
      chmodSync(join(dir, '.git/hooks', hook), 0o755);
    }
    const { code, json } = await fly(dir);
    expect({ code, error: json.error }).toEqual({ code: 0, error: null });
    expect(existsSync(join(dir, 'ran'))).toBe(false);
    expect(git('symbolic-ref', '--short', 'HEAD').trim()).toBe('fix');
    expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('two\n');
  });

  it('with work in the tree: refused, or beside it with checkout: false; the work is neither lost nor committed', async () => {
    for (const checkout of [true, false]) {
      const { dir, git } = repository({ checkout }, { 'b.txt': 'mine\n' });
      writeFileSync(join(dir, 'b.txt'), 'half done\n');
      git('add', 'b.txt');
      writeFileSync(join(dir, 'b.txt'), 'half done, more\n');
      const { json } = await fly(dir);
      expect(json.state).toBe(checkout ? 'FAILED' : 'COMPLETED');
      expect(readFileSync(join(dir, 'b.txt'), 'utf8')).toBe('half done, more\n');
      expect(git('diff', '--cached', '--name-only').trim()).toBe('b.txt');
      expect(git('branch', '--list', 'fix').trim()).toBe(checkout ? '' : 'fix');
      if (!checkout) expect(git('diff', '--name-only', 'main', 'fix').trim()).toBe('a.txt');
    }
  });

  it('a patch that does not fit leaves everything as it was', async () => {
    const { dir, git } = repository({ patch: PATCH.replace('-one', '-other') });
    const { json } = await fly(dir);
    expect(json.error?.message).toContain('git apply');
    expect(git('branch', '--list').trim()).toBe('* main');
    expect(git('status', '--porcelain', '-uno')).toBe('');
  });

  it('an untracked file in the way: the branch goes again', async () => {
    const patch = '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n';
    const { dir, git } = repository({ patch });
    writeFileSync(join(dir, 'new.txt'), 'somebody’s\n');
    const { json } = await fly(dir);
    expect(json.error?.message).toContain('the branch has been removed again');
    expect(readFileSync(join(dir, 'new.txt'), 'utf8')).toBe('somebody’s\n');
    expect(git('branch', '--list').trim()).toBe('* main');
  });

  it('binary content and deletions pass through', async () => {
    const { dir, git } = repository({}, { 'gone.txt': 'bye\n', blob: 'AB\0CD' });
    writeFileSync(join(dir, 'blob'), Buffer.from([0, 1, 2, 255, 254]));
    rmSync(join(dir, 'gone.txt'));
    const patch = git('diff', '--binary');
    git('checkout', '-q', '.');
    const steps = [{ id: 's', engine: 'git', config: { branch: 'bin', message: 'm', patch } }];
    writeFileSync(join(dir, 'two.yaml'), JSON.stringify({ id: 'g', steps }));
    const { code, json } = await fly(dir, 'two.yaml');
    expect({ code, error: json.error }).toEqual({ code: 0, error: null });
    expect([...readFileSync(join(dir, 'blob'))]).toEqual([0, 1, 2, 255, 254]);
    expect(existsSync(join(dir, 'gone.txt'))).toBe(false);
  });

  it('a submodule in the repository is left alone', async () => {
    const inner = repository({});
    const { dir, git } = repository({});
    git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.dir, 'sub');
    git('commit', '-q', '-m', 'with a submodule');
    const { code, json } = await fly(dir);
    expect({ code, error: json.error }).toEqual({ code: 0, error: null });
    expect(git('ls-tree', 'fix', 'sub')).toContain('160000 commit');
    expect(readFileSync(join(dir, 'sub/a.txt'), 'utf8')).toBe('one\n');
  });
});
