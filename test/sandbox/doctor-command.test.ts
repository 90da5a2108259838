import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Check, nodeVersion } from '../../src/cli/doctor-checks.ts';

const bin = new URL('../../bin/writ.js', import.meta.url).pathname;
const project = mkdtempSync(join(tmpdir(), 'writ-doctor-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));

function doctor(...args: readonly string[]): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [bin, 'doctor', ...args], { cwd: project }, (error, stdout) =>
      resolve({ code: error ? Number(error.code) : 0, stdout }),
    );
  });
}

async function checks(...args: readonly string[]) {
  const { code, stdout } = await doctor('--json', ...args);
  const report = JSON.parse(stdout) as { ok: boolean; checks: readonly Check[] };
  const named = (name: string) => report.checks.find((check) => check.name === name);
  return { code, report, named };
}

describe('writ doctor', () => {
  it('[SBX-29] says of each part whether it is there, why it matters and what mends it', async () => {
    const { code, report, named } = await checks();
    expect(report.checks.map((check) => check.name)).toEqual([
      'node',
      'bubblewrap',
      'prlimit',
      'mkfifo',
      'git',
      'tshark',
      'chromium',
      'az',
      'opa',
      'terraform',
      'state folder',
      'keys',
    ]);
    for (const check of report.checks) {
      expect(check.why).not.toBe('');
      expect(['ok', 'missing', 'optional']).toContain(check.state);
      expect(check.mend === '').toBe(check.state === 'ok');
    }
    expect(named('node')).toMatchObject({ state: 'ok', found: process.versions.node });
    expect(code).toBe(report.ok ? 0 : 1);
  });

  it('changes nothing', async () => {
    await doctor();
    expect(existsSync(join(project, '.writ'))).toBe(false);
  });

  it('[SBX-29] a state folder that others can write, or that is a file, exits 1 with the command that mends it', async () => {
    const state = join(project, 'state');
    mkdirSync(join(state, 'keys'), { recursive: true, mode: 0o700 });
    chmodSync(state, 0o777);
    const open = await checks('--state-dir', state);
    expect([open.code, open.report.ok]).toEqual([1, false]);
    expect(open.named('state folder')).toMatchObject({
      state: 'missing',
      mend: expect.stringContaining('chmod'),
    });
    chmodSync(state, 0o700);
    expect((await checks('--state-dir', state)).named('state folder')).toMatchObject({ state: 'ok' });
    writeFileSync(join(state, 'file'), '');
    expect((await checks('--state-dir', join(state, 'file'))).code).toBe(1);
  });

  it('an old Node is named as what is missing', () => {
    expect(nodeVersion('20.20.0')).toMatchObject({ state: 'missing', mend: 'npm ci' });
    expect(nodeVersion('24.0.0').state).toBe('ok');
  });

  it('tells people the same', async () => {
    const { stdout } = await doctor();
    expect(stdout).toMatch(/^ok {7}node/m);
    expect((await doctor('--help')).stdout).toContain('Example');
  });
});
