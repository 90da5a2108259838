import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CODES, EXIT, fileError, messageOf, quoteArgv, WritError } from '../core/index.ts';
import { openForReading } from './read-database.ts';
import { checkPrivateDir } from './state-dir.ts';

/**
 * SQLite for the rooms: one file may hold the tables of several rooms, each with its own migrations.
 *
 * S1 A migration and the note that it ran are one transaction: both or neither.
 * S2 A database that holds a newer version of a room's tables than this program knows is not touched.
 */
export interface RoomMigrations {
  /** Namespace of the versions, e.g. `authority`. Rooms prefix their tables themselves. */
  readonly room: string;
  /** SQL of version 1, 2, 3 … in order. Never edit one that was released; add another. */
  readonly steps: readonly string[];
  /** The oldest version that readers understand as it is; by default only the newest. */
  readonly readsFrom?: number;
}

export interface DatabaseOptions {
  readonly readonly?: boolean;
  /** FULL (default) makes each commit durable; NORMAL may lose the last commits in a power cut. */
  readonly synchronous?: 'FULL' | 'NORMAL';
  readonly busyTimeoutMs?: number;
}

export function openDatabase(
  path: string,
  migrations: RoomMigrations | readonly RoomMigrations[],
  options: DatabaseOptions = {},
): DatabaseSync {
  const rooms = 'room' in migrations ? [migrations] : migrations;
  const { readonly = false, synchronous = 'FULL', busyTimeoutMs = 5000 } = options;
  if (readonly) checkReadable(path);
  else prepareFile(path);
  let db: DatabaseSync | undefined;
  try {
    db = readonly
      ? openForReading(path, busyTimeoutMs)
      : new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
    if (!readonly) db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
    for (const room of rooms) {
      if (readonly) checkVersion(db, path, room);
      else migrate(db, path, room);
    }
    return db;
  } catch (error) {
    db?.close();
    throw databaseError(path, error);
  }
}

/** Runs work in one transaction that takes the write lock at once, so that two writers queue up. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

const SQLITE = {
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  notadb: 26,
};

/** Errors of SQLite and of the file system as ours, by what to do about them. Others pass through. */
export function databaseError(path: string, error: unknown): unknown {
  const errcode = (error as { errcode?: unknown }).errcode;
  if (error instanceof WritError) return error;
  if (typeof errcode !== 'number') return fileError(error, path);
  const fail = (code: number, what: string, suggestion: string) =>
    new WritError(code, `${path}: ${what}`, { suggestion, context: { path }, cause: error });
  const file = quoteArgv([path]);
  switch (errcode & 0xff) {
    case SQLITE.busy:
    case SQLITE.locked:
      return fail(
        CODES.storage_locked,
        'another process is writing',
        'wait until it has finished and try again',
      );
    case SQLITE.full:
      return fail(CODES.storage_failed, 'the disk is full', `df -h ${quoteArgv([dirname(path)])}`);
    case SQLITE.readonly:
    case SQLITE.cantopen:
      return fail(CODES.storage_failed, `cannot be opened: ${messageOf(error)}`, `ls -l ${file}`);
    case SQLITE.corrupt:
    case SQLITE.notadb:
      return new WritError(
        CODES.integrity_broken,
        `${path}: not a sound SQLite database: ${messageOf(error)}`,
        {
          suggestion: `move it aside and restore a backup: mv ${file} ${quoteArgv([`${path}.broken`])}`,
          context: { path },
          exit: EXIT.integrity,
          cause: error,
        },
      );
    case SQLITE.ioerr:
      return fail(
        CODES.storage_failed,
        `the disk failed: ${messageOf(error)}`,
        'check the disk, then try again',
      );
    default:
      return fail(CODES.storage_failed, messageOf(error), 'see the message of SQLite');
  }
}

function prepareFile(path: string): void {
  checkPrivateDir(dirname(path));
  try {
    // Created by us, so that it has our mode from the first moment.
    fs.closeSync(fs.openSync(path, 'wx', 0o600));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EEXIST') throw fileError(error, path);
    checkPrivateFile(path);
  }
}

function checkReadable(path: string): void {
  const found = fs.statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw missing(path, 'there is no such database');
  if (!found.isFile()) throw unsafe(path, 'is not a plain file', `ls -ld ${quoteArgv([path])}`);
}

function checkPrivateFile(path: string): void {
  const found = fs.lstatSync(path);
  const me = process.getuid?.();
  const file = quoteArgv([path]);
  if (!found.isFile()) throw unsafe(path, 'is not a plain file', `ls -ld ${file}`);
  if (me !== undefined && found.uid !== me)
    throw unsafe(path, `belongs to user ${found.uid}`, `sudo chown ${me} ${file}`);
  if ((found.mode & 0o077) !== 0) throw unsafe(path, 'is open to other users', `chmod 600 ${file}`);
}

function unsafe(path: string, what: string, suggestion: string): WritError {
  const context = { path };
  return new WritError(CODES.unsafe_state_dir, `${path}: the database ${what}`, { suggestion, context });
}

const VERSIONS =
  'CREATE TABLE IF NOT EXISTS schema_migrations (room TEXT NOT NULL, version INTEGER NOT NULL, applied_at TEXT NOT NULL, PRIMARY KEY (room, version)) STRICT';

function migrate(db: DatabaseSync, path: string, { room, steps }: RoomMigrations): void {
  if (versionOf(db, room) === steps.length) return;
  transaction(db, () => {
    db.exec(VERSIONS);
    // Read again under the write lock: another process may have migrated meanwhile.
    const version = versionOf(db, room);
    if (version > steps.length) throw newer(path, room, version, steps.length);
    const note = db.prepare(
      "INSERT INTO schema_migrations VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
    );
    for (const [index, sql] of steps.entries()) {
      if (index < version) continue;
      db.exec(sql);
      note.run(room, index + 1);
    }
  });
}

function checkVersion(db: DatabaseSync, path: string, { room, steps, readsFrom }: RoomMigrations): void {
  const version = versionOf(db, room);
  if (version > steps.length) throw newer(path, room, version, steps.length);
  if (version === 0) throw missing(path, `there are no tables of ${room} in it`);
  if (version < (readsFrom ?? steps.length))
    throw new WritError(
      CODES.storage_failed,
      `${path}: tables of ${room} are version ${version}, ${steps.length} is needed`,
      {
        suggestion: 'run a command that writes once, so that the tables are brought up to date',
      },
    );
}

function versionOf(db: DatabaseSync, room: string): number {
  const known = db
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'")
    .get();
  if (!known) return 0;
  const row = db.prepare('SELECT MAX(version) AS version FROM schema_migrations WHERE room = ?').get(room);
  return Number(row?.version ?? 0);
}

function newer(path: string, room: string, found: number, known: number): WritError {
  return new WritError(
    CODES.storage_newer,
    `${path}: tables of ${room} are version ${found}, this program knows ${known}`,
    {
      suggestion: 'use the newer writ that made it, or another --state-dir',
      context: { path, room, found, known },
    },
  );
}

function missing(path: string, what: string): WritError {
  return new WritError(CODES.storage_failed, `${path}: ${what}`, {
    suggestion:
      'name the right file with --db or folder with --state-dir, or run something that makes it first',
    context: { path },
  });
}
