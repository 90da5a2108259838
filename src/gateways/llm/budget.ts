import type { Clock, JsonObject } from '../../core/index.ts';
import { openDatabase, openWalFlush, type RoomMigrations, transaction } from '../../ledger/index.ts';
import type { Caller } from './config.ts';

/**
 * What callers may spend.
 *
 * B1 A call's greatest cost is reserved before it goes out, in the transaction that records the call:
 *    calls at the same time, or in other processes, see each other's reservations.
 * B2 A reservation counts once it is durable. Calls that come together share the flush.
 * B3 When the call ends the reservation becomes what was used, with the next reservation or a moment later.
 *    After a crash, or when the provider does not say, the reservation stands as spent: too much is counted,
 *    never too little.
 * B4 The sum of a period is kept beside the calls and changes with them; it is added up from the calls when a
 *    period is first asked about, so that another period in the configuration starts from the truth.
 */
export interface Cost {
  readonly tokens: number;
  readonly usd: number;
}

export interface Reservation {
  readonly requestId: string;
  readonly caller: string;
  readonly budget: NonNullable<Caller['budget']>;
  readonly most: Cost;
  readonly record: JsonObject;
}

export interface Budgets {
  /** Resolves when the reservation is durable, or with the reason why there is none. */
  reserve(call: Reservation): Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string }>;
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
    `CREATE TABLE llm_spent (
       caller TEXT NOT NULL, period TEXT NOT NULL, starts TEXT NOT NULL,
       tokens INTEGER NOT NULL, usd_micros INTEGER NOT NULL, requests INTEGER NOT NULL,
       PRIMARY KEY (caller, period, starts)
     ) STRICT, WITHOUT ROWID;`,
  ],
};

/** Settling waits for nobody; a reservation that comes earlier takes it along. */
const SETTLE_MS = 20;
const MAX_UNSETTLED = 10_000;

const PERIODS = ['hour', 'day', 'month', 'ever'] as const;
type Period = (typeof PERIODS)[number];

export function openBudgets(path: string, clock: Clock): Budgets {
  const db = openDatabase(path, MIGRATIONS, { synchronous: 'NORMAL' });
  const wal = openWalFlush(path);
  const spent = db.prepare(
    'SELECT tokens, usd_micros AS usd, requests FROM llm_spent WHERE caller = ? AND period = ? AND starts = ?',
  );
  const addUp = db.prepare(
    `INSERT INTO llm_spent SELECT ?1, ?2, ?3, COALESCE(SUM(tokens), 0), COALESCE(SUM(usd_micros), 0),
       COALESCE(SUM(requests), 0) FROM llm_calls WHERE caller = ?1 AND started_at >= ?3
     RETURNING tokens, usd_micros AS usd, requests`,
  );
  const change = db.prepare(
    `UPDATE llm_spent SET tokens = tokens + ?6, usd_micros = usd_micros + ?7, requests = requests + ?8
     WHERE caller = ?1 AND (period, starts) IN (VALUES ('hour', ?2), ('day', ?3), ('month', ?4), ('ever', ?5))`,
  );
  const insert = db.prepare("INSERT INTO llm_calls VALUES (?, ?, ?, 'reserved', ?, ?, 1, ?)");
  const reserved = db.prepare(
    "SELECT caller, started_at, tokens, usd_micros AS usd, requests FROM llm_calls WHERE request_id = ? AND state = 'reserved'",
  );
  const update = db.prepare(
    "UPDATE llm_calls SET state = 'settled', tokens = ?, usd_micros = ?, requests = ? WHERE request_id = ?",
  );
  const changeBy = (caller: string, at: string, tokens: number, usd: number, requests: number) => {
    const [hour, day, month, ever] = PERIODS.map((period) => periodStart(period, at));
    change.run(caller, hour!, day!, month!, ever!, tokens, usd, requests);
  };

  const tryReserve = ({ requestId, caller, budget, most, record }: Reservation): string | undefined => {
    const at = clock.now().toISOString();
    const starts = periodStart(budget.per, at);
    const row = spent.get(caller, budget.per, starts) ?? addUp.get(caller, budget.per, starts);
    const micros = microsOf(most.usd);
    const why =
      over(budget, caller, 'requests', Number(row?.requests), 1) ??
      over(budget, caller, 'tokens', Number(row?.tokens), most.tokens) ??
      over(budget, caller, 'usd', Number(row?.usd) / 1e6, micros / 1e6);
    if (why !== undefined) return why;
    insert.run(requestId, caller, at, most.tokens, micros, JSON.stringify(record));
    changeBy(caller, at, most.tokens, micros, 1);
    return undefined;
  };

  const settleOne = (requestId: string, used: Cost | 'not_sent'): void => {
    const row = reserved.get(requestId);
    if (row === undefined) return;
    const { tokens, usd } = used === 'not_sent' ? { tokens: 0, usd: 0 } : used;
    const [micros, requests] = [microsOf(usd), used === 'not_sent' ? 0 : 1];
    update.run(tokens, micros, requests, requestId);
    const by = [tokens - Number(row.tokens), micros - Number(row.usd), requests - Number(row.requests)];
    changeBy(String(row.caller), String(row.started_at), by[0]!, by[1]!, by[2]!);
  };
  /** Settled, but not written yet. What waits is written before anything is reserved. */
  let unsettled: (readonly [requestId: string, used: Cost | 'not_sent'])[] = [];
  let timer: NodeJS.Timeout | undefined;
  const settleAll = () => {
    for (const [requestId, used] of unsettled) settleOne(requestId, used);
  };
  const settled = () => {
    unsettled = [];
    clearTimeout(timer);
    timer = undefined;
  };
  /** What cannot be written now is tried again, and beyond a number forgotten: those reservations stand. */
  const settleNow = () => {
    try {
      if (unsettled.length > 0) transaction(db, settleAll);
      settled();
    } catch {
      unsettled = unsettled.slice(-MAX_UNSETTLED);
      timer = setTimeout(settleNow, SETTLE_MS).unref();
    }
  };

  return {
    reserve: async (call) => {
      const why = transaction(db, () => {
        settleAll();
        return tryReserve(call);
      });
      settled();
      if (why !== undefined) return { ok: false, why };
      await wal.flushed();
      return { ok: true };
    },
    settle: (requestId, used) => {
      if (used === undefined) return;
      unsettled.push([requestId, used]);
      timer ??= setTimeout(settleNow, SETTLE_MS).unref();
    },
    close: () => {
      settleNow();
      clearTimeout(timer);
      wal.close();
      db.close();
    },
  };
}

/** Whole, and small enough to be added up. */
const microsOf = (usd: number) => Math.min(Math.ceil(usd * 1e6), Number.MAX_SAFE_INTEGER);

function over(
  budget: Reservation['budget'],
  caller: string,
  what: 'requests' | 'tokens' | 'usd',
  used: number,
  wanted: number,
): string | undefined {
  const limit = budget[what];
  // A sum that is no number is no permission.
  if (limit === undefined || used + wanted <= limit) return undefined;
  const period = budget.per === 'ever' ? 'in all' : `this ${budget.per}`;
  return `${caller} has used ${used} of ${limit} ${what} ${period}; this call may need ${wanted}`;
}

function periodStart(period: Period, at: string): string {
  switch (period) {
    case 'hour':
      return `${at.slice(0, 13)}:00:00.000Z`;
    case 'day':
      return `${at.slice(0, 10)}T00:00:00.000Z`;
    case 'month':
      return `${at.slice(0, 7)}-01T00:00:00.000Z`;
    case 'ever':
      return '';
  }
}
