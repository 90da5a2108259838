import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/index.ts';
import { project } from './project.ts';

const home = project();
afterAll(home.remove);
home.file(
  'policy.yaml',
  'tools:\n  fs.read: { allow_paths: ["./**"] }\n  fs.write: { allow_paths: ["./out/**"], require_approval: ["./out/ask/**"] }\n',
);
home.file('a.txt', 'hello');
const plan = (name: string, ...steps: readonly object[]) =>
  home.file(name, JSON.stringify({ version: '1.0', name, steps }));
const READ = { tool: 'fs.read', id: 'r', args: { path: 'a.txt' } };
plan('good.json', READ);
plan('denied.json', READ, { tool: 'fs.read', args: { path: '/etc/passwd' } }, READ2());
plan('failed.json', { tool: 'fs.read', args: { path: 'missing.txt' } });
plan('waiting.json', { tool: 'fs.write', args: { path: 'out/ask/x', content: 'x' } });
function READ2() {
  return { tool: 'fs.read', args: { path: 'a.txt' } };
}

describe('writ run', () => {
  it('[RUN-36] prints exactly the document, and the exit code says how it went', () => {
    const good = home.writ('run', 'good.json', '--policy', 'policy.yaml', '--json');
    expect(good.code).toBe(0);
    const doc = good.json();
    expect(Object.keys(doc)).toEqual([
      'run_id',
      'status',
      'total_steps',
      'completed_steps',
      'denied_steps',
      'failed_steps',
      'duration_ms',
      'steps',
    ]);
    expect(Object.keys(doc.steps[0])).toEqual([
      'index',
      'id',
      'tool',
      'status',
      'output',
      'error',
      'decision',
      'started_at',
      'ended_at',
      'input_hash',
      'output_hash',
    ]);
    expect(doc.steps[0]).toMatchObject({
      index: 0,
      id: 'r',
      tool: 'fs.read',
      status: 'success',
      error: null,
      output: { content: 'hello', size_bytes: 5, encoding: 'utf-8' },
    });
    expect(doc.run_id).toMatch(/^run_[0-9a-f]{32}$/);
    expect(good.stdout.trimEnd().split('\n')).toHaveLength(1);
    const denied = home.writ('run', 'denied.json', '-p', 'policy.yaml', '--json');
    expect([denied.code, denied.json().status, denied.json().steps[1].decision]).toMatchObject([
      3,
      'failed',
      { decision: 'deny', rule: 'fs.read.allow_paths', file: 'policy.yaml', line: 2 },
    ]);
    expect(
      home.writ('run', 'denied.json', '-p', 'policy.yaml', '--keep-going', '--json').json().completed_steps,
    ).toBe(2);
    expect(home.writ('run', 'failed.json', '-p', 'policy.yaml').code).toBe(1);
    expect(home.writ('run', 'waiting.json', '-p', 'policy.yaml').code).toBe(4);
    expect(home.writ('run', 'waiting.json', '-p', 'policy.yaml', '--approve', 'never').code).toBe(3);
  }, 60_000);

  it('[RUN-37] progress goes to stderr, the result to stdout', () => {
    const got = home.writ('run', 'denied.json', '-p', 'policy.yaml');
    expect(got.stderr).toMatch(/\[1\/3\] fs\.read \(r\) success/);
    expect(got.stderr).toMatch(/\[2\/3\] fs\.read denied {2}1001: /);
    expect(got.stdout).toMatch(/^run_\w+ {2}failed {2}1 of 3 done · 1 denied/);
  });

  it('[RUN-38] bad input stops before anything happens: number, place, suggestion, exit 2', () => {
    home.file('unknown.yaml', 'version: "1.0"\nsteps:\n  - { tool: fs.read, agrs: {} }\n');
    home.file('broken-policy.yaml', 'tools: { fs.read: { allow_paths: 5 } }\n');
    writeFileSync(join(home.path, 'huge.yaml'), `version: "1.0"\n# ${'x'.repeat(100 * 1024 * 1024)}\n`);
    home.file('latin.yaml', '');
    writeFileSync(join(home.path, 'latin.yaml'), Buffer.from([0xff, 0xfe]));
    mkdirSync(join(home.path, 'folder.yaml'));
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['run', 'unknown.yaml', '-p', 'policy.yaml'], 3001, /unknown\.yaml:3:\d+: unknown key "agrs"/],
      [['run', 'good.json', '-p', 'broken-policy.yaml'], 3002, /broken-policy\.yaml:1:\d+/],
      [['run', 'good.json'], 3002, /no policy/],
      [['run', 'good.json', '-p', 'none.yaml'], 3002, /none\.yaml/],
      [['run', 'none.json', '-p', 'policy.yaml'], 3001, /none\.json/],
      [['run', 'huge.yaml', '-p', 'policy.yaml'], 3001, /bytes/],
      [['run', 'latin.yaml', '-p', 'policy.yaml'], 3001, /UTF-8/],
      [['run', 'folder.yaml', '-p', 'policy.yaml'], 3001, /not a file/],
      [['run', '-p', 'policy.yaml'], 3004, /no plan/],
      [['run', 'good.json', '-p', 'policy.yaml', '--approve', 'maybe'], 3004, /--approve/],
      [['run', '--resume', 'run_nope'], 4002, /run_nope/],
      [['report', 'run_nope'], 4002, /run_nope/],
      [['show-run', 'run_nope'], 4002, /run_nope/],
    ];
    const before = home.writ('list-runs', '--json').json().runs.length;
    for (const [args, code, message] of cases) {
      const got = home.writ(...args, '--json');
      expect([args.join(' '), got.code]).toEqual([args.join(' '), 2]);
      expect(got.json().error).toMatchObject({
        code,
        message: expect.stringMatching(message),
        suggestion: expect.any(String),
      });
    }
    expect(home.writ('list-runs', '--json').json().runs.length).toBe(before);
    expect(home.writ('audit', 'verify', '--json').json().status).toBe('intact');
  }, 120_000);

  it('[RUN-39] --db keeps runs elsewhere, and audit verify still finds them', () => {
    mkdirSync(join(home.path, 'elsewhere'), { mode: 0o700 });
    const got = home.writ('run', 'good.json', '-p', 'policy.yaml', '--db', 'elsewhere/my.db', '--json');
    expect(got.code).toBe(0);
    expect(home.writ('list-runs', '--db', 'elsewhere/my.db', '--json').json().runs).toHaveLength(1);
    expect(home.writ('list-runs', '--db', 'elsewhere/my.db', '--verbose').stdout).toContain(
      'plan good.json (',
    );
    expect(home.writ('list-runs', '--limit', 'many').code).toBe(2);
    expect(home.writ('report', got.json().run_id, '--db', 'elsewhere/my.db').code).toBe(0);
    expect(home.writ('show-run', got.json().run_id, '--db', 'elsewhere/none.db').code).not.toBe(0);
    const verified = home.writ('audit', 'verify', '--json').json();
    expect(verified.files.map((file: { path: string }) => file.path)).toContain('elsewhere/my.db');
    expect(verified.status).toBe('intact');
  }, 60_000);

  it('every command explains itself with an example', () => {
    for (const args of [
      ['run'],
      ['replay'],
      ['report'],
      ['list-runs'],
      ['show-run'],
      ['policy', 'check'],
      ['policy', 'test'],
      ['policy', 'explain'],
      ['policy', 'diff'],
      ['tool', 'new'],
      ['tool', 'test'],
      ['tool', 'list'],
    ]) {
      const got = home.writ(...args, '--help');
      expect([args.join(' '), got.code]).toEqual([args.join(' '), 0]);
      expect(got.stdout).toMatch(/Examples?:\n {2}writ /);
      expect(got.stdout).toContain('--json');
    }
  }, 60_000);

  it('looking never makes a state folder', () => {
    const empty = project();
    expect(empty.writ('list-runs', '--json').json()).toEqual({ runs: [] });
    expect(empty.writ('report', 'x').code).not.toBe(0);
    expect(empty.writ('tool', 'list').code).toBe(0);
    expect(() => empty.read('.writ/writ.db')).toThrow();
    empty.remove();
  });

  it('[RUN-38] a database that holds only approvals has no runs: nothing is wrong with it', async () => {
    const fresh = project();
    openLedger({ stateDir: fresh.state });
    await fresh.queue().close();
    expect(fresh.writ('list-runs', '--json').json()).toEqual({ runs: [] });
    const shown = fresh.writ('show-run', 'run_x', '--json');
    expect(shown.json().error).toMatchObject({ code: 5001, suggestion: expect.stringContaining('--db') });
    fresh.remove();
  });
});
