import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { marked } from '../../src/sandbox/process-tree.ts';
import { isRunning, runs, script, workbench } from './bench-of-one.ts';

const bench = workbench();
afterAll(bench.remove);

describe('run: argv, environment, streams', () => {
  it('[SBX-01] passes every argument as it is: nothing is expanded, split or interpreted', async () => {
    const words = ['%s|', '$HOME', '*', 'a b', '`id`', ';', '&&', '', '-n', "'", '"', '\\', 'é\n', '>x'];
    const seen = await runs(['printf', ...words]);
    expect(seen.stdout).toBe(
      words
        .slice(1)
        .map((w) => `${w}|`)
        .join(''),
    );
    expect(existsSync(join(bench.path, 'x'))).toBe(false);
  });

  it('[SBX-02] the child has exactly the environment it was given, and the mark of its run', async () => {
    process.env.LD_PRELOAD_TEST_ONLY = 'leak';
    const seen = await runs(['env', '-0'], { env: { PATH: '/usr/bin:/bin', A: '1' } });
    delete process.env.LD_PRELOAD_TEST_ONLY;
    const names = seen.stdout.split('\0').filter(Boolean);
    expect(names.filter((line) => !line.startsWith('WRIT_RUN='))).toEqual(['PATH=/usr/bin:/bin', 'A=1']);
  });

  it('[SBX-03] stdin is empty when none is given, and exactly the bytes when there are some', async () => {
    expect((await runs(['wc', '-c'])).stdout.trim()).toBe('0');
    const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => i % 256);
    const seen = await runs(['cat'], { stdin: bytes });
    expect(seen.outcome.kind === 'exited' && Buffer.from(bytes).equals(seen.outcome.output.stdout)).toBe(
      true,
    );
  });

  it('a program that does not read its input is not an error', async () => {
    const seen = await runs(['true'], { stdin: 'x'.repeat(5_000_000) });
    expect(seen.exitCode).toBe(0);
  });

  it('[SBX-04] keeps a prefix of the output, counts the rest, and never holds more', async () => {
    const seen = await runs(['head', '-c', '3000000', '/dev/zero'], { limits: { maxOutputBytes: 1000 } });
    expect(seen.outcome).toMatchObject({
      kind: 'exited',
      exitCode: 0,
      output: { stdoutBytes: 3_000_000, stdoutTruncated: true, stderrTruncated: false },
    });
    expect(seen.stdout.length).toBe(1000);
  });

  it('[SBX-04] stdout and stderr have a bound each', async () => {
    const seen = await script('head -c 5000 /dev/zero >&2; printf abc', { limits: { maxOutputBytes: 10 } });
    expect(seen.stdout).toBe('abc');
    expect(seen.outcome).toMatchObject({
      output: { stderrBytes: 5000, stderrTruncated: true, stdoutTruncated: false },
    });
  });

  it('large output arrives whole', async () => {
    const seen = await runs(['seq', '1', '200000']);
    expect(seen.stdout.endsWith('\n199999\n200000\n')).toBe(true);
    expect(seen.outcome).toMatchObject({ output: { stdoutBytes: 1_288_895, stdoutTruncated: false } });
  });

  it('passes stderr on while it runs, and survives a listener that throws', async () => {
    const chunks: string[] = [];
    const seen = await script('echo one >&2; sleep 0.1; echo two >&2', {
      onStderr: (chunk) => {
        chunks.push(Buffer.from(chunk).toString());
        throw new Error('listener');
      },
    });
    expect(seen.stderr).toBe('one\ntwo\n');
    expect(chunks).toEqual(['one\n']);
  });

  it('tells the exit code, and 128 + n for a signal', async () => {
    expect((await script('exit 42')).outcome).toMatchObject({ kind: 'exited', exitCode: 42, signal: null });
    expect((await script('kill -9 $$')).outcome).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
  });
});

