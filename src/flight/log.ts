import type { JsonObject } from '../core/index.ts';
import type { FlightDeps } from './deps.ts';
import { type AuditEvent, type Events, openEvents } from './events.ts';
import type { KnownFlight } from './listing.ts';
import { apply, type Change, type FlightRecord, replay, stateRecord } from './record.ts';
import type { State } from './states.ts';
import { damaged, type FlightPaths, NO_EVENTS, syncNames, writeCheckpoint } from './store.ts';
import { type NewEntry, openWal, type Wal, type WalEntry } from './wal.ts';

/** The written side of a flight: log first, then events, then the checkpoint; and the record they make. */
export interface FlightLog {
  readonly record: FlightRecord;
  readonly paths: FlightPaths;
  commit(entries: readonly LogEntry[], events: readonly AuditEvent[]): void;
  /** Forces all to disk, and tells the catalogue how far it has come. */
  close(): Promise<void>;
}

/** An entry with what it changes in the open. */
export interface LogEntry extends NewEntry {
  readonly change?: Change;
}

/** A new flight: its first entry is on disk, then the catalogue has it. Nothing runs before that. */
export async function startLog(
  deps: FlightDeps,
  paths: FlightPaths,
  workflowId: string,
  flightId: string,
  first: LogEntry,
  events: readonly AuditEvent[],
): Promise<FlightLog> {
  const base = { clock: deps.clock, signer: deps.ledger.signer, workflowId };
  const from = { entries: [], head: NO_EVENTS.head, goodBytes: 0 };
  const wal = openWal({ ...base, path: paths.wal, from });
  const audit = openEvents({ ...base, path: paths.events, flightId, from: NO_EVENTS });
  syncNames(paths);
  const entries = [...wal.append([toEntry(first)])];
  audit.append(events, wal.count);
  const record = replay(entries);
  if (typeof record === 'string') throw damaged(flightId, record);
  wal.flush();
  await deps.ledger.catalog.opened({ id: flightId, path: paths.wal });
  return logOf(deps, paths, wal, audit, entries, record, 0);
}

export async function reopenLog(deps: FlightDeps, loaded: KnownFlight): Promise<FlightLog> {
  const { paths, record } = loaded;
  if (!loaded.listed) await deps.ledger.catalog.opened({ id: record.flightId, path: paths.wal });
  const base = { clock: deps.clock, signer: deps.ledger.signer, workflowId: record.workflowId };
  const wal = openWal({ ...base, path: paths.wal, from: loaded.wal });
  const audit = openEvents({ ...base, path: paths.events, flightId: record.flightId, from: loaded.events });
  const log = logOf(deps, paths, wal, audit, [...loaded.wal.entries], record, loaded.told);
  if (loaded.leftovers.length > 0)
    log.commit(
      [],
      [
        {
          event_type: 'recovered',
          workflow_state: record.state,
          severity: 'warning',
          message: `continued after an interruption: ${loaded.leftovers.join('; ')}`,
        },
      ],
    );
  return log;
}

/**
 * What reaching a state means for the disk. `gather`: nothing outside depends on it yet and a crash would derive
 * it again; it goes with the next flush. `write`: the log has it, should this process die; it is forced with
 * the next flush, which follows at once. `log`: an engine is started or judges are asked next, so the log is
 * forced. `all`: something happens outside, or somebody is answered: log, events and checkpoint are forced.
 */
const FLUSH: Readonly<Record<State, 'gather' | 'write' | 'log' | 'all'>> = {
  INIT: 'gather',
  PLAN_RUNNING: 'log',
  PLAN_GENERATED: 'gather',
  ARTIFACTS_VALIDATED: 'gather',
  TOKEN_CREATED: 'gather',
  PRE_FLIGHT_RUNNING: 'log',
  PREFLIGHT_COMPLETE: 'gather',
  AWAITING_APPROVAL: 'all',
  APPROVED: 'gather',
  READY_FOR_TAKEOFF: 'gather',
  TAKEOFF_RUNNING: 'all',
  EXECUTION_COMPLETE: 'write',
  COMPLETED: 'all',
  FAILED: 'all',
};

function logOf(
  deps: FlightDeps,
  paths: FlightPaths,
  wal: Wal,
  audit: Events,
  entries: WalEntry[],
  started: FlightRecord,
  /** Entries the catalogue knows of already. */
  told: number,
): FlightLog {
  let record = started;
  // What the checkpoint on disk covers is not asked: the first one written here covers all.
  let covered = -1;
  /** LG1 The order: log, then events, then the checkpoint of both. None can be newer than what it vouches for. */
  const flush = (everything: boolean) => {
    wal.flush();
    audit.flush(everything);
    if (!everything || covered === wal.count + audit.count) return;
    const at = {
      wal: { count: wal.count, head: wal.head, digest: wal.digest() },
      audit: { count: audit.count, head: audit.head, digest: audit.digest() },
      listed: true,
    };
    writeCheckpoint(paths, at, stateRecord(record, entries), deps.ledger.signer);
    covered = wal.count + audit.count;
  };
  return {
    get record() {
      return record;
    },
    paths,
    commit: (added, events) => {
      for (const entry of wal.append(added.map(toEntry))) {
        entries.push(entry);
        const next = apply(record, entry);
        if (typeof next === 'string') throw damaged(record.flightId, next);
        record = next;
      }
      audit.append(events, wal.count);
      const needed = FLUSH[record.state];
      if (needed === 'write') wal.write();
      else if (needed !== 'gather') flush(needed === 'all');
    },
    close: async () => {
      try {
        flush(true);
      } finally {
        wal.close();
        audit.close();
      }
      const { count, head } = wal;
      if (count === told) return;
      await deps.ledger.catalog.closed({ id: record.flightId, path: paths.wal, count, head });
    },
  };
}

function toEntry({ change, detail, ...entry }: LogEntry): NewEntry {
  return { ...entry, detail: { ...detail, ...(change as JsonObject | undefined) } };
}
