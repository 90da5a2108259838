import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureStateDir, openDatabase, openWalFlush } from '../../src/ledger/index.ts';

const rooms = { room: 'test', steps: ['CREATE TABLE t (x INTEGER) STRICT'] };
let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'writ-wal-'));
  ensureStateDir(join(dir, 'state'));
  path = join(dir, 'state', 'writ.db');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('flushing the write-ahead log', () => {
  it('serves everyone who asked, also on a database that was made before', async () => {
    openDatabase(path, rooms).close();
    const db = openDatabase(path, rooms, { synchronous: 'NORMAL' });
    const wal = openWalFlush(path);
    const insert = db.prepare('INSERT INTO t VALUES (?)');
    const done: number[] = [];
    const commit = async (i: number) => {
      insert.run(i);
      await wal.flushed();
      done.push(i);
    };
    await Promise.all(Array.from({ length: 50 }, (_, i) => commit(i)));
    await commit(50);
    expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 51 }, (_, i) => i));
    wal.close();
    db.close();
  });

  it('after a flush that failed nothing is called durable any more', async () => {
    const db = openDatabase(path, rooms, { synchronous: 'NORMAL' });
    const wal = openWalFlush(path);
    const first = wal.flushed();
    // The file is taken away from under it: the flush that is on its way fails.
    wal.close();
    await expect(first).rejects.toThrow(/EBADF/);
    await expect(wal.flushed()).rejects.toThrow(/EBADF/);
    db.close();
  });
});