describe('run: what cannot start is a value', () => {
  it('[SBX-05] a missing program is 127', async () => {
    for (const name of ['no-such-program-here', './nope', '/no/such/file', ''])
      expect((await runs([name])).outcome).toMatchObject({ kind: 'not_started', exitCode: 127 });
  });

  it('[SBX-06] a folder, a file without permission, a NUL, an endless argument list are 126', async () => {
    const plain = bench.file('plain', 'echo hi\n');
    const bare = bench.file('bare', 'echo hi\n', 0o755);
    for (const argv of [
      ['/tmp'],
      [plain],
      [bare],
      ['echo', 'a\0b'],
      ['echo', ...Array.from({ length: 200 }, () => 'x'.repeat(100_000))],
      ['echo', 'x'.repeat(3_000_000)],
    ])
      expect((await runs(argv)).outcome).toMatchObject({ kind: 'not_started', exitCode: 126 });
    expect((await runs(['env'], { env: { A: 'x\0y' } })).outcome).toMatchObject({ exitCode: 126 });
  });

  it('[SBX-07] a text file without a #! line never reaches a shell', async () => {
    const trap = bench.file('trap', `touch ${join(bench.path, 'sprung')}\n`, 0o755);
    expect((await runs([trap])).outcome).toMatchObject({ kind: 'not_started', exitCode: 126 });
    expect(existsSync(join(bench.path, 'sprung'))).toBe(false);
  });

  it('a script whose interpreter is missing is 127; a missing folder is 126 and says so', async () => {
    const orphan = bench.file('orphan', '#!/no/such/interpreter\n', 0o755);
    expect((await runs([orphan])).outcome).toMatchObject({ kind: 'not_started', exitCode: 127 });
    expect((await runs(['true'], { cwd: '/no/such/folder' })).outcome).toMatchObject({
      kind: 'not_started',
      exitCode: 126,
      reason: '/no/such/folder: no such folder',
    });
    expect((await runs(['true'], { cwd: 'relative' })).outcome).toMatchObject({ exitCode: 126 });
  });

  it('a timeout that is no number is refused before anything runs', async () => {
    for (const timeoutMs of [0, -1, Number.NaN])
      await expect(runs(['true'], { timeoutMs })).rejects.toThrow(/timeoutMs/);
    expect((await runs(['true'], { timeoutMs: Number.POSITIVE_INFINITY })).exitCode).toBe(0);
  });
});

