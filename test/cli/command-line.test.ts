import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/table.ts';

const WRIT = resolve('bin/writ.js');
const cwd = mkdtempSync(join(tmpdir(), 'writ-cli-'));
const writ = (...args: readonly string[]) =>
  spawnSync(process.execPath, [WRIT, ...args], { cwd, encoding: 'utf8', timeout: 60_000 });

describe('the command line', () => {
  it.each(COMMANDS.map((c) => c.name))('[CLI-01] writ %s --help teaches, with an example', (name) => {
    const help = writ(name, '--help');
    expect(help.status).toBe(0);
    expect(help.stdout).toContain('Usage: writ');
    const subcommands = [...help.stdout.matchAll(/^ {2}([a-z][a-z-]*)(?: \[| <|\s{2,})/gm)]
      .map((m) => m[1]!)
      .filter((n) => n !== 'help');
    const pages = [help.stdout, ...subcommands.map((sub) => writ(name, sub, '--help').stdout)];
    expect(pages.some((page) => /Examples?:/.test(page))).toBe(true);
  });

  it('[CLI-01] unknown commands and options exit 2 and say where to look', () => {
    for (const args of [['frobnicate'], ['doctor', '--frobnicate']]) {
      const run = writ(...args);
      expect([run.status, run.stderr.includes('error')]).toEqual([2, true]);
    }
  });

  it('[CLI-02] an error with --json is one JSON document on stdout', () => {
    const run = writ('investigate', 'x', '--yes', '--json');
    expect(run.status).toBe(2);
    expect(JSON.parse(run.stdout).error).toMatchObject({ code: 3004, suggestion: expect.any(String) });
    const usage = writ('show-run', '--json');
    expect([usage.status, JSON.parse(usage.stdout).error.code]).toEqual([2, 3004]);
  });

  it('[CLI-03] --version answers without loading anything else', () => {
    const run = writ('--version');
    expect(run.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.skipIf(
    spawnSync('sh', ['-c', '/usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin node --version']).status !== 0,
  )('[CLI-03] works when started by the host’s own Node, whatever its age', () => {
    const run = spawnSync(
      '/usr/bin/env',
      ['-i', 'PATH=/usr/local/bin:/usr/bin:/bin', 'HOME=/tmp', 'node', WRIT, 'completion', 'bash'],
      { cwd, encoding: 'utf8' },
    );
    expect(run.stderr).toBe('');
    expect(run.stdout).toContain('complete -F _writ writ');
  });

  it.each(['bash', 'zsh', 'fish'])('[CLI-04] completions for %s name every command', (shell) => {
    const run = writ('completion', shell);
    expect(COMMANDS.filter((c) => !run.stdout.includes(c.name)).map((c) => c.name)).toEqual([]);
  });

  it('[CLI-04] no colours without a terminal', () => {
    expect(writ('doctor').stdout).not.toContain('\u001b[');
  });
});
