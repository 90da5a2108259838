import { spawnSync } from 'node:child_process';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { CODES, WritError } from '../../src/core/index.ts';
import { databaseError, openDatabase, transaction } from '../../src/ledger/index.ts';
import { tempDir } from './helpers.ts';

const v1 = 'CREATE TABLE runs_run (id TEXT PRIMARY KEY) STRICT';
const v2 = 'ALTER TABLE runs_run ADD COLUMN note TEXT';
const runs = { room: 'runs', steps: [v1, v2] };
const approvals = {
  room: 'approvals',
  steps: ['CREATE TABLE approvals_request (id TEXT PRIMARY KEY, run TEXT REFERENCES runs_run(id)) STRICT'],
};
const refused = (work: () => unknown): WritError => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(WritError);
    return error as WritError;
  }
  return expect.unreachable('it was not refused');
};

describe('a database', () => {
  it('[LED-40] is 0600, WAL, flushed at each commit, with foreign keys, shared by rooms', () => {
    const path = join(tempDir(), 'writ.db');
    const db = openDatabase(path, [runs, approvals]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(db.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    expect(db.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
    expect(() => db.exec("INSERT INTO approvals_request VALUES ('a', 'nobody')")).toThrow(/FOREIGN KEY/);
    expect(db.prepare('SELECT room, version FROM schema_migrations ORDER BY 1, 2').all()).toEqual([
      { room: 'approvals', version: 1 },
      { room: 'runs', version: 1 },
      { room: 'runs', version: 2 },
    ]);
    db.close();
    const normal = openDatabase(path, runs, { synchronous: 'NORMAL' });
    expect(normal.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 1 });
    normal.close();
    for (const suffix of ['-wal', '-shm']) {
      const found = statSync(path + suffix, { throwIfNoEntry: false });
      if (found) expect(found.mode & 0o077).toBe(0);
    }
  });

  it('[LED-40] migrates step by step; a step that fails leaves nothing half-done', () => {
    const path = join(tempDir(), 'writ.db');
    openDatabase(path, { room: 'runs', steps: [v1] }).close();
    refused(() =>
      openDatabase(path, { room: 'runs', steps: [v1, v2, 'CREATE TABLE x (a); CREATE NONSENSE'] }),
    );
    const db = openDatabase(path, { room: 'runs', steps: [v1] });
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'x'").get()).toBeUndefined();
    db.close();
    const now = openDatabase(path, runs);
    now.exec("INSERT INTO runs_run VALUES ('r1', 'note')");
    now.close();
  });

  it('[LED-40] a newer version than ours is refused, for writing and for reading', () => {
    const path = join(tempDir(), 'writ.db');
    openDatabase(path, runs).close();
    for (const readonly of [false, true]) {
      const error = refused(() => openDatabase(path, { room: 'runs', steps: [v1] }, { readonly }));
      expect(error.code).toBe(CODES.storage_newer);
      expect(error.suggestion).toBeTruthy();
    }
  });

  it('[LED-40] opens read-only, and says so when there is nothing to read', () => {
    const path = join(tempDir(), 'writ.db');
    expect(refused(() => openDatabase(path, runs, { readonly: true })).message).toContain('no such database');
    openDatabase(path, runs).close();
    const db = openDatabase(path, runs, { readonly: true });
    expect(() => db.exec("INSERT INTO runs_run (id) VALUES ('r')")).toThrow(/readonly/);
    db.close();
    const later = { room: 'runs', steps: [v1, v2, 'SELECT 1', 'SELECT 2'] };
    refused(() => openDatabase(path, later, { readonly: true }));
    // What readers understand as it is need not be brought up to date first.
    openDatabase(path, { ...later, readsFrom: 2 }, { readonly: true }).close();
    refused(() => openDatabase(path, { ...later, readsFrom: 3 }, { readonly: true }));
  });

  it('[LED-41] says what is wrong with a file that is no database, open to others, or locked', () => {
    const dir = tempDir();
    const garbage = join(dir, 'garbage.db');
    writeFileSync(garbage, 'this is not a database, it only looks long enough '.repeat(50), { mode: 0o600 });
    expect(refused(() => openDatabase(garbage, runs))).toMatchObject({
      code: CODES.integrity_broken,
      exit: 5,
    });
    const path = join(dir, 'writ.db');
    openDatabase(path, runs).close();
    chmodSync(path, 0o644);
    expect(refused(() => openDatabase(path, runs)).suggestion).toBe(`chmod 600 ${path}`);
    chmodSync(path, 0o600);
    const holder = openDatabase(path, runs);
    holder.exec('BEGIN IMMEDIATE');
    const other = openDatabase(path, runs, { busyTimeoutMs: 1 });
    try {
      other.exec('BEGIN IMMEDIATE');
    } catch (error) {
      expect(databaseError(path, error)).toMatchObject({ code: CODES.storage_locked });
    }
    expect(other.isTransaction).toBe(false);
    other.close();
    holder.close();
  });

  it('[LED-41] a full disk is a coded error', () => {
    const path = join(tempDir(), 'writ.db');
    const db = openDatabase(path, runs);
    db.exec('PRAGMA max_page_count = 8');
    const fill = () =>
      transaction(db, () => {
        for (let i = 0; i < 1000; i++)
          db.prepare('INSERT INTO runs_run VALUES (?, ?)').run(`r${i}`, 'x'.repeat(500));
      });
    try {
      fill();
      expect.unreachable();
    } catch (error) {
      expect(databaseError(path, error)).toMatchObject({
        code: CODES.storage_failed,
        message: expect.stringContaining('full'),
      });
    }
    expect(db.prepare('SELECT count(*) AS n FROM runs_run').get()).toEqual({ n: 0 });
    db.close();
  });

  it('[LED-40] two processes that open a new database at once both find it migrated', () => {
    const path = join(tempDir(), 'writ.db');
    const program = `
      import { openDatabase } from ${JSON.stringify(new URL('../../src/ledger/index.ts', import.meta.url).href)};
      openDatabase(process.argv[1], ${JSON.stringify(runs)}).close();`;
    const command = `for i in 1 2 3 4; do "$0" --input-type=module -e "$1" "$2" & done; wait`;
    const { stderr } = spawnSync('sh', ['-c', command, process.execPath, program, path], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const db = new DatabaseSync(path);
    expect(db.prepare('SELECT count(*) AS n FROM schema_migrations').get()).toEqual({ n: 2 });
    db.close();
  });
});
