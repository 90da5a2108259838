import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/core/index.ts';
import { workbench } from './road.ts';

const inside = workbench();
const outside = workbench();
afterAll(() => {
  inside.remove();
  outside.remove();
});

const READ = 'tools: { fs.read: { allow_paths: ["./**"], deny_paths: ["**/*.key"], max_size_bytes: 1000 } }';
const WRITE = 'tools: { fs.write: { allow_paths: ["./out/**"], max_size_bytes: 100 } }';
const read = (path: string, policy = READ) => inside.call(policy, 'fs.read', { path });
const write = (path: string, content: string, more = {}, policy = WRITE) =>
  inside.call(policy, 'fs.write', { path, content, ...more });

let secret: string;
beforeAll(async () => {
  secret = await outside.file('secret.txt', 'SECRET');
  await inside.file('a.txt', 'hello');
  await inside.file('sub/b.txt', 'below');
  await inside.file('.env', 'TOKEN');
  await inside.file('x.key', 'KEY');
});

describe('fs.read', () => {
  it('[TOOL-01] reads text, and what is not text as base64', async () => {
    expect(await read('a.txt')).toMatchObject({
      status: 'success',
      data: { content: 'hello', size_bytes: 5, encoding: 'utf-8', path: join(inside.path, 'a.txt') },
    });
    expect(await read(join(inside.path, 'sub/b.txt'))).toMatchObject({
      status: 'success',
      data: { content: 'below' },
    });
    await inside.file('bytes.bin', Buffer.from([0xff, 0xfe, 0x00]));
    expect(await read('bytes.bin')).toMatchObject({
      data: { content: '//4A', encoding: 'base64', size_bytes: 3 },
    });
    expect(await read('missing.txt')).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/^2001: .*missing\.txt cannot be read/),
    });
  });

  it('[TOOL-02] paths that climb, point elsewhere or are hidden are denied', async () => {
    const climbs = [
      '../secret',
      'sub/../../x',
      `${'../'.repeat(20)}etc/passwd`,
      `${'../'.repeat(50)}`,
      '/etc/passwd',
      '/root/.ssh/id_rsa',
      '~/.bashrc',
      '.env',
      'sub/.git/config',
      secret,
      '',
      ' ',
      'x'.repeat(1000),
      'a\0b',
      'x.key',
      '/proc/self/root/etc/passwd',
      '/dev/zero',
    ];
    for (const path of climbs) {
      const got = await read(path);
      expect([path, got.status]).toEqual([path, path === ' ' ? 'error' : 'denied']);
    }
    expect(await read('x.key')).toMatchObject({ rule: 'fs.read.deny_paths', line: 1 });
  });

  it('[TOOL-03] links are judged by where they lead', async () => {
    const link = (name: string, target: string) => {
      mkdirSync(join(inside.path, 'links'), { recursive: true });
      symlinkSync(target, join(inside.path, 'links', name));
    };
    link('out', secret);
    link('relative', `../../${outside.path.split('/').at(-1)}/secret.txt`);
    link('dangling', '/nonexistent/x');
    link('loop', 'loop');
    link('one', 'two');
    link('two', 'three');
    link('three', '/etc/passwd');
    link('folder', '/etc');
    link('good', '../a.txt');
    link('denied', '../x.key');
    for (const name of ['out', 'relative', 'dangling', 'loop', 'one', 'folder/passwd', 'denied']) {
      const got = await read(`links/${name}`);
      expect([name, got.status]).toEqual([name, 'denied']);
      expect(got.reason.length).toBeGreaterThan(5);
    }
    expect(await read('links/good')).toMatchObject({
      status: 'success',
      data: { content: 'hello', path: join(inside.path, 'a.txt') },
    });
    expect(
      await read('links/folder/passwd', 'tools: { fs.read: { allow_paths: ["./links/folder/**"] } }'),
    ).toMatchObject({ status: 'denied' });
  });

  it('[TOOL-04] hard links, devices, pipes and folders are refused', async () => {
    linkSync(secret, join(inside.path, 'hard.txt'));
    expect(await read('hard.txt')).toMatchObject({ status: 'denied', rule: 'fs.read.allow_hard_links' });
    expect(
      await read('hard.txt', 'tools: { fs.read: { allow_paths: ["./**"], allow_hard_links: true } }'),
    ).toMatchObject({ status: 'success' });
    spawnSync('mkfifo', [join(inside.path, 'pipe')]);
    const started = performance.now();
    expect(await read('pipe')).toMatchObject({ status: 'denied' });
    expect(performance.now() - started).toBeLessThan(2000);
    expect(await read('/dev/zero', 'tools: { fs.read: { allow_paths: ["/dev/**"] } }')).toMatchObject({
      status: 'denied',
    });
    expect(await read('sub')).toMatchObject({ status: 'denied' });
  });

  it('[TOOL-05] the size limit holds, and 0 means nothing', async () => {
    await inside.file('big.txt', 'x'.repeat(1001));
    expect(await read('big.txt')).toMatchObject({ status: 'denied', rule: 'fs.read.max_size_bytes' });
    await inside.file('fits.txt', 'x'.repeat(1000));
    expect(await read('fits.txt')).toMatchObject({ status: 'success' });
    await inside.file('empty.txt', '');
    expect(
      await read('empty.txt', 'tools: { fs.read: { allow_paths: ["./**"], max_size_bytes: 0 } }'),
    ).toMatchObject({ status: 'denied', rule: 'fs.read.max_size_bytes' });
    // A file of /proc says it has no bytes and has many.
    expect(
      await read('/proc/self/maps', 'tools: { fs.read: { allow_paths: ["/proc/**"], max_size_bytes: 100 } }'),
    ).toMatchObject({ status: 'denied' });
  });

  it('[TOOL-05] a file too large to be recorded is refused before a byte of it is read', async () => {
    await inside.file('huge.bin', '');
    truncateSync(join(inside.path, 'huge.bin'), 900 * 1024 * 1024);
    const policy = 'tools: { fs.read: { allow_paths: ["./**"], max_size_bytes: 1073741824 } }';
    const before = process.memoryUsage().rss;
    expect(await read('huge.bin', policy)).toMatchObject({
      status: 'error',
      error: expect.stringContaining('a record holds 134217728 at most'),
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it('[TOOL-06] arguments of the wrong type are denied, never a crash', async () => {
    for (const args of [{}, { path: 5 }, { path: null }, { path: ['a'] }, { path: 'a.txt', mode: 'x' }])
      expect(await inside.call(READ, 'fs.read', args as never)).toMatchObject({
        status: 'denied',
        rule: 'fs.read.arguments',
      });
    expect(await inside.call('tools: {}', 'fs.read', { path: 'a.txt' })).toMatchObject({
      status: 'denied',
      rule: 'tools',
    });
    expect(await inside.call(READ, 'no.tool', {})).toMatchObject({ status: 'denied', rule: 'tools' });
  });
});

describe('what is Writ’s own', () => {
  it('[TOOL-41] is neither read nor written, whatever the policy allows and however it is reached', async () => {
    const state = join(inside.path, '.writ');
    await inside.file('.writ/keys/ledger.key', 'PRIVATE');
    await inside.file('plain/state.db', 'RECORDS');
    symlinkSync(state, join(inside.path, 'alias'));
    symlinkSync('plain/state.db', join(inside.path, 'db-alias'));
    const masked = [state, join(inside.path, 'plain/state.db')];
    const all = '{ allow_paths: ["/**"], allow_hidden: true, max_size_bytes: 1000 }';
    for (const path of [
      '.writ/keys/ledger.key',
      'alias/keys/ledger.key',
      'plain/state.db',
      'db-alias',
      '.writ/new',
      '.writ',
      `/proc/self/root${state}/keys/ledger.key`,
    ]) {
      const policy = `tools: { fs.read: ${all}, fs.write: ${all} }`;
      for (const [tool, args] of [
        ['fs.read', { path }],
        ['fs.write', { path, content: 'x' }],
      ] as const)
        expect(await inside.call(policy, tool, args, { masked }), `${tool} ${path}`).toMatchObject({
          status: 'denied',
          rule: `${tool}.path`,
          reason: expect.stringContaining('no plan may touch'),
        });
    }
    expect(readFileSync(join(state, 'keys/ledger.key'), 'utf8')).toBe('PRIVATE');
    for (const path of ['/proc/self/environ', '/proc/thread-self/environ', `/proc/${process.pid}/mem`])
      expect(await inside.call(`tools: { fs.read: ${all} }`, 'fs.read', { path }), path).toMatchObject({
        status: 'denied',
      });
    // Beside it everything goes on.
    expect(
      await inside.call(`tools: { fs.read: ${all} }`, 'fs.read', { path: 'a.txt' }, { masked }),
    ).toMatchObject({ status: 'success' });
  });
});

describe('fs.write', () => {
  it('[TOOL-07] writes whole files, makes folders, keeps the mode, leaves nothing behind', async () => {
    expect(await write('out/deep/er/x.txt', 'hello')).toMatchObject({
      status: 'success',
      data: { size_bytes: 5, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(readFileSync(join(inside.path, 'out/deep/er/x.txt'), 'utf8')).toBe('hello');
    const script = await inside.file('out/run.sh', 'old');
    spawnSync('chmod', ['755', script]);
    await write('out/run.sh', 'new');
    expect(statSync(script).mode & 0o777).toBe(0o755);
    expect(readFileSync(script, 'utf8')).toBe('new');
    expect(readdirSync(join(inside.path, 'out')).filter((name) => name.startsWith('.writ'))).toEqual([]);
    expect(await write('out/none/x', 'x', { create_dirs: false })).toMatchObject({ status: 'error' });
  });

  it('[TOOL-07] a new file has the rights this process gives, and a read-only file stays as it is', async () => {
    const mask = process.umask(0o077);
    try {
      await write('out/private.txt', 'x');
      expect(statSync(join(inside.path, 'out/private.txt')).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(mask);
    }
    await inside.file('out/fixed.txt', 'as it was');
    chmodSync(join(inside.path, 'out/fixed.txt'), 0o444);
    const got = await write('out/fixed.txt', 'changed');
    // Nothing is read-only to root.
    if (process.getuid?.() === 0)
      expect(statSync(join(inside.path, 'out/fixed.txt')).mode & 0o777).toBe(0o444);
    else {
      expect(got).toMatchObject({ status: 'error', error: expect.stringContaining('is read-only') });
      expect(readFileSync(join(inside.path, 'out/fixed.txt'), 'utf8')).toBe('as it was');
    }
  });

  it('[TOOL-07] what a killed try left behind is taken away by the next, and a link in its place is not followed', async () => {
    await write('out/first.txt', 'x');
    // The workbench calls every tool as step 0 of the run "r".
    const name = `.writ-${digestOf(['r', 0]).slice(-16)}.tmp`;
    await inside.file(`out/${name}`, 'half of someth');
    expect(await write('out/first.txt', 'z')).toMatchObject({ status: 'success' });
    symlinkSync(secret, join(inside.path, 'out', name));
    expect(await write('out/first.txt', 'again')).toMatchObject({ status: 'success' });
    expect(readFileSync(secret, 'utf8')).toBe('SECRET');
    expect(readdirSync(join(inside.path, 'out')).filter((entry) => entry.startsWith('.writ-'))).toEqual([]);
    expect(readFileSync(join(inside.path, 'out/first.txt'), 'utf8')).toBe('again');
  });

  it('[TOOL-08] the limit counts the file that would be there: appending and encodings included', async () => {
    expect(await write('out/a', 'x'.repeat(101))).toMatchObject({
      status: 'denied',
      rule: 'fs.write.max_size_bytes',
    });
    expect(await write('out/a', 'x'.repeat(100))).toMatchObject({ status: 'success' });
    expect(await write('out/a', 'y', { mode: 'append' })).toMatchObject({
      status: 'denied',
      rule: 'fs.write.max_size_bytes',
    });
    expect(await write('out/b', 'x'.repeat(60), { encoding: 'utf-16le' })).toMatchObject({
      status: 'denied',
    });
    expect(await write('out/b', 'x'.repeat(50), { encoding: 'utf-16le' })).toMatchObject({
      status: 'success',
      data: { size_bytes: 100 },
    });
    expect(await write('out/c', 'é'.repeat(51))).toMatchObject({ status: 'denied' });
    await write('out/d', 'one');
    expect(await write('out/d', ' two', { mode: 'append' })).toMatchObject({ data: { size_bytes: 7 } });
    expect(readFileSync(join(inside.path, 'out/d'), 'utf8')).toBe('one two');
    expect(
      await write('out/e', 'x', {}, 'tools: { fs.write: { allow_paths: ["./out/**"], max_size_bytes: 0 } }'),
    ).toMatchObject({ status: 'denied' });
  });

  it('[TOOL-09] nothing outside is written, through no link', async () => {
    for (const path of ['x.txt', '../x.txt', '/etc/x', 'out/../x', join(outside.path, 'x')])
      expect(await write(path, 'x')).toMatchObject({ status: 'denied' });
    symlinkSync(secret, join(inside.path, 'out/link'));
    symlinkSync(outside.path, join(inside.path, 'out/folder'));
    symlinkSync(join(outside.path, 'new'), join(inside.path, 'out/dangling'));
    for (const path of ['out/link', 'out/folder/x', 'out/dangling'])
      expect(await write(path, 'x')).toMatchObject({ status: 'denied' });
    expect(readFileSync(secret, 'utf8')).toBe('SECRET');
    expect(readdirSync(outside.path)).toEqual(['secret.txt']);
    linkSync(secret, join(inside.path, 'out/hard'));
    expect(await write('out/hard', 'x')).toMatchObject({
      status: 'denied',
      rule: 'fs.write.allow_hard_links',
    });
    expect(await write('out', 'x', {}, 'tools: { fs.write: { allow_paths: ["./**"] } }')).toMatchObject({
      status: 'denied',
    });
    expect(readFileSync(secret, 'utf8')).toBe('SECRET');
  });
});

describe('races', () => {
  /** Another process that swaps a file or folder for a link and back, as fast as it can. */
  function swapper(kind: 'file' | 'folder') {
    const race = join(inside.path, `race-${kind}`);
    mkdirSync(race, { recursive: true });
    const script = `
      import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
      const [race, secret, outside, kind] = process.argv.slice(1);
      process.chdir(race);
      const end = Date.now() + 4000;
      for (let i = 0; Date.now() < end; i++) {
        if (kind === 'file') {
          writeFileSync('honest', 'HONEST'); renameSync('honest', 'target');
          symlinkSync(secret, 'evil'); renameSync('evil', 'target');
        } else {
          rmSync('dir', { recursive: true, force: true });
          mkdirSync('dir'); writeFileSync('dir/secret.txt', 'HONEST');
          renameSync('dir', 'was'); symlinkSync(outside, 'dir');
          rmSync('dir'); rmSync('was', { recursive: true, force: true });
        }
      }`;
    return spawn(process.execPath, ['--input-type=module', '-e', script, race, secret, outside.path, kind], {
      stdio: 'ignore',
    });
  }

  it('[TOOL-10] a file swapped for a link during the call never gives what lies outside', async () => {
    const process = swapper('file');
    const seen = new Set<string>();
    const end = Date.now() + 2500;
    while (Date.now() < end) {
      const got = await read('race-file/target');
      seen.add(got.status);
      expect(JSON.stringify(got.data ?? '')).not.toContain('SECRET');
    }
    process.kill('SIGKILL');
    expect(seen.has('success')).toBe(true);
    expect(seen.has('denied')).toBe(true);
  });

  it('[TOOL-11] a folder swapped for a link during the call is neither read nor written through', async () => {
    const process = swapper('folder');
    const end = Date.now() + 2500;
    while (Date.now() < end) {
      const got = await read('race-folder/dir/secret.txt');
      expect(JSON.stringify(got.data ?? '')).not.toContain('SECRET');
      await write('race-folder/dir/secret.txt', 'EVIL', {}, 'tools: { fs.write: { allow_paths: ["./**"] } }');
      await write('race-folder/dir/new.txt', 'EVIL', {}, 'tools: { fs.write: { allow_paths: ["./**"] } }');
    }
    process.kill('SIGKILL');
    expect(readFileSync(secret, 'utf8')).toBe('SECRET');
    expect(existsSync(join(outside.path, 'new.txt'))).toBe(false);
    expect(lstatSync(secret).isFile()).toBe(true);
  });

  it('a reader sees the old file or the new one, never half of one', async () => {
    const file = await inside.file('out/whole.txt', 'a'.repeat(90));
    const texts = new Set<string>();
    const writer = (async () => {
      for (let i = 0; i < 60; i++) await write('out/whole.txt', (i % 2 ? 'a' : 'b').repeat(90));
    })();
    for (let i = 0; i < 400; i++) {
      texts.add(readFileSync(file, 'utf8'));
      if (i % 10 === 0) await new Promise((done) => setImmediate(done));
    }
    await writer;
    expect([...texts].every((text) => /^(a{90}|b{90})$/.test(text))).toBe(true);
    writeFileSync(file, '');
  });
});
