import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { Writ } from '../../src/core/index.ts';
import { bubblewrapAvailable, makeReady, type RunSpec, run } from '../../src/sandbox/index.ts';
import { isRunning, specFor, workbench } from './bench-of-one.ts';
import { writForArgv } from './test-writ.ts';

const bench = workbench();
afterAll(bench.remove);
const { available } = await bubblewrapAvailable();
const helper = new URL('./ready-runner.ts', import.meta.url).pathname;

let count = 0;
/** A shell script in a folder of its own, marked so that its sandbox can be found among all processes. */
function marked(script: string, options: Partial<RunSpec> = {}) {
  const mark = `${process.pid}-${++count}`;
  const folder = join(bench.path, mark);
  mkdirSync(folder);
  const argv = ['/bin/sh', '-c', script];
  const spec = specFor(argv, {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', READY_TEST: mark },
    stdin: '',
    profile: { kind: 'bubblewrap', network: 'none', writable: [folder] },
    ...options,
  });
  return { mark, folder, argv, spec };
}

function carrying(mark: string): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && carries(pid, mark) && isRunning(pid));
}

function carries(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`READY_TEST=${mark}`);
  } catch {
    return false;
  }
}

async function goneWithin(mark: string, ms: number): Promise<readonly number[]> {
  for (let waited = 0; waited < ms && carrying(mark).length > 0; waited += 20) await delay(20);
  return carrying(mark);
}

function said(outcome: Awaited<ReturnType<typeof run>>): string {
  return outcome.kind === 'exited' ? Buffer.from(outcome.output.stdout).toString('utf8') : outcome.kind;
}

describe.skipIf(!available)('a sandbox made ready', () => {
  it('[SBX-32] runs nothing before its writ, and then what it was made for, in the sandbox that waited', async () => {
    const { mark, folder, argv, spec } = marked('cat; echo ran > ran', { stdin: 'hello' });
    const ready = await makeReady(spec);
    await delay(150);
    const waiting = carrying(mark);
    expect(waiting.length).toBeGreaterThan(0);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    const running = run(await writForArgv(argv), spec, ready);
    expect(carrying(mark)).toEqual(expect.arrayContaining([waiting[0]]));
    expect(said(await running)).toBe('hello');
    expect(existsSync(join(folder, 'ran'))).toBe(true);
    expect(carrying(mark)).toEqual([]);
  });

  it('[SBX-32] without a writ nothing runs in it, and it is ended', async () => {
    const { mark, folder, spec } = marked('echo ran > ran');
    const ready = await makeReady(spec);
    await expect(run({} as Writ, spec, ready)).rejects.toThrow('writ');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(carrying(mark)).toEqual([]);
  });

  it('[SBX-33] is not used when a folder it shows was swapped: the run sees what is there now', async () => {
    const { mark, folder, argv, spec } = marked('cat note');
    bench.file(`${mark}/note`, 'old');
    const ready = await makeReady(spec);
    await delay(100);
    renameSync(folder, `${folder}-away`);
    bench.file(`${mark}/note`, 'new');
    expect(said(await run(await writForArgv(argv), spec, ready))).toBe('new');
    expect(carrying(mark)).toEqual([]);
  });

  it('[SBX-33] is not used for another launch than the one it was made for', async () => {
    const { mark, folder, argv, spec } = marked('echo x > note; cat note');
    const ready = await makeReady(spec);
    const stricter = {
      ...spec,
      profile: { kind: 'bubblewrap', network: 'none', readonly: [folder] } as const,
    };
    const outcome = await run(await writForArgv(argv), stricter, ready);
    expect(said(outcome)).toBe('');
    expect(existsSync(join(folder, 'note'))).toBe(false);
    expect(carrying(mark)).toEqual([]);
  });

  it('[SBX-32] is ended when it is not wanted, also when it was only just begun', async () => {
    for (const pause of [0, 3, 80]) {
      const { mark, folder, spec } = marked('echo ran > ran');
      const ready = await makeReady(spec);
      await delay(pause);
      await ready?.discard();
      expect(await goneWithin(mark, 2000)).toEqual([]);
      expect(existsSync(join(folder, 'ran'))).toBe(false);
    }
  });

  it('[SBX-34] when its maker is killed it is gone, at whatever moment, and has run nothing', async () => {
    for (const [word, pause] of [
      ['begins', 0],
      ['begins', 2],
      ['begins', 5],
      ['begins', 9],
      ['ready', 0],
      ['ready', 30],
    ] as const) {
      const { mark, folder } = marked('');
      const maker = spawn(process.execPath, [helper, folder, mark], { stdio: ['ignore', 'pipe', 'inherit'] });
      const heard = new Promise<void>((resolve) => {
        let text = '';
        maker.stdout.on('data', (chunk) => {
          text += String(chunk);
          if (text.includes(word)) resolve();
        });
      });
      await heard;
      await delay(pause);
      const gone = once(maker, 'exit');
      maker.kill('SIGKILL');
      expect(await gone).toEqual([null, 'SIGKILL']);
      expect(await goneWithin(mark, 5000)).toEqual([]);
      expect(existsSync(join(folder, 'ran'))).toBe(false);
    }
  }, 30_000);
});
