import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type RunningProcess, runInteractive, start } from '../../src/sandbox/index.ts';
import { isRunning, type Options, specFor } from './bench-of-one.ts';
import { writForArgv } from './test-writ.ts';

async function started(argv: readonly string[], options: Options = {}): Promise<RunningProcess> {
  return start(await writForArgv(argv), specFor(argv, options));
}

async function line(running: RunningProcess): Promise<string> {
  for await (const chunk of running.stdout.iterator({ destroyOnReturn: false })) return String(chunk).trim();
  return '';
}

describe('start: a process that stays', () => {
  it('[SBX-14] talks through its streams until it is stopped', async () => {
    const cat = await started(['cat']);
    cat.stdin.write('hello\n');
    expect(await line(cat)).toBe('hello');
    expect(isRunning(cat.pid)).toBe(true);
    await cat.stop();
    expect(isRunning(cat.pid)).toBe(false);
    expect(await cat.exited).toEqual({ exitCode: null, signal: 'SIGTERM' });
    await cat.stop();
  });

  it('[SBX-14] stop ends the whole group, deaf members included', async () => {
    const tree = await started(
      ['/bin/sh', '-c', 'trap "" TERM; (trap "" TERM; sleep 60) & echo $!; sleep 60'],
      {
        killAfterMs: 100,
      },
    );
    const inner = Number(await line(tree));
    await tree.stop();
    expect([isRunning(tree.pid), isRunning(inner)]).toEqual([false, false]);
  });

  it('what it said last can still be read, however slowly, after it has gone', async () => {
    const talker = await started(['seq', '1', '15000']);
    let text = '';
    for await (const chunk of talker.stdout) {
      if (text === '') {
        await talker.exited;
        await delay(600);
      }
      text += String(chunk);
    }
    expect(text.endsWith('14999\n15000\n')).toBe(true);
  });

  it('an abort stops it', async () => {
    const stop = new AbortController();
    const sleeper = await started(['sleep', '60'], { signal: stop.signal });
    stop.abort();
    expect((await sleeper.exited).signal).toBe('SIGTERM');
    await expect(started(['sleep', '60'], { signal: stop.signal })).rejects.toThrow();
  });

  it('a program that cannot start throws what to do', async () => {
    await expect(started(['no-such-program-here'])).rejects.toMatchObject({ code: 2005 });
  });

  it('writing to one that has ended does not bring us down', async () => {
    const gone = await started(['true']);
    await gone.exited;
    gone.stdin.write('x');
    await delay(20);
  });
});

describe('runInteractive: on this very terminal', () => {
  it('[SBX-15] gives the exit code and captures nothing', async () => {
    const argv = ['/bin/sh', '-c', 'exit 9'];
    const outcome = await runInteractive(await writForArgv(argv), specFor(argv));
    expect(outcome).toMatchObject({ kind: 'exited', exitCode: 9, output: { stdoutBytes: 0 } });
    const missing = ['no-such-program-here'];
    expect(await runInteractive(await writForArgv(missing), specFor(missing))).toMatchObject({
      exitCode: 127,
    });
  });

  it('[SBX-15] Ctrl-C is the program’s: we do not die of it, and it may go on', async () => {
    const argv = ['/bin/sh', '-c', 'trap "" INT; kill -INT $PPID; sleep 0.2; exit 4'];
    expect(await runInteractive(await writForArgv(argv), specFor(argv))).toMatchObject({ exitCode: 4 });
  });
});
