import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workbench } from './road.ts';

const bench = workbench();
const outside = workbench();
afterAll(() => {
  bench.remove();
  outside.remove();
});
beforeAll(async () => {
  await bench.file('a.txt', 'hello');
  await bench.file('.env', 'TOKEN');
  await bench.file('sub/b.txt', 'below');
  await outside.file('secret.txt', 'SECRET');
});

const ANY =
  'allow_executables: [echo, cat, ls, env, git, sh, bash, sleep, pwd, printenv, seq, touch, head, tail, "false", python3, find, cp, id]';
const run = (cmd: unknown, more: object = {}, rules = ANY, others = '') =>
  bench.call(`tools: { shell.run: { ${rules} }${others} }`, 'shell.run', { cmd, ...more } as never);

describe('shell.run', () => {
  it('[TOOL-12] gives exit code, stdout and stderr; a non-zero exit is a success of the tool', async () => {
    expect(await run(['echo', 'hi; ls | cat'])).toMatchObject({
      status: 'success',
      data: { exit_code: 0, stdout: 'hi; ls | cat\n', stderr: '', truncated: false },
    });
    expect(await run(['sh', '-c', 'echo out; echo err >&2; exit 3'])).toMatchObject({
      status: 'success',
      data: { exit_code: 3, stdout: 'out\n', stderr: 'err\n' },
    });
    expect(await run(['pwd'], { cwd: 'sub' })).toMatchObject({
      data: { stdout: `${join(bench.path, 'sub')}\n` },
    });
    expect(await run(['printenv', 'GREETING'], { env: { GREETING: 'hello' } })).toMatchObject({
      data: { stdout: 'hello\n' },
    });
    expect(await run(['cat'], { stdin: 'fed' })).toMatchObject({ data: { stdout: 'fed' } });
    expect(await run(['cat', 'a.txt'])).toMatchObject({ data: { stdout: 'hello' } });
  });

  it('[TOOL-13] only argv arrays of text are accepted', async () => {
    for (const cmd of ['ls -la', [], [['ls']], ['ls', 5], ['ls', null], undefined, ['echo', 'a\0b']])
      expect(await run(cmd), JSON.stringify(cmd)).toMatchObject({
        status: 'denied',
        rule: 'shell.run.arguments',
      });
    expect(await run(['no-such-program'], {}, 'allow_executables: [no-such-program]')).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/^2005: .*not found/),
    });
    expect(await run(['echo'], { cwd: 'missing' })).toMatchObject({
      status: 'denied',
      rule: 'shell.run.cwd',
    });
  });

  it('[TOOL-14] a file that is called like an allowed program is not that program', async () => {
    const fake = await outside.file('bin/git', '#!/bin/sh\necho pwned\n');
    chmodSync(fake, 0o755);
    await bench.file('git', '#!/bin/sh\necho pwned\n');
    chmodSync(join(bench.path, 'git'), 0o755);
    for (const cmd of [[fake], ['./git'], [join(bench.path, 'git')]])
      expect(await run(cmd, {}, 'allow_executables: [git]')).toMatchObject({
        status: 'denied',
        rule: 'shell.run.allow_executables',
      });
    symlinkSync('/usr/bin/id', join(bench.path, 'echo'));
    expect(await run(['./echo'], {}, 'allow_executables: [echo]')).toMatchObject({ status: 'denied' });
    expect(await run(['/bin/echo', 'hi'], {}, 'allow_executables: [echo]')).toMatchObject({
      status: 'success',
    });
  });

  it('[TOOL-15] a plan cannot choose the code through variables or the folder', async () => {
    mkdirSync(join(outside.path, 'evil'), { recursive: true });
    writeFileSync(join(outside.path, 'evil/git'), '#!/bin/sh\necho pwned\n');
    chmodSync(join(outside.path, 'evil/git'), 0o755);
    for (const env of [
      { PATH: join(outside.path, 'evil') },
      { LD_PRELOAD: '/x.so' },
      { GIT_SSH_COMMAND: 'id' },
      { BASH_ENV: '/x' },
      { NODE_OPTIONS: '--require /x' },
      { PYTHONPATH: '/x' },
      { HTTP_PROXY: 'http://x' },
      { FOO_OPTIONS: 'x' },
    ])
      expect(await run(['git', '--version'], { env }), JSON.stringify(env)).toMatchObject({
        status: 'denied',
        rule: 'shell.run.allow_env',
      });
    for (const cwd of ['/etc', '..', outside.path, '/'])
      expect(await run(['ls'], { cwd })).toMatchObject({ status: 'denied', rule: 'shell.run.cwd' });
  });

  it('[TOOL-16] the child gets a bare environment, not ours', async () => {
    process.env.WRIT_TEST_SECRET = 'leak';
    const got = await run(['env']);
    delete process.env.WRIT_TEST_SECRET;
    const stdout = String(got.data?.stdout);
    expect(stdout).not.toContain('leak');
    expect(
      stdout
        .split('\n')
        .map((line) => line.split('=')[0])
        .filter((name) => name && !/^GIT_|^PWD$|^SHLVL$|^_$/.test(name))
        .sort(),
    ).toEqual(['HOME', 'LANG', 'PATH', 'TERM']);
  });

  it('[TOOL-17] files named by arguments keep to the policy of files', async () => {
    const files =
      ', fs.read: { allow_paths: ["./**"], deny_paths: ["**/*.key"] }, fs.write: { allow_paths: ["./out/**"] }';
    for (const cmd of [
      ['cat', '/etc/passwd'],
      ['cat', '../x'],
      ['cat', join(outside.path, 'secret.txt')],
      ['head', '--lines=1', '/etc/passwd'],
      ['cat', '.env'],
      ['cat', 'x.key'],
      ['ls', '/root'],
      ['sh', '-c', 'cat /etc/passwd'],
      ['sh', '-c', 'cat < /etc/passwd'],
      ['cp', 'a.txt', '/tmp/x'],
      ['find', '/', '-name', 'x'],
      ['cat', 'file:///etc/passwd'],
      ['ls', '~'],
    ]) {
      await bench.file('x.key', 'KEY');
      expect(await run(cmd, {}, ANY, files), cmd.join(' ')).toMatchObject({ status: 'denied' });
    }
    expect(await run(['cat', 'a.txt', 'sub/b.txt'], {}, ANY, files)).toMatchObject({
      status: 'success',
      data: { stdout: 'hellobelow' },
    });
    symlinkSync(join(outside.path, 'secret.txt'), join(bench.path, 'link.txt'));
    expect(await run(['cat', 'link.txt'], {}, ANY, files)).toMatchObject({ status: 'denied' });
    expect(await run(['cat', '/etc/passwd'])).toMatchObject({
      status: 'denied',
      rule: 'shell.run.allow_paths',
    });
    // A program that goes elsewhere first, and a rule that stands in another block.
    symlinkSync(join(outside.path, 'secret.txt'), join(bench.path, 'sub/away'));
    for (const cmd of [
      ['git', '-C', 'sub', 'diff', '--no-index', 'away', '/dev/null'],
      ['tar', '-Csub', '-chf', '-', 'away'],
      ['tar', '-chf', '-', '--directory=sub', 'away'],
      ['sh', '-c', 'cd sub && cat away'],
    ])
      expect(await run(cmd, {}, 'allow_executables: [git, tar, sh, cat]'), cmd.join(' ')).toMatchObject({
        status: 'denied',
      });
    expect(await run(['cat', 'x.key'], {}, ANY, files)).toMatchObject({
      rule: 'fs.read.deny_paths',
      line: 1,
    });
    expect(await run(['cat', '/etc/hostname'], {}, `${ANY}, allow_paths: ["/etc/hostname"]`)).toMatchObject({
      status: 'success',
    });
  });

  it('[TOOL-18] the sandbox holds what looking cannot: nothing outside is written, nothing is reached', async () => {
    const trusted = `${ANY}, allow_interpreters: [sh, python3], network: none`;
    const target = join(outside.path, 'written');
    await run(
      ['sh', '-c', `X=${target}; echo evil > "$X"; Q=/etc/writ-test; echo evil > "$Q"; echo fine > here.txt`],
      {},
      trusted,
    );
    expect(existsSync(target)).toBe(false);
    expect(existsSync('/etc/writ-test')).toBe(false);
    expect(readFileSync(join(bench.path, 'here.txt'), 'utf8')).toBe('fine\n');
    const connect = await run(
      ['python3', '-c', 'import socket; socket.create_connection(("127.0.0.1", 22), 1)'],
      {},
      trusted,
    );
    expect(connect.data === null || connect.data.exit_code !== 0).toBe(true);
    const files = ', fs.write: { allow_paths: ["./out/**"] }';
    mkdirSync(join(bench.path, 'out'), { recursive: true });
    await run(['sh', '-c', 'Y=no.txt; echo x > "$Y"; Z=out/yes.txt; echo x > "$Z"'], {}, trusted, files);
    expect(existsSync(join(bench.path, 'no.txt'))).toBe(false);
    expect(existsSync(join(bench.path, 'out/yes.txt'))).toBe(true);
  });

  it('[TOOL-19] the policy’s timeout holds whatever the plan says, for the whole family of processes', async () => {
    const started = performance.now();
    const got = await run(
      ['sh', '-c', '(sleep 3; touch late.txt) & sleep 30'],
      { timeout: 30, timeout_seconds: 30 },
      `${ANY}, timeout_seconds: 1`,
    );
    expect(got).toMatchObject({ status: 'error', error: expect.stringMatching(/^2003: .*after 1 s/) });
    expect(performance.now() - started).toBeLessThan(8000);
    await delay(3500);
    expect(existsSync(join(bench.path, 'late.txt'))).toBe(false);
    expect(await run(['sleep', '20'], { timeout_seconds: 0.3 })).toMatchObject({
      status: 'error',
      error: expect.stringContaining('0.3 s'),
    });
  });

  it('[TOOL-20] output is cut at the limit while it streams', async () => {
    const got = await run(['seq', '1', '2000000'], {}, `${ANY}, max_output_bytes: 1000`);
    expect(got).toMatchObject({ status: 'success', data: { truncated: true } });
    expect(String(got.data?.stdout).length).toBeLessThanOrEqual(1000);
    expect(
      await run(['python3', '-c', "print('x' * 200000)"], {}, `${ANY}, max_output_bytes: 1000`),
    ).toMatchObject({ status: 'success', data: { truncated: true } });
  });

  it('[TOOL-21] interpreters do not smuggle other programs in', async () => {
    for (const cmd of [
      ['git', '-c', 'alias.x=!id', 'x'],
      ['sh', '-c', 'whoami'],
      ['env', 'whoami'],
      ['find', '.', '-exec', 'id', ';'],
      ['find', '.', '-delete'],
      ['python3', '-c', 'import os; os.system("id")'],
      ['sh', '-c', 'rm -r -f x'],
      ['bash', '-c', 'sudo ls'],
    ])
      expect(await run(cmd), cmd.join(' ')).toMatchObject({ status: 'denied' });
    expect(await run(['find', '.', '-name', 'a.txt'])).toMatchObject({
      status: 'success',
      data: { stdout: './a.txt\n' },
    });
  });

  it('a repository’s own settings cannot make git run a program', async () => {
    await run(['git', 'init', '-q', 'repo']);
    writeFileSync(
      join(bench.path, 'repo/.git/config'),
      `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch ${bench.path}/fsmonitor-ran\n\tpager = touch ${bench.path}/pager-ran\n[alias]\n\tst = !touch ${bench.path}/alias-ran\n`,
    );
    expect(await run(['git', 'status'], { cwd: 'repo' })).toMatchObject({ status: 'success' });
    expect(await run(['git', 'st'], { cwd: 'repo' })).toMatchObject({ status: 'denied' });
    for (const name of ['fsmonitor-ran', 'pager-ran', 'alias-ran'])
      expect(existsSync(join(bench.path, name))).toBe(false);
  });
});
