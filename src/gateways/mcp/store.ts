import type { Clock } from '../../core/index.ts';
import { openDatabase, type RoomMigrations } from '../../ledger/index.ts';
import { type Held, heldIn } from './held.ts';
import { type Pins, pinsIn } from './pins.ts';

/** What the gateway remembers from one run to the next. */
export interface Store {
  readonly pins: Pins;
  readonly held: Held;
  close(): void;
}

export type Database = ReturnType<typeof openDatabase>;

const MIGRATIONS: RoomMigrations = {
  room: 'gateways.mcp',
  steps: [
    `CREATE TABLE mcp_pins (server TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, pinned_at TEXT NOT NULL,
       PRIMARY KEY (server, tool)) STRICT;
     CREATE TABLE mcp_servers (server TEXT PRIMARY KEY, seen_at TEXT NOT NULL) STRICT;`,
    `CREATE TABLE mcp_held (caller TEXT NOT NULL, call_digest TEXT NOT NULL, result TEXT NOT NULL,
       approval_id TEXT NOT NULL, until_ms INTEGER NOT NULL, PRIMARY KEY (caller, call_digest)) STRICT;`,
  ],
};

export function openStore(path: string, clock: Clock): Store {
  const db = openDatabase(path, MIGRATIONS);
  return { pins: pinsIn(db, clock), held: heldIn(db, clock), close: () => db.close() };
}
