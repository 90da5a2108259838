import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject, Writ } from '../../src/core/index.ts';
import { run, runInteractive, runPipeline, start } from '../../src/sandbox/index.ts';
import { specFor, workbench } from './bench-of-one.ts';
import { writFor, writForArgv } from './test-writ.ts';

const bench = workbench();
afterAll(bench.remove);
const file = join(bench.path, 'touched');
const argv = ['touch', file];
const doors: readonly (readonly [string, (writ: Writ) => Promise<unknown>])[] = [
  ['run', (writ) => run(writ, specFor(argv))],
  ['runPipeline', (writ) => runPipeline(writ, [specFor(argv)])],
  ['start', (writ) => start(writ, specFor(argv))],
  ['runInteractive', (writ) => runInteractive(writ, specFor(argv))],
];
const writ = (detail: JsonObject) => writFor({ kind: 'process.start', subject: 'x', detail });

describe.each(doors)('[SBX-12] %s runs nothing', (_, go) => {
  it('without a real writ', async () => {
    const real = await writForArgv(argv);
    const fakes = [
      undefined,
      null,
      {},
      { action: real.action, use: () => ({}) },
      Object.create(real),
      { ...real },
    ];
    for (const fake of fakes) await expect(go(fake as unknown as Writ)).rejects.toThrow(/no writ/);
    expect(existsSync(file)).toBe(false);
  });

  it('for another argv, another folder, or a detail that says nothing or two things', async () => {
    const details: readonly JsonObject[] = [
      { argv: ['touch', `${file}x`] },
      { argv: ['touch'] },
      { argv: [...argv, ''] },
      { argv: argv.join(' ') },
      { argv: [] },
      { argv: ['touch', 1] },
      { command: argv.join(' ') },
      {},
      { pipeline: [argv, argv] },
      { pipeline: argv },
      { pipeline: [] },
      { argv, pipeline: [argv] },
      { argv, cwd: '/' },
    ];
    for (const detail of details) {
      await expect(go(await writ(detail))).rejects.toThrow(/writ/);
      expect(existsSync(file)).toBe(false);
    }
  });

  it('a second time', async () => {
    const once = await writForArgv(argv);
    once.use(once.action);
    await expect(go(once)).rejects.toThrow(/used/);
    expect(existsSync(file)).toBe(false);
  });
});

describe('the claim', () => {
  it('[SBX-12] takes the single use before the start, also when the start fails', async () => {
    const missing = ['no-such-program-here'];
    const spent = await writForArgv(missing);
    expect((await run(spent, specFor(missing))).kind).toBe('not_started');
    await expect(run(spent, specFor(missing))).rejects.toThrow(/used/);
  });

  it('[SBX-12] two runs at once with one writ: one wins', async () => {
    const shared = await writForArgv(['true']);
    const results = await Promise.allSettled([
      run(shared, specFor(['true'])),
      run(shared, specFor(['true'])),
    ]);
    expect(results.map((r) => r.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('an argv that changes after the check does not change what runs', async () => {
    let reads = 0;
    const words = ['printf', 'safe'];
    const shifty = new Proxy(words, {
      get: (target, key, receiver) => {
        if (key === '1') reads++;
        return key === '1' && reads > 1 ? 'evil' : Reflect.get(target, key, receiver);
      },
    });
    const outcome = await run(await writForArgv(words), { ...specFor(words), argv: shifty });
    expect(outcome.kind === 'exited' && Buffer.from(outcome.output.stdout).toString()).toBe('safe');
  });

  it('accepts the folder and the one-stage pipeline it names', async () => {
    const spec = specFor(['true']);
    expect((await run(await writ({ argv: ['true'], cwd: spec.cwd }), spec)).kind).toBe('exited');
    expect((await run(await writ({ pipeline: [['true']] }), spec)).kind).toBe('exited');
  });
});
