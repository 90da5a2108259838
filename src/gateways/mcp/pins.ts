import { type Clock, type Digest, digestOf, isJsonObject } from '../../core/index.ts';
import { transaction } from '../../ledger/index.ts';
import type { Database } from './store.ts';

/**
 * What tools said they were when they were first seen.
 *
 * N1 The first listing of a server is taken as it is; from then on a tool that changed its description or
 *    schema, or that is new (a rename), needs a person before it is called.
 * N2 A person's yes to a call re-pins the tool as it was shown with that call, nothing else.
 */
export interface Pins {
  /** Takes a listing; pins it when the server was never seen before. Tells of tools that do not fit. */
  seen(server: string, tools: readonly ToolPin[], unlike: (tool: SeenTool) => void): readonly SeenTool[];
  standing(server: string, tool: ToolPin): Standing;
  accept(server: string, tool: ToolPin): void;
}

export type Standing = 'pinned' | 'changed' | 'new';

export interface ToolPin {
  readonly name: string;
  readonly digest: Digest;
}

/** A tool with its standing when it was listed. Only `pinned` may be relied on later: the others can be mended. */
export interface SeenTool extends ToolPin {
  readonly standing: Standing;
}

/** Changes already told of; a server that changes all the time is not told of for ever. */
const MAX_TOLD = 10_000;

export function pinsIn(db: Database, clock: Clock): Pins {
  const put = db.prepare('INSERT OR REPLACE INTO mcp_pins VALUES (?, ?, ?, ?)');
  const get = db.prepare('SELECT digest FROM mcp_pins WHERE server = ? AND tool = ?');
  const first = db.prepare('INSERT OR IGNORE INTO mcp_servers VALUES (?, ?)');
  const now = () => clock.now().toISOString();
  const told = new Set<string>();
  const standing = (server: string, tool: ToolPin): Standing => {
    const row = get.get(server, tool.name);
    if (row === undefined) return 'new';
    return row.digest === tool.digest ? 'pinned' : 'changed';
  };
  return {
    seen: (server, tools, unlike) => {
      transaction(db, () => {
        if (Number(first.run(server, now()).changes) === 0) return;
        for (const tool of tools) put.run(server, tool.name, tool.digest, now());
      });
      return tools.map((tool) => {
        const seen = { ...tool, standing: standing(server, tool) };
        const key = `${server} ${tool.digest}`;
        if (seen.standing !== 'pinned' && !told.has(key) && told.size < MAX_TOLD) {
          told.add(key);
          unlike(seen);
        }
        return seen;
      });
    },
    standing,
    accept: (server, tool) => void put.run(server, tool.name, tool.digest, now()),
  };
}

/** Everything of a tool that a model or a person goes by. */
export function pinOf(tool: unknown): ToolPin | undefined {
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
