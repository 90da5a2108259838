import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { isRunning, workbench } from './bench-of-one.ts';

const bench = workbench();
afterAll(bench.remove);
const helper = new URL('./ending-runner.ts', import.meta.url).pathname;

/** Starts a program of ours with a running child, ends it in some way, and tells how both fared. */
async function ended(how: 'SIGINT' | 'SIGTERM' | 'exit' | 'throw') {
  const note = join(bench.path, how);
  const runner = spawn(process.execPath, [helper, note, how], { stdio: 'ignore' });
  const gone = new Promise<NodeJS.Signals | number | null>((resolve) =>
    runner.on('exit', (code, signal) => resolve(signal ?? code)),
  );
  for (let i = 0; i < 400 && !existsSync(note); i++) await delay(25);
  await delay(50);
  const child = Number(bench.read(how));
  const before = isRunning(child);
  if (how === 'SIGINT' || how === 'SIGTERM') runner.kill(how);
  const status = await gone;
  for (let i = 0; i < 40 && isRunning(child); i++) await delay(25);
  return { before, status, after: isRunning(child) };
}

describe('our own end', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '[SBX-09] by %s takes the children along, and we die of it',
    async (signal) => {
      expect(await ended(signal)).toEqual({ before: true, status: signal, after: false });
    },
  );

  it('[SBX-09] by exit or by an error takes the children along', async () => {
    expect(await ended('exit')).toMatchObject({ status: 7, after: false });
    expect(await ended('throw')).toMatchObject({ status: 1, after: false });
  });
});
