import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fileError, WritError } from '../../src/core/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'writ-file-error-'));
afterAll(() => rmSync(dir, { recursive: true }));
const thrown = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return expect.unreachable('nothing was thrown');
};

describe('errors of the file system', () => {
  it('become numbered errors that say where to look', () => {
    const missing = join(dir, 'none', 'file');
    expect(fileError(thrown(() => readFileSync(missing)))).toMatchObject({
      code: 5001,
      message: expect.stringContaining('there is no such file'),
      suggestion: expect.stringContaining(join(dir, 'none')),
    });
    expect(fileError(thrown(() => openSync(dir, 'w')))).toMatchObject({ code: 5001, context: { path: dir } });
    const name = join(dir, 'x'.repeat(300));
    expect(fileError(thrown(() => openSync(name, 'w')))).toMatchObject({
      message: expect.stringContaining('too long'),
    });
  });

  it('of a full disk have no path of their own: the caller says which file it was', () => {
    const full = thrown(() => writeFileSync(openSync('/dev/full', 'w'), 'x'));
    expect(fileError(full)).toBe(full);
    expect(fileError(full, '/srv/a b/writ.db')).toMatchObject({
      code: 5001,
      message: expect.stringContaining('/srv/a b/writ.db: the disk is full'),
      suggestion: "df -h '/srv/a b'",
    });
  });

  it('are the only ones that are changed', async () => {
    const ours = new WritError(3004, 'ours');
    const refused = await new Promise((done) => connect(1, '127.0.0.1').once('error', done));
    for (const error of [ours, refused, new Error('a bug'), 'text', undefined, { code: 'ENOENT' }])
      expect(fileError(error, '/x')).toBe(error);
  });
});
