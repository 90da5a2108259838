import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { FileVerdict, JournalFindings, PublicKeys } from '../ledger/index.ts';
import { replay } from './record.ts';
import {
  contradictionOf,
  type FlightFiles,
  flightIds,
  flightPaths,
  pathsIn,
  readFiles,
  saysListed,
} from './store.ts';

/** The two files of every flight, for `writ audit verify`. */
export function findFlightFiles(stateDir: string): readonly string[] {
  return flightIds(stateDir).flatMap((id) => {
    const { wal, events } = flightPaths(stateDir, id);
    return [wal, events];
  });
}

/** One of them, and what the catalogue must know of it: there the log stands for the flight. */
export function verifyFlightFile(path: string, keys: PublicKeys): JournalFindings {
  const folder = dirname(path);
  const paths = pathsIn(folder);
  const read = readFiles(paths, keys);
  const { wal, events, checkpoint } = read;
  const present = existsSync(path);
  if (path === paths.events) {
    const verdicts = [present ? verifyEvents(path, read) : missing(path, 'audit events')];
    return { base: path, verdicts, id: null, listed: false, count: events.count, head: events.head, present };
  }
  return {
    base: path,
    verdicts: [present ? verifyWal(path, read) : missing(path, 'log')],
    id: wal.entries.length === 0 ? null : basename(folder),
    listed: saysListed(checkpoint),
    count: wal.entries.length,
    head: wal.head,
    present,
  };
}

function verifyWal(path: string, { wal, events, checkpoint }: FlightFiles): FileVerdict {
  const records = wal.entries.length;
  if (wal.bad !== null)
    return verdict(path, 'tampered', records, wal.bad.line, wal.bad.byte, `the entry ${wal.bad.what}`);
  const contradiction = contradictionOf(wal, { ...events, count: Number.MAX_SAFE_INTEGER }, checkpoint);
  if (contradiction !== null)
    return verdict(path, 'incomplete', records, records + 1, wal.goodBytes, contradiction);
  if (wal.torn !== null)
    return verdict(path, 'incomplete', records, records + 1, wal.goodBytes, 'the last line is torn');
  const record = replay(wal.entries);
  if (typeof record === 'string') return verdict(path, 'tampered', records, 1, 0, record);
  if (record.flightId !== basename(dirname(path)))
    return verdict(path, 'tampered', records, 1, 0, `the log is of flight ${record.flightId}`);
  return vouched(path, records, checkpoint);
}

function verifyEvents(path: string, { events, checkpoint }: FlightFiles): FileVerdict {
  const { count, goodBytes, bad } = events;
  if (bad !== null) return verdict(path, 'tampered', count, bad.line, bad.byte, `the event ${bad.what}`);
  if (typeof checkpoint === 'string')
    return verdict(path, 'tampered', count, count + 1, goodBytes, checkpoint);
  if (checkpoint !== null && checkpoint.audit.count > count) {
    const what = `there are ${count} events, the checkpoint knew of ${checkpoint.audit.count}`;
    return verdict(path, 'incomplete', count, count + 1, goodBytes, what);
  }
  if (events.torn) return verdict(path, 'incomplete', count, count + 1, goodBytes, 'the last line is torn');
  return vouched(path, count, checkpoint);
}

function vouched(path: string, records: number, checkpoint: FlightFiles['checkpoint']): FileVerdict {
  const found = { path, records, first_bad: null };
  if (checkpoint !== null) return { ...found, status: 'intact', notes: [] };
  return { ...found, status: 'not_established', notes: ['there is no checkpoint (state.json)'] };
}

function missing(path: string, what: string): FileVerdict {
  return verdict(path, 'incomplete', 0, 0, 0, `the ${what} of this flight is missing`);
}

function verdict(
  path: string,
  status: FileVerdict['status'],
  records: number,
  line: number,
  byte: number,
  what: string,
): FileVerdict {
  return {
    path,
    status,
    records,
    first_bad: { line, sequence: line > 0 ? line - 1 : null, byte, what },
    notes: [],
  };
}
