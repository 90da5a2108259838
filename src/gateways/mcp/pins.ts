import { type Clock, type Digest, digestOf, isJsonObject, type Json } from '../../core/index.ts';
import { openDatabase, type RoomMigrations, transaction } from '../../ledger/index.ts';

/**
 * What tools said they were when they were first seen.
 *
 * N1 The first listing of a server is taken as it is; from then on a tool that changed its description or
 *    schema, or that is new (a rename), needs a person before it is called.
 * N2 A person's yes to a call re-pins the tool as it was shown with that call, nothing else.
 */
export interface Pins {
  /** Takes a listing; pins it when the server was never seen before. */
  seen(server: string, tools: readonly ToolPin[]): void;
  standing(server: string, tool: ToolPin): 'pinned' | 'changed' | 'new';
  accept(server: string, tool: ToolPin): void;
  close(): void;
}

export interface ToolPin {
  readonly name: string;
  readonly digest: Digest;
}

const MIGRATIONS: RoomMigrations = {
  room: 'gateways.mcp',
  steps: [
    `CREATE TABLE mcp_pins (server TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, pinned_at TEXT NOT NULL,
       PRIMARY KEY (server, tool)) STRICT;
     CREATE TABLE mcp_servers (server TEXT PRIMARY KEY, seen_at TEXT NOT NULL) STRICT;`,
  ],
};

export function openPins(path: string, clock: Clock): Pins {
  const db = openDatabase(path, MIGRATIONS);
  const put = db.prepare('INSERT OR REPLACE INTO mcp_pins VALUES (?, ?, ?, ?)');
  const get = db.prepare('SELECT digest FROM mcp_pins WHERE server = ? AND tool = ?');
  const first = db.prepare('INSERT OR IGNORE INTO mcp_servers VALUES (?, ?)');
  const now = () => clock.now().toISOString();
  return {
    seen: (server, tools) =>
      transaction(db, () => {
        if (Number(first.run(server, now()).changes) === 0) return;
        for (const tool of tools) put.run(server, tool.name, tool.digest, now());
      }),
    standing: (server, tool) => {
      const row = get.get(server, tool.name);
      if (row === undefined) return 'new';
      return row.digest === tool.digest ? 'pinned' : 'changed';
    },
    accept: (server, tool) => void put.run(server, tool.name, tool.digest, now()),
    close: () => db.close(),
  };
}

/** Everything of a tool that a model or a person goes by. */
export function pinOf(tool: Json): ToolPin | undefined {
  if (!isJsonObject(tool) || typeof tool.name !== 'string') return undefined;
  const {
    name,
    title = null,
    description = null,
    inputSchema = null,
    outputSchema = null,
    annotations = null,
  } = tool;
  try {
    return { name, digest: digestOf({ name, title, description, inputSchema, outputSchema, annotations }) };
  } catch {
    return undefined;
  }
}
