import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type PreparedLab,
  prepareLab,
  readLeftovers,
  worldFile,
  writeTroubles,
} from '../../src/lab/index.ts';
import { atTerminal } from './at-terminal.ts';
import { testAz } from './lab-az.ts';
import { WORLD } from './on-lab.ts';

const WRIT = new URL('../../bin/writ.js', import.meta.url).pathname;
const STORAGE = ['-g', 'rg-freight', '--storage-account', 'freightcaps'];

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let cwd: string;
let lab: PreparedLab;
let inLab: Record<string, string | undefined>;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'writ-tasks-'));
  lab = await prepareLab(worldFile(WORLD), join(cwd, 'lab'), { speed: 600 });
  inLab = { ...process.env, WRIT_LAB_DIR: lab.dir };
});

function writ(
  argv: readonly string[],
  env: Record<string, string | undefined> = inLab,
  at = cwd,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [WRIT, 'tasks', ...argv],
      { cwd: at, env },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

const typed = (argv: readonly string[], answer: (question: string) => 'a' | 'd' = () => 'a') =>
  atTerminal(['tasks', ...argv], { cwd, env: inLab }, answer);
const lastTask = async () =>
  JSON.parse((await writ(['list', '--json'])).stdout).tasks.at(-1) as { task_id: string };

describe('writ tasks', () => {
  it('[CLOUD-90] outside a lab: says what could not be looked at, refuses unknown ids, leaves nothing for a look', async () => {
    const away = mkdtempSync(join(tmpdir(), 'writ-tasks-none-'));
    const nowhere = { ...inLab, WRIT_LAB_DIR: undefined, PATH: '/usr/bin:/bin' };
    const [show, check, orphans] = [
      await writ(['show', 'ghost_nope'], nowhere, away),
      await writ(['check', 'ghost_nope', '--json'], nowhere, away),
      await writ(['orphans', '--json'], nowhere, away),
    ];
    expect([show.code, show.stdout]).toEqual([2, '']);
    expect(show.stderr).toContain('no task ghost_nope; writ tasks list shows what there is');
    expect([check.code, JSON.parse(check.stdout).error]).toEqual([2, 'unknown_task']);
    expect(orphans.code).toBe(1);
    expect(JSON.parse(orphans.stdout).problems).toEqual([expect.stringContaining('Azure was not scanned')]);
    expect(readdirSync(join(away, 'audit')).filter((name) => name.startsWith('orchestrator'))).toEqual([]);
  });

  it('[CLOUD-90] usage: help has an example for every command, wrong words are exit 2', async () => {
    for (const name of ['list', 'show', 'check', 'cancel', 'cleanup', 'orphans', 'capture'])
      expect((await writ([name, '--help'])).stdout).toContain(`Example:\n  writ tasks ${name}`);
    const bad = [
      ['capture', 'fb-web-01', '--storage-account', 'freightcaps'],
      ['capture', '-g', 'rg', '--storage-account', 'freightcaps', '--', '-vm'],
      ['capture', 'vm;id', ...STORAGE],
      ['capture', 'vm', ...STORAGE, '--duration', 'soon'],
      ['check', 'x', '--approve', 'yes'],
    ];
    for (const argv of bad) expect([argv, (await writ(argv)).code]).toEqual([argv, 2]);
  });

  it('[CLOUD-90] without a terminal a capture is denied: exit 3, one JSON document, nothing created', async () => {
    const ran = await writ(['capture', 'fb-web-01', ...STORAGE, '--json']);
    expect([ran.code, JSON.parse(ran.stdout).status]).toEqual([3, 'task_cancelled']);
    expect(readLeftovers(lab.dir)).toEqual({ captures: 0, blobs: 0 });
  });

  it('[CLOUD-91] at a terminal: capture, check with progress in one line, cleanup half denied, orphans --clean', async () => {
    const started = await typed(['capture', 'fb-web-01', ...STORAGE, '--duration', '300']);
    expect(started.code).toBe(0);
    const { task_id: id } = await lastTask();
    expect(started.screen).toContain(`Run writ tasks check ${id} to go on`);

    writeTroubles(lab.dir, [{ kind: 'capture_stuck', on: '', times: 1 }]);
    const checked = await typed(['check', id, '--wait']);
    expect(checked.screen).toMatch(/\r\u001b\[2K.*poll 1 of 20, next in 5 s/);
    expect(checked.screen).toContain(`Read it, then run writ tasks cleanup ${id}`);
    expect(checked.code).toBe(0);

    const half = await typed(['cleanup', id], (question) => (question.includes('blob delete') ? 'd' : 'a'));
    expect(half.code).toBe(3);
    expect(half.screen).toMatch(/was not deleted \(denied: not today\)/);
    const found = await writ(['orphans', '--json']);
    expect(JSON.parse(found.stdout).orphans.partially_cleaned).toMatchObject([{ task_id: id }]);

    testAz(
      lab,
      'network watcher packet-capture create -g rg-freight --vm fb-web-01 -n ghost_lost --storage-account freightcaps --file-path /x',
    );
    const refused = await typed(['orphans', '--clean'], () => 'd');
    expect(refused.code).toBe(1);
    expect(refused.screen).toContain('still there: ghost_lost (denied: not today)');
    const cleaned = await typed(['orphans', '--clean']);
    expect([cleaned.code, cleaned.screen.includes('2 removed')]).toEqual([0, true]);
    const shown = JSON.parse((await writ(['show', id, '--json'])).stdout);
    expect([shown.state, shown.cleanup_status]).toEqual(['DONE', 'completed']);
    expect((await writ(['orphans'])).stdout).toContain('Nothing was left behind.');
  }, 60_000);

  it('[CLOUD-91] a task cancelled while it runs; progress without a terminal is a line for each poll', async () => {
    await typed(['capture', 'fb-web-01', ...STORAGE, '--duration', '300']);
    const { task_id: id } = await lastTask();
    writeTroubles(lab.dir, [{ kind: 'capture_stuck', on: '', times: null }]);
    const piped = await writ(['check', id, '--json']);
    writeTroubles(lab.dir, []);
    expect(piped.stderr.trim().split('\n')).toEqual(
      [1, 2, 3].map((n) => expect.stringContaining(`poll ${n} of 20`)),
    );
    expect(JSON.parse(piped.stdout)).toMatchObject({ status: 'task_pending', poll_count: 4 });
    const cancelled = await typed(['cancel', id, '--reason', 'enough seen']);
    expect(cancelled.screen).toContain('enough seen. What it created was cleaned up.');
    expect(cancelled.code).toBe(0);
  }, 60_000);

  it('[CLOUD-46] corrupt lines and another version are named with file and line, by list and show alike', async () => {
    const audit = join(cwd, 'damaged');
    mkdirSync(audit, { mode: 0o700 });
    writeFileSync(join(audit, 'orchestrator_tasks_old.jsonl'), 'not json\n');
    const listed = await writ(['list', '--audit-dir', audit, '--no-azure-scan']);
    expect([listed.code, listed.stderr]).toEqual([
      0,
      expect.stringContaining('orchestrator_tasks_old.jsonl:1: '),
    ]);
    const shown = await writ(['show', 'ghost_x', '--audit-dir', audit]);
    expect([shown.code, shown.stderr]).toEqual([
      2,
      expect.stringContaining('orchestrator_tasks_old.jsonl:1: '),
    ]);
    expect(existsSync(join(audit, 'orchestrator_tasks_old.jsonl'))).toBe(true);
  });
});
