import { type Clock, type Digest, isJsonObject, type JsonObject, parseJson } from '../../core/index.ts';
import type { Database } from './store.ts';

/**
 * Answers that wait for a person. The call was made; it must not be made again to get its answer.
 *
 * A1 An answer is kept until it is handed out once, refused, or its time is up; it outlives the gateway.
 * A2 It belongs to one caller and one call, arguments and all.
 */
export interface Held {
  find(caller: string, call: Digest): HeldAnswer | undefined;
  /** False when there are too many already. */
  keep(caller: string, call: Digest, answer: HeldAnswer, forMs: number): boolean;
  /** Takes it out; false when somebody else did. */
  take(caller: string, call: Digest): boolean;
}

export interface HeldAnswer {
  readonly result: JsonObject;
  /** The request that a person was asked with. */
  readonly approvalId: string;
}

const MAX_HELD = 1000;

export function heldIn(db: Database, clock: Clock): Held {
  const get = db.prepare(
    'SELECT result, approval_id FROM mcp_held WHERE caller = ? AND call_digest = ? AND until_ms > ?',
  );
  const put = db.prepare('INSERT OR REPLACE INTO mcp_held VALUES (?, ?, ?, ?, ?)');
  const drop = db.prepare('DELETE FROM mcp_held WHERE caller = ? AND call_digest = ?');
  const expire = db.prepare('DELETE FROM mcp_held WHERE until_ms <= ?');
  const count = db.prepare('SELECT count(*) AS n FROM mcp_held');
  const now = () => clock.now().getTime();
  return {
    find: (caller, call) => {
      const row = get.get(caller, call, now());
      const parsed = row === undefined ? undefined : parseJson(String(row.result));
      return row && parsed?.ok && isJsonObject(parsed.value)
        ? { result: parsed.value, approvalId: String(row.approval_id) }
        : undefined;
    },
    keep: (caller, call, { result, approvalId }, forMs) => {
      expire.run(now());
      if (Number(count.get()?.n) >= MAX_HELD) return false;
      put.run(caller, call, JSON.stringify(result), approvalId, Math.ceil(now() + forMs));
      return true;
    },
    take: (caller, call) => Number(drop.run(caller, call).changes) > 0,
  };
}
