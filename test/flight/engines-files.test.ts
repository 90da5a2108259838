import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asText, unified } from '../../src/flight/engines/diff.ts';
import { bench } from './engine-kit.ts';

const BINARY = Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff, 0xfe, 1]);

describe('the engine files, when it plans', () => {
  it.each([
    ['a path outside', { create: '../x', content: 'x' }, 'outside the workspace'],
    ['an absolute path', { create: '/etc/x', content: 'x' }, 'outside the workspace'],
    ['a path that leaves by the back door', { create: 'a/../../x', content: 'x' }, 'outside the workspace'],
    ['the workspace itself', { delete: '.' }, 'outside the workspace'],
    ['a folder reached through a symlink', { create: 'out/x', content: 'x' }, 'goes through a symlink'],
    ['a symlink in the file’s place', { create: 'link.txt', content: 'x' }, 'not a plain file'],
    ['a folder in the file’s place', { delete: 'folder' }, 'not a plain file'],
    ['a patch of bytes that are no text', { patch: 'tool', find: 'E', replace: 'x' }, 'is not text'],
    ['a patch that fits twice', { patch: 'a.txt', find: 'o', replace: '0' }, 'not there exactly once'],
    ['a patch that fits nowhere', { patch: 'a.txt', find: 'zebra', replace: '0' }, 'not there exactly once'],
    ['a patch that changes nothing', { patch: 'a.txt', find: 'one', replace: 'one' }, 'are the same'],
    ['an empty patch', { patch: 'a.txt', find: '', replace: 'x' }, 'find is not a text'],
    ['a patch without its other half', { patch: 'a.txt', find: 'one' }, 'replace is not a text'],
    ['a deletion of nothing', { delete: 'gone.txt' }, 'does not exist'],
    ['two wishes in one', { create: 'x', content: 'x', delete: 'x' }, 'write one of'],
    ['a wish nobody knows', { create: 'x', content: 'x', owner: 'root' }, 'there is no owner'],
    ['a file without content', { create: 'x' }, 'write content'],
    ['content that is not base64', { create: 'x', content_base64: '%%%' }, 'write content'],
    ['no change at all', undefined, 'is not a list'],
  ])('[FLT-E8] %s is a mistake of the configuration', (_, change, reason) => {
    const at = bench({ 'a.txt': 'one\ntwo\n', tool: BINARY });
    mkdirSync(join(at.workspace, 'folder'));
    symlinkSync('/tmp', join(at.workspace, 'out'));
    symlinkSync('/etc/passwd', join(at.workspace, 'link.txt'));
    const { code, receipt } = at.run('files', { changes: change === undefined ? [] : [change] });
    expect({ code, status: receipt.status }).toEqual({ code: 2, status: 'failure' });
    expect(receipt.error).toContain(reason);
  });

  it('the same path twice is a mistake, however it is spelt', () => {
    const changes = [
      { create: 'a.txt', content: '1' },
      { create: './b/../a.txt', content: '2' },
    ];
    expect(bench().run('files', { changes }).receipt.error).toContain('named twice');
  });

  it('a file larger than the bound is refused, not read', () => {
    const at = bench();
    writeFileSync(join(at.workspace, 'big'), '');
    // Sparse: large in size, nothing on disk.
    truncateSync(join(at.workspace, 'big'), 65 * 1024 * 1024);
    expect(at.run('files', { changes: [{ delete: 'big' }] }).receipt.error).toContain('larger than');
  });

  it('[FLT-E5] two plans of the same workspace are the same to the byte', () => {
    const at = bench({ 'a.txt': 'one\n' });
    const config = { changes: [{ patch: 'a.txt', find: 'one', replace: 'two' }] };
    const first = at.run('files', config).receipt;
    expect(at.run('files', config).receipt).toEqual(first);
  });
});

