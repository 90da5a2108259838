import type { Clock, JsonObject } from '../../core/index.ts';
import { openDatabase, type RoomMigrations, transaction } from '../../ledger/index.ts';
import type { Caller } from './config.ts';

/**
 * What callers may spend.
 *
 * B1 A call's greatest cost is reserved before it goes out, in the transaction that records the call:
 *    calls at the same time, or in other processes, see each other's reservations.
 * B2 When it ends the reservation becomes what was used. After a crash, or when the provider does not say,
 *    the reservation stands as spent: too much is counted, never too little.
 */
export interface Cost {
  readonly tokens: number;
  readonly usd: number;
}

export interface Budgets {
  reserve(call: {
    readonly requestId: string;
    readonly caller: string;
    readonly budget: NonNullable<Caller['budget']>;
    readonly most: Cost;
    readonly record: JsonObject;
  }): { readonly ok: true } | { readonly ok: false; readonly why: string };
  settle(requestId: string, used: Cost | 'not_sent' | undefined): void;
  close(): void;
}

const MIGRATIONS: RoomMigrations = {
  room: 'gateways.llm',
  steps: [
    `CREATE TABLE llm_calls (
       request_id TEXT PRIMARY KEY, caller TEXT NOT NULL, started_at TEXT NOT NULL, state TEXT NOT NULL,
       tokens INTEGER NOT NULL, usd_micros INTEGER NOT NULL, requests INTEGER NOT NULL, record TEXT NOT NULL
     ) STRICT;
     CREATE INDEX llm_calls_by_caller ON llm_calls (caller, started_at);`,
  ],
};

export function openBudgets(path: string, clock: Clock): Budgets {
  const db = openDatabase(path, MIGRATIONS);
  const spent = db.prepare(
    'SELECT COALESCE(SUM(tokens), 0) AS tokens, COALESCE(SUM(usd_micros), 0) AS usd, COALESCE(SUM(requests), 0) AS requests FROM llm_calls WHERE caller = ? AND started_at >= ?',
  );
  const insert = db.prepare("INSERT INTO llm_calls VALUES (?, ?, ?, 'reserved', ?, ?, 1, ?)");
  const update = db.prepare(
    "UPDATE llm_calls SET state = 'settled', tokens = ?, usd_micros = ?, requests = ? WHERE request_id = ? AND state = 'reserved'",
  );
  return {
    reserve: ({ requestId, caller, budget, most, record }) =>
      transaction(db, () => {
        const now = clock.now();
        const row = spent.get(caller, periodStart(budget.per, now));
        const over = (limit: number | undefined, used: number, wanted: number, what: string) =>
          limit !== undefined && used + wanted > limit
            ? `${caller} has used ${used} of ${limit} ${what} (${budget.per}); this call may need ${wanted}`
            : undefined;
        const why =
          over(budget.requests, Number(row?.requests ?? 0), 1, 'requests') ??
          over(budget.tokens, Number(row?.tokens ?? 0), most.tokens, 'tokens') ??
          over(budget.usd, Number(row?.usd ?? 0) / 1e6, most.usd, 'USD');
        if (why !== undefined) return { ok: false, why };
        const micros = Math.ceil(most.usd * 1e6);
        insert.run(requestId, caller, now.toISOString(), most.tokens, micros, JSON.stringify(record));
        return { ok: true };
      }),
    settle: (requestId, used) => {
      if (used === undefined) return;
      const cost = used === 'not_sent' ? { tokens: 0, usd: 0 } : used;
      update.run(cost.tokens, Math.ceil(cost.usd * 1e6), used === 'not_sent' ? 0 : 1, requestId);
    },
    close: () => db.close(),
  };
}

function periodStart(per: 'hour' | 'day' | 'month' | 'ever', now: Date): string {
  const iso = now.toISOString();
  switch (per) {
    case 'hour':
      return `${iso.slice(0, 13)}:00:00.000Z`;
    case 'day':
      return `${iso.slice(0, 10)}T00:00:00.000Z`;
    case 'month':
      return `${iso.slice(0, 7)}-01T00:00:00.000Z`;
    case 'ever':
      return '';
  }
}
