import type { JsonObject } from '../core/index.ts';
import type { FlightDeps } from './deps.ts';
import { type AuditEvent, type Events, openEvents } from './events.ts';
import { apply, type Change, type FlightRecord, replay, stateRecord } from './record.ts';
import { isEnd, type State } from './states.ts';
import { damaged, type FlightPaths, type LoadedFlight, NO_EVENTS, writeCheckpoint } from './store.ts';
import { type NewEntry, openWal, type Wal, type WalEntry } from './wal.ts';

/** The written side of a flight: log first, then events, then the checkpoint; and the record they make. */
export interface FlightLog {
  readonly record: FlightRecord;
  readonly paths: FlightPaths;
  commit(entries: readonly LogEntry[], events: readonly AuditEvent[]): void;
  close(): void;
}

/** An entry with what it changes in the open. */
export interface LogEntry extends NewEntry {
  readonly change?: Change;
}

export function startLog(
  deps: FlightDeps,
  paths: FlightPaths,
  workflowId: string,
  flightId: string,
  first: LogEntry,
  events: readonly AuditEvent[],
): FlightLog {
  const from = { entries: [], head: NO_EVENTS.head, goodBytes: 0 };
  const wal = openWal({ path: paths.wal, workflowId, clock: deps.clock, signer: deps.ledger.signer, from });
  const audit = openEvents({
    path: paths.events,
    flightId,
    workflowId,
    clock: deps.clock,
    signer: deps.ledger.signer,
    from: NO_EVENTS,
  });
  const entries = [...wal.append([toEntry(first)])];
  audit.append(events, wal.count, true);
  const record = replay(entries);
  if (typeof record === 'string') throw damaged(flightId, record);
  return logOf(deps, paths, wal, audit, entries, record);
}

export function reopenLog(deps: FlightDeps, loaded: LoadedFlight): FlightLog {
  const { paths, record } = loaded;
  const base = { clock: deps.clock, signer: deps.ledger.signer, workflowId: record.workflowId };
  const wal = openWal({ ...base, path: paths.wal, from: loaded.wal });
  const audit = openEvents({ ...base, path: paths.events, flightId: record.flightId, from: loaded.events });
  const log = logOf(deps, paths, wal, audit, [...loaded.wal.entries], record);
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

const FORCED: readonly State[] = ['AWAITING_APPROVAL', 'TAKEOFF_RUNNING', 'EXECUTION_COMPLETE'];

function logOf(
  deps: FlightDeps,
  paths: FlightPaths,
  wal: Wal,
  audit: Events,
  entries: WalEntry[],
  started: FlightRecord,
): FlightLog {
  let record = started;
  return {
    get record() {
      return record;
    },
    paths,
    commit: (added, events) => {
      if (added.length > 0) {
        for (const entry of wal.append(added.map(toEntry))) {
          entries.push(entry);
          const next = apply(record, entry);
          if (typeof next === 'string') throw damaged(record.flightId, next);
          record = next;
        }
      }
      // Events the log can vouch for need no flush of their own: one that is lost with the power is told as
      // missing on resume. Before something happens outside, and before somebody is answered, all is forced.
      const durable = isEnd(record.state) || FORCED.includes(record.state);
      audit.append(events, wal.count, durable);
      if (added.length === 0 && !durable && events.every((e) => (e.severity ?? 'info') === 'info')) return;
      const at = {
        wal: { count: wal.count, head: wal.head },
        audit: { count: audit.count, head: audit.head },
      };
      writeCheckpoint(paths, at, stateRecord(record, entries), deps.ledger.signer, durable);
    },
    close: () => {
      wal.close();
      audit.close();
    },
  };
}

function toEntry({ change, detail, ...entry }: LogEntry): NewEntry {
  return { ...entry, detail: { ...detail, ...(change as JsonObject | undefined) } };
}