describe('the engine files, when it takes off', () => {
  it('[FLT-F20][FLT-E9] carries bytes that are no text, keeps modes, and writes only over what it planned for', () => {
    const at = bench({ 'run.sh': '#!/bin/sh\necho old\n', tool: BINARY });
    chmodSync(join(at.workspace, 'run.sh'), 0o755);
    const changes = [
      { patch: 'run.sh', find: 'old', replace: 'new' },
      { create: 'bin/copy', content_base64: Buffer.from(BINARY).toString('base64'), executable: true },
      { delete: 'tool' },
    ];
    expect(at.run('files', { changes }).code).toBe(0);
    expect(at.run('files', { changes }, 'take-off').receipt.status).toBe('success');
    expect(statSync(join(at.workspace, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(statSync(join(at.workspace, 'bin/copy')).mode & 0o777).toBe(0o755);
    expect([...readFileSync(join(at.workspace, 'bin/copy'))]).toEqual([...BINARY]);
    expect(existsSync(join(at.workspace, 'tool'))).toBe(false);
    const diff = readFileSync(join(at.artifacts, 'diff/body.data'), 'utf8');
    expect(diff).toContain('Binary content: 8 bytes before, 0 bytes after');
  });

  it('what was done is undone when a later change fails, folders included', () => {
    const at = bench({ 'a.txt': 'one\n', 'b.txt': 'two\n', 'z.txt': 'three\n' });
    const changes = [
      { patch: 'a.txt', find: 'one', replace: 'ONE' },
      { create: 'new/deep/c.txt', content: 'c' },
      { delete: 'b.txt' },
      { patch: 'z.txt', find: 'three', replace: '3' },
    ];
    expect(at.run('files', { changes }).code).toBe(0);
    // Something lies where the last change would put its new file.
    writeFileSync(join(at.workspace, 'z.txt.writ-new'), 'somebody’s');
    const { code, receipt } = at.run('files', { changes }, 'take-off');
    expect({ code, status: receipt.status }).toEqual({ code: 1, status: 'failure' });
    expect(receipt.error).toContain('what was done has been undone');
    expect(readFileSync(join(at.workspace, 'a.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(at.workspace, 'b.txt'), 'utf8')).toBe('two\n');
    expect(existsSync(join(at.workspace, 'new'))).toBe(false);
    expect(readFileSync(join(at.workspace, 'z.txt.writ-new'), 'utf8')).toBe('somebody’s');
  });

  it('a file that changed after the plan stops everything before anything', () => {
    const at = bench({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    const changes = [{ delete: 'a.txt' }, { patch: 'b.txt', find: 'two', replace: '2' }];
    expect(at.run('files', { changes }).code).toBe(0);
    writeFileSync(join(at.workspace, 'b.txt'), 'two!\n');
    expect(at.run('files', { changes }, 'take-off').receipt.error).toContain(
      'b.txt is not as it was planned',
    );
    expect(existsSync(join(at.workspace, 'a.txt'))).toBe(true);
  });
});

describe('the diff shown as evidence', () => {
  it('has every line that goes and every line that comes, and says when a last newline is missing', () => {
    expect(unified('f', Buffer.from('a\nb'), Buffer.from('a\nb\n'))).toBe(
      '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n',
    );
    expect(asText(Buffer.from(BINARY))).toBeNull();
  });

  it('taken as a patch it makes the new file out of the old one', () => {
    const line = fc.constantFrom('a', 'b', 'c', '');
    const text = fc.array(line, { maxLength: 12 }).map((all) => all.map((l) => `${l}\n`).join(''));
    fc.assert(
      fc.property(text, text, (old, now) => {
        const diff = unified('f', Buffer.from(old), Buffer.from(now));
        expect(applied(old, diff)).toBe(now);
      }),
      { numRuns: 300 },
    );
  });
});

/** A patch of one hunk, applied the simple way. */
function applied(old: string, diff: string): string {
  if (diff === '') return old;
  const [, , head = '', ...hunk] = diff.replace(/\n$/, '').split('\n');
  const [, from = '0', length = '0'] = /^@@ -(\d+),(\d+) /.exec(head) ?? [];
  const lines = old === '' ? [] : old.replace(/\n$/, '').split('\n');
  const start = Math.max(0, Number(from) - 1);
  const kept = hunk.filter((l) => !l.startsWith('-')).map((l) => l.slice(1));
  const all = [...lines.slice(0, start), ...kept, ...lines.slice(start + Number(length))];
  return all.map((l) => `${l}\n`).join('');
}
