import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHOP, temporaryFolder } from './lab-dir.ts';

function writ(...argv: string[]) {
  const done = spawnSync(process.execPath, ['bin/writ.js', 'lab', ...argv], { encoding: 'utf8' });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

describe('writ lab', () => {
  it('[LAB-24] list shows the worlds with their symptoms, never their titles', () => {
    const { code, stdout } = writ('list', '--json');
    expect(code).toBe(0);
    const { worlds } = JSON.parse(stdout) as {
      worlds: { id: string; symptom: string; problem: string | null }[];
    };
    expect(worlds.length).toBeGreaterThan(5);
    expect(worlds.filter((w) => w.problem !== null)).toEqual([]);
    expect(writ('list').stdout).toContain(worlds[0]!.id);
  });

  it('[LAB-24] [LAB-02] check says where, why and what to write', () => {
    expect(writ('check', SHOP)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok shop: 4 VMs, 2 VNets, 2 flows\n/),
    });
    const bad = join(temporaryFolder(), 'bad.yaml');
    writeFileSync(
      bad,
      'id: bad\nnow: 2026-01-15T14:30:00Z\ngroups: [{ name: rg, location: westeurope }]\nnsgs: [{ name: n, group: nope }]\n',
    );
    const refused = writ('check', bad);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/bad\.yaml:4:\d+: there is no resource group named nope/);
    expect(refused.stderr).toContain('try: write the name of a resource group of this world (there is rg)');
    expect(JSON.parse(writ('check', bad, '--json').stdout)).toHaveProperty('error.message');
    expect(writ('check', 'no-such-file.yaml').code).toBe(2);
  });

  it('[LAB-24] up prepares a lab and says how to use it', () => {
    const dir = join(temporaryFolder(), 'lab');
    const { code, stdout } = writ('up', SHOP, '--dir', dir, '--speed', '60', '--json');
    expect(code).toBe(0);
    const made = JSON.parse(stdout);
    expect(made).toMatchObject({ world: 'shop', dir, speed: 60, bin: join(dir, 'bin') });
    expect(existsSync(join(dir, 'bin', 'az'))).toBe(true);
    const shell = spawnSync(
      'sh',
      ['-c', `${writ('up', SHOP, '--dir', dir, '--print-env').stdout}az vm list --query "length(@)"`],
      { encoding: 'utf8' },
    );
    expect(shell.stdout).toBe('4\n');
    expect(writ('up', 'no-such-world')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('writ lab list'),
    });
    expect(writ('up', SHOP, '--dir', dir).stderr).toContain('--print-env');
  });
});
