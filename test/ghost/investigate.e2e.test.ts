import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

const WRIT = resolve('bin/writ.js');
const folder = () => mkdtempSync(join(tmpdir(), 'writ-e2e-'));
const writ = (cwd: string, args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [WRIT, ...args], {
    cwd,
    encoding: 'utf8',
    timeout: 90_000,
    env: { ...process.env, NO_COLOR: '1', ...env },
  });
const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

describe('writ investigate', () => {
  it('[GHOST-50] diagnoses a lab world end to end, and its trail verifies', () => {
    const cwd = folder();
    const run = writ(cwd, [
      'investigate',
      '--lab',
      'freight-booking-queue',
      '--yes',
      '--speed',
      '600',
      '--html',
    ]);
    expect(run.stdout).toContain('UNIFIED GHOST AGENT');
    expect(run.stdout).toContain('[Shell] SAFE — auto-approved:');
    expect(run.stdout).toMatch(/RCA REPORT WRITTEN: .*ghost_rca_ghost_\d{8}_\d{6}\.md/);
    expect(run.stdout).toContain('nsg_deny: booking-nsg / tidy-legacy-ports (CONFIRMED)');
    expect(run.status).toBe(0);
    const verify = writ(cwd, ['audit', 'verify', '--json']);
    expect(JSON.parse(verify.stdout).status).toBe('intact');
    const listed = JSON.parse(writ(cwd, ['investigations', 'list', '--json']).stdout);
    expect(listed.investigations).toMatchObject([{ verdict: 'CONFIRMED', causes: [{ kind: 'nsg_deny' }] }]);
  });

  it('[GHOST-51] --yes outside the lab is refused', () => {
    const run = writ(folder(), ['investigate', 'web is down', '--yes']);
    expect(run.status).toBe(2);
    expect(run.stderr).toContain('works in the lab only');
  });

  it('[GHOST-55] a brain without its key says what to set and stops', () => {
    const cwd = folder();
    const run = writ(cwd, ['investigate', 'web is down', '--brain', 'gemini'], { GEMINI_API_KEY: '' });
    expect(run.status).toBe(1);
    expect(run.stderr).toContain('GEMINI_API_KEY');
    expect(existsSync(join(cwd, 'audit'))).toBe(false);
  });

  it('[GHOST-53] --json prints one event a line, denies what needs a person, and claims nothing it could not verify', () => {
    const cwd = folder();
    const run = writ(cwd, ['investigate', '--lab', 'tramway-timetable-api', '--json', '--speed', '600']);
    const events = run.stdout
      .trim()
      .split('\n')
      .map(
        (line) => JSON.parse(line) as { type: string; causes?: unknown[]; verdict?: string; status?: string },
      );
    expect(events[0]!.type).toBe('started');
    expect(events.some((e) => e.type === 'command' && e.status === 'denied')).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: 'report', causes: [] });
  });

  it('[GHOST-52] an interrupted session is saved, leaves no child behind, and resumes', async () => {
    const cwd = folder();
    const child = spawn(
      process.execPath,
      [WRIT, 'investigate', '--lab', 'casino-ledger-drain', '--yes', '--speed', '60'],
      { cwd, env: { ...process.env, NO_COLOR: '1' } },
    );
    let out = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    for (let i = 0; i < 300 && !out.includes('[Shell] SAFE'); i++) await wait(50);
    child.kill('SIGINT');
    const code = await new Promise((done) => child.on('exit', done));
    expect(code).toBe(1);
    expect(out).toContain('Session saved. Resume with: writ investigate --resume ghost_');
    const id = /--resume (ghost_\w+)/.exec(out)![1]!;
    const resumed = writ(cwd, [
      'investigate',
      '--resume',
      id,
      '--lab',
      'casino-ledger-drain',
      '--yes',
      '--speed',
      '600',
    ]);
    expect(resumed.stdout).toContain('route_blackhole: settle-rt / drain-ledger-chg4471 (CONFIRMED)');
    const session = JSON.parse(readFileSync(join(cwd, 'audit', `ghost_session_${id}.json`), 'utf8'));
    expect(session).toMatchObject({ is_resume: true, resumed_from: id });
  });

  it.skipIf(!has('tmux'))(
    '[GHOST-54] in a real terminal: the box blocks, a denial asks for its reason, the final box appears',
    async () => {
      const cwd = folder();
      const name = `writ-test-${process.pid}`;
      const tmux = (...args: string[]) => spawnSync('tmux', ['-L', name, ...args], { encoding: 'utf8' });
      tmux(
        'new-session',
        '-d',
        '-s',
        't',
        '-x',
        '110',
        '-y',
        '50',
        `cd ${cwd} && NO_COLOR=1 ${process.execPath} ${WRIT} investigate --lab tramway-timetable-api --speed 600; sleep 30`,
      );
      const screen = () => tmux('capture-pane', '-p', '-S', '-300', '-t', 't').stdout;
      const until = async (text: string) => {
        for (let i = 0; i < 400 && !screen().includes(text); i++) await wait(50);
        expect(screen()).toContain(text);
      };
      try {
        await until('SAFETY SHELL ALERT');
        await until('Your choice:');
        expect(screen()).toContain('CLASSIFICATION: RISKY');
        tmux('send-keys', '-t', 't', 'd', 'Enter');
        await until('Denial reason');
        tmux('send-keys', '-t', 't', 'not now', 'Enter');
        // Whatever else it asks for is refused as well, until it has nothing left to ask.
        for (let i = 0; i < 100 && !screen().includes('RCA REPORT WRITTEN'); i++) {
          if (/Your choice: *$/.test(screen().trimEnd())) tmux('send-keys', '-t', 't', 'd', 'Enter', 'Enter');
          await wait(250);
        }
        await until('RCA REPORT WRITTEN');
        expect(screen()).toContain('denied');
      } finally {
        tmux('kill-server');
      }
      const rca = readdirSync(join(cwd, 'audit')).find((f) => /^ghost_rca_.*\.json$/.test(f))!;
      expect(JSON.parse(readFileSync(join(cwd, 'audit', rca), 'utf8')).refused[0].reason).toBe('not now');
    },
    60_000,
  );
});
