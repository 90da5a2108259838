import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bubblewrapAvailable, runPipeline } from '../../src/sandbox/index.ts';
import { isRunning, type Options, specFor, workbench } from './bench-of-one.ts';
import { writForPipeline } from './test-writ.ts';

const bench = workbench();
afterAll(bench.remove);
const { available } = await bubblewrapAvailable();

async function pipe(stages: readonly (readonly string[])[], options: Options = {}) {
  const specs = stages.map((argv, i) => {
    const { stdin, ...rest } = options;
    return specFor(argv, i === 0 && stdin !== undefined ? { ...rest, stdin } : rest);
  });
  const { outcome, stages: each } = await runPipeline(await writForPipeline(stages), specs);
  const output = outcome.kind === 'not_started' ? undefined : outcome.output;
  return {
    outcome,
    codes: each.map((stage) => stage.exitCode),
    signals: each.map((stage) => stage.signal),
    stderrs: each.map((stage) => Buffer.from(stage.stderr).toString()),
    stdout: Buffer.from(output?.stdout ?? []).toString(),
    stderr: Buffer.from(output?.stderr ?? []).toString(),
  };
}

const sh = (text: string) => ['/bin/sh', '-c', text];

describe('pipelines', () => {
  it('[SBX-13] join stages by pipes: stdin into the first, stdout out of the last', async () => {
    const seen = await pipe(
      [
        ['sort', '-r'],
        ['head', '-n', '2'],
        ['tr', 'a-z', 'A-Z'],
      ],
      { stdin: 'a\nc\nb\n' },
    );
    expect(seen.stdout).toBe('C\nB\n');
    expect(seen.codes).toEqual([0, 0, 0]);
  });

  it('[SBX-13] carry any amount of data', async () => {
    const seen = await pipe([['head', '-c', '20000000', '/dev/zero'], ['cat'], ['wc', '-c']]);
    expect(seen.stdout.trim()).toBe('20000000');
  });

  it('[SBX-13] exit code of the last, all codes and every stderr to be had', async () => {
    const seen = await pipe([sh('echo one >&2; exit 3'), sh('cat; echo two >&2; exit 0')]);
    expect(seen.outcome).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(seen.codes).toEqual([3, 0]);
    expect(seen.stderrs).toEqual(['one\n', 'two\n']);
    expect(seen.stderr).toBe('one\ntwo\n');
    expect((await pipe([['true'], sh('exit 5')])).outcome).toMatchObject({ exitCode: 5 });
  });

  it('[SBX-13] a writer whose reader has gone gets SIGPIPE, as from any shell', async () => {
    const seen = await pipe([['yes'], ['head', '-n', '1']]);
    expect(seen.stdout).toBe('y\n');
    expect(seen.stderr).toBe('');
    expect(seen.signals).toEqual(['SIGPIPE', null]);
  });

  it('a stage can open /dev/stdin: the pipes are real', async () => {
    expect(
      (
        await pipe([
          ['echo', 'x'],
          ['cat', '/dev/stdin'],
        ])
      ).stdout,
    ).toBe('x\n');
  });

  it('[SBX-13] one timeout ends all stages', async () => {
    const note = join(bench.path, 'pids');
    const seen = await pipe([sh(`echo $$ >> ${note}; sleep 60`), sh(`echo $$ >> ${note}; sleep 60`)], {
      timeoutMs: 400,
    });
    expect(seen.outcome.kind).toBe('timeout');
    const pids = bench.read('pids').trim().split('\n').map(Number);
    expect(pids.length).toBe(2);
    for (const pid of pids) expect(isRunning(pid)).toBe(false);
  });

  it('[SBX-13] when one stage cannot start, none does', async () => {
    const file = join(bench.path, 'never');
    const seen = await pipe([['touch', file], ['no-such-program-here']]);
    expect(seen.outcome).toMatchObject({ kind: 'not_started', exitCode: 127 });
    expect(seen.codes).toEqual([]);
    expect(existsSync(file)).toBe(false);
    expect(
      (
        await pipe([
          ['touch', file],
          ['echo', 'x'.repeat(3_000_000)],
        ])
      ).outcome,
    ).toMatchObject({ exitCode: 126 });
  });

  it('an empty pipeline and stdin in the middle are refused', async () => {
    await expect(runPipeline(await writForPipeline([['true']]), [])).rejects.toThrow(/at least one/);
    const stages = [['true'], ['true']];
    await expect(
      runPipeline(await writForPipeline(stages), [specFor(['true']), specFor(['true'], { stdin: 'x' })]),
    ).rejects.toThrow(/first stage/);
  });

  it.skipIf(!available)('stages in bubblewrap are joined the same way', async () => {
    const profile = { kind: 'bubblewrap', network: 'none' } as const;
    const seen = await pipe(
      [
        ['echo', 'hello'],
        ['tr', 'a-z', 'A-Z'],
      ],
      { profile },
    );
    expect(seen.stdout).toBe('HELLO\n');
  });
});
