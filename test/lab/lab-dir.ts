import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { type Answer, runAz } from '../../src/lab/az/run.ts';
import { firstState, writeState } from '../../src/lab/lab/state.ts';
import { loadWorld } from '../../src/lab/world/load.ts';
import type { World } from '../../src/lab/world/types.ts';

export const SHOP = fileURLToPath(new URL('./fixtures/shop.yaml', import.meta.url));

/** A lab directory without launchers, and time that stands still unless a test moves it. */
export interface TestLab {
  readonly dir: string;
  /** Real milliseconds since the lab began. */
  elapsed: number;
  az(...argv: string[]): Promise<Answer>;
  /** stdout as JSON; fails the test when the call failed. */
  json<T = Json>(...argv: string[]): Promise<T>;
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone when the tests are. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'writ-lab-test-'));
  folders.push(folder);
  return folder;
}

const BEGAN = 1_800_000_000_000;

export function testLab(source: string | World = SHOP, speed = 1): TestLab {
  const world = typeof source === 'string' ? loadWorld(source) : source;
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'world.json'), JSON.stringify(world));
  writeState(dir, firstState(world, BEGAN, speed));
  const lab: TestLab = {
    dir,
    elapsed: 0,
    az: (...argv) => runAz(argv, { dir, cwd: dir, env: {}, realMs: BEGAN + lab.elapsed }),
    json: async (...argv) => {
      const answer = await lab.az(...argv);
      if (answer.code !== 0) throw new Error(`az ${argv.join(' ')}: ${answer.stderr}`);
      return JSON.parse(answer.stdout);
    },
  };
  return lab;
}