describe('run: nothing outlives it', () => {
  const pidsIn = (text: string) => text.split(/\s+/).filter(Boolean).map(Number);

  it('[SBX-08] a timeout ends the whole group, TERM first', async () => {
    const seen = await script('trap "echo bye; exit 0" TERM; sleep 60 & echo $!; wait', { timeoutMs: 300 });
    expect(seen.kind).toBe('timeout');
    expect(seen.stdout).toContain('bye');
    const [sleeper] = pidsIn(seen.stdout);
    expect(isRunning(sleeper!)).toBe(false);
  });

  it('[SBX-08] who ignores TERM is killed after the grace, children included', async () => {
    const seen = await script('trap "" TERM; (trap "" TERM; sleep 60) & echo $! $$; sleep 60', {
      timeoutMs: 200,
      killAfterMs: 200,
    });
    expect(seen.kind).toBe('timeout');
    expect(seen.outcome.durationMs).toBeGreaterThanOrEqual(390);
    expect(seen.outcome.durationMs).toBeLessThan(10_000);
    for (const pid of pidsIn(seen.stdout)) expect(isRunning(pid)).toBe(false);
  });

  it('[SBX-08] a member of the group may use the grace even when its parent is gone', async () => {
    const seen = await script(
      'sh -c \'trap "sleep 0.2; echo flushed; exit" TERM; while :; do sleep 0.05; done\' & sleep 60',
      {
        timeoutMs: 200,
        killAfterMs: 2000,
      },
    );
    expect(seen.stdout).toBe('flushed\n');
  });

  it('[SBX-09] what the child leaves in its group is killed when it ends', async () => {
    const seen = await script('sleep 60 & echo $!');
    expect(seen.exitCode).toBe(0);
    expect(isRunning(pidsIn(seen.stdout)[0]!)).toBe(false);
    expect(seen.outcome.durationMs).toBeLessThan(14_000);
  });

  it('[SBX-10] a daemon that left the group is found by its mark and killed', async () => {
    const note = join(bench.path, 'daemon.pid');
    const seen = await script(
      `setsid sh -c 'echo $$ > ${note}; exec sleep 60' >/dev/null 2>&1 </dev/null & while ! [ -s ${note} ]; do sleep 0.02; done`,
    );
    expect(seen.exitCode).toBe(0);
    await delay(50);
    expect(isRunning(Number(bench.read('daemon.pid')))).toBe(false);
  });

  it('[SBX-10] what a program of ours starts in turn still carries the outer mark', async () => {
    process.env.WRIT_RUN = 'abc123,not a mark,def';
    const seen = await script('echo $WRIT_RUN; exec sleep 0.01');
    delete process.env.WRIT_RUN;
    expect(seen.stdout).toMatch(/^abc123,def,[0-9a-f]{32}\n$/);
    const sleeper = spawn('sleep', ['60'], { env: { PATH: '/usr/bin:/bin', WRIT_RUN: 'abc123,def' } });
    expect(marked('abc123', 1, 10_000)).toEqual([sleeper.pid]);
    expect(marked('abc', 1, 10_000)).toEqual([]);
    sleeper.kill('SIGKILL');
  });

  it('[SBX-10] a daemon that keeps our pipes and has no mark does not keep us waiting', async () => {
    const note = join(bench.path, 'unmarked.pid');
    const seen = await script(
      `setsid env -i sh -c 'echo $$ > ${note}; exec sleep 25' & while ! [ -s ${note} ]; do sleep 0.02; done; echo done`,
    );
    expect(seen.stdout).toBe('done\n');
    expect(seen.outcome.durationMs).toBeLessThan(20_000);
    process.kill(Number(bench.read('unmarked.pid')), 'SIGKILL');
  });

  it('[SBX-10] on a timeout an attached descendant in another session goes too, mark or no mark', async () => {
    const note = join(bench.path, 'attached.pid');
    const seen = await script(
      `setsid -w env -i sh -c 'trap "" TERM; echo $$ > ${note}; while :; do sleep 1; done'`,
      {
        timeoutMs: 500,
        killAfterMs: 100,
      },
    );
    expect(seen.kind).toBe('timeout');
    expect(isRunning(Number(bench.read('attached.pid')))).toBe(false);
  });

  it('an abort ends it like a timeout; an abort before the start starts nothing', async () => {
    const stop = new AbortController();
    const running = script('echo started; sleep 60', { signal: stop.signal });
    await delay(200);
    stop.abort();
    expect(await running).toMatchObject({ kind: 'aborted', stdout: 'started\n' });
    const file = join(bench.path, 'never');
    expect((await runs(['touch', file], { signal: stop.signal })).kind).toBe('aborted');
    expect(existsSync(file)).toBe(false);
  });
});

describe('run: limits', () => {
  it('[SBX-11] memory, file size and processor time are bounded', async () => {
    const hungry = await runs(['python3', '-c', 'x = bytearray(400_000_000); print(len(x))'], {
      limits: { memoryBytes: 200_000_000 },
    });
    expect(hungry.exitCode).not.toBe(0);
    expect(hungry.stdout).toBe('');
    const big = join(bench.path, 'big');
    const writer = await runs(['dd', 'if=/dev/zero', `of=${big}`, 'bs=1M', 'count=5'], {
      limits: { fileBytes: 1_000_000 },
    });
    expect(writer.exitCode).not.toBe(0);
    expect(bench.read('big').length).toBeLessThanOrEqual(1_000_000);
    const busy = await script('while :; do :; done', { limits: { cpuSeconds: 1 } });
    expect(busy.outcome).toMatchObject({ kind: 'exited', signal: 'SIGKILL' });
  });

  it('[SBX-11] a tree that outgrows its number of processes is ended', async () => {
    const note = join(bench.path, 'many.pids');
    const seen = await script(
      `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & echo $! >> ${note}; done; wait`,
      {
        limits: { processes: 5 },
      },
    );
    expect(seen.outcome).toMatchObject({ kind: 'exited', signal: 'SIGKILL' });
    for (const pid of pidsOf(bench.read('many.pids'))) expect(isRunning(pid)).toBe(false);
    expect((await script('true; true', { limits: { processes: 5 } })).exitCode).toBe(0);
  });

  const pidsOf = (text: string) => text.trim().split(/\s+/).map(Number);
});
