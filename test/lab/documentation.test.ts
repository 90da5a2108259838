import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareLab, worldFile } from '../../src/lab/index.ts';
import { temporaryFolder } from './lab-dir.ts';

const page = readFileSync(new URL('../../docs/lab.md', import.meta.url), 'utf8');

describe('docs/lab.md', () => {
  it('has commands that work as they stand', async () => {
    const world = /In a lab of the world `([\w-]+)`/.exec(page)![1]!;
    const lab = await prepareLab(worldFile(world), join(temporaryFolder(), 'lab'));
    const lines = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap((m) => m[1]!.trim().split('\n'));
    expect(lines.length).toBeGreaterThan(8);
    for (const line of lines) {
      const done = spawnSync('sh', ['-c', line], {
        encoding: 'utf8',
        env: { PATH: `${lab.bin}:/usr/bin:/bin` },
      });
      expect([line, done.status, done.stderr]).toEqual([line, 0, '']);
      if (!line.includes('activity-log')) expect(done.stdout.length).toBeGreaterThan(5);
    }
  });
});
