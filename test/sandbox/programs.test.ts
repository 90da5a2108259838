import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { baseEnvironment, resolveProgram, SYSTEM_PATH } from '../../src/sandbox/index.ts';
import { lookUpProgram } from '../../src/sandbox/resolve-program.ts';
import { runs, workbench } from './bench-of-one.ts';

const bench = workbench();
afterAll(bench.remove);

describe('resolveProgram', () => {
  it('[SBX-16] finds a bare name on the fixed path only, whatever the caller exports', () => {
    bench.file('bin/sneaky', '#!/bin/sh\n', 0o755);
    const before = process.env.PATH;
    process.env.PATH = `${join(bench.path, 'bin')}:${before}`;
    expect(resolveProgram('sneaky')).toBeUndefined();
    expect(resolveProgram('sh')).toMatch(/^\/(usr\/)?bin\/sh$/);
    process.env.PATH = before;
    expect(resolveProgram('sneaky', join(bench.path, 'bin'))).toBe(join(bench.path, 'bin', 'sneaky'));
  });

  it('[SBX-16] paths, empty names and NULs are no bare names; relative and empty path entries are skipped', () => {
    for (const name of ['', './sh', '/bin/sh', '../bin/sh', 'a\0b', 'sub/sh'])
      expect(resolveProgram(name)).toBeUndefined();
    bench.file('local', '#!/bin/sh\n', 0o755);
    expect(lookUpProgram('local', bench.path, ':.::bin')).toMatchObject({ ok: false, exitCode: 127 });
  });

  it('skips what cannot run and takes the next; folders are resolved, names are kept', () => {
    bench.file('one/tool', 'text', 0o644);
    bench.file('two/tool', '#!/bin/sh\n', 0o755);
    mkdirSync(join(bench.path, 'zero', 'tool'), { recursive: true });
    const path = ['zero', 'one', 'two'].map((d) => join(bench.path, d)).join(':');
    expect(resolveProgram('tool', path)).toBe(join(bench.path, 'two', 'tool'));
    symlinkSync(join(bench.path, 'two'), join(bench.path, 'linked'));
    symlinkSync(join(bench.path, 'two', 'tool'), join(bench.path, 'two', 'alias'));
    expect(resolveProgram('alias', join(bench.path, 'linked'))).toBe(join(bench.path, 'two', 'alias'));
  });

  it('the caller keeps its name: argv[0] is what was written', async () => {
    const seen = await runs(['sh', '-c', 'tr "\\0" " " < /proc/$$/cmdline']);
    expect(seen.stdout.startsWith('sh -c ')).toBe(true);
  });
});

describe('baseEnvironment', () => {
  it('[SBX-02] lets through an allow list and nothing else', () => {
    const env = baseEnvironment(
      { AZURE_CONFIG_DIR: '/x' },
      {
        PATH: '/evil',
        HOME: '/home/me',
        TZ: 'UTC',
        LD_PRELOAD: '/evil.so',
        LD_LIBRARY_PATH: '/evil',
        NODE_OPTIONS: '--require /evil.js',
        BASH_ENV: '/evil',
        ENV: '/evil',
        IFS: 'x',
        PYTHONPATH: '/evil',
        GIT_SSH_COMMAND: 'evil',
        AWS_SECRET_ACCESS_KEY: 'x',
        SSH_AUTH_SOCK: '/tmp/agent',
        http_proxy: 'http://evil',
      },
    );
    expect(env).toEqual({
      PATH: SYSTEM_PATH,
      LANG: 'C.UTF-8',
      HOME: '/home/me',
      TZ: 'UTC',
      AZURE_CONFIG_DIR: '/x',
    });
  });

  it('what our own code passes wins', () => {
    expect(baseEnvironment({ PATH: '/lab/bin', LD_PRELOAD: 'x' }, {})).toMatchObject({
      PATH: '/lab/bin',
      LD_PRELOAD: 'x',
    });
  });
});
