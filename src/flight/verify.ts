import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileVerdict, PublicKeys } from '../ledger/index.ts';
import { readEvents } from './events.ts';
import { replay } from './record.ts';
import { contradictionOf, flightIds, flightPaths, NO_EVENTS, readCheckpoint } from './store.ts';
import { readWal } from './wal.ts';

/** The two files of a flight, for `writ audit verify`. */
export function findFlightWals(stateDir: string): readonly string[] {
  return flightIds(stateDir).map((id) => flightPaths(stateDir, id).wal);
}

export function findFlightEvents(stateDir: string): readonly string[] {
  return flightIds(stateDir).map((id) => flightPaths(stateDir, id).events);
}

export function verifyFlightWal(path: string, keys: PublicKeys): FileVerdict {
  const folder = dirname(path);
  if (!existsSync(path)) return verdict(path, 'incomplete', 0, 0, 0, 'the log of this flight is missing');
  const wal = readWal(path, keys);
  const records = wal.entries.length;
  if (wal.bad !== null)
    return verdict(path, 'tampered', records, wal.bad.line, wal.bad.byte, `the entry ${wal.bad.what}`);
  const audit = join(folder, 'audit.jsonl');
  const events = existsSync(audit) ? readEvents(audit, keys) : NO_EVENTS;
  const checkpoint = readCheckpoint(
    { checkpoint: join(folder, 'state.json'), folder, wal: path, events: audit, steps: '' },
    keys,
  );
  const contradiction = contradictionOf(wal, { ...events, count: Number.MAX_SAFE_INTEGER }, checkpoint);
  if (contradiction !== null)
    return verdict(path, 'incomplete', records, records + 1, wal.goodBytes, contradiction);
  if (wal.torn !== null)
    return verdict(path, 'incomplete', records, records + 1, wal.goodBytes, 'the last line is torn');
  const record = replay(wal.entries);
  if (typeof record === 'string') return verdict(path, 'tampered', records, 1, 0, record);
  if (checkpoint === null)
    return {
      ...fine(path, records),
      status: 'not_established',
      notes: ['there is no checkpoint (state.json)'],
    };
  return fine(path, records);
}

export function verifyFlightEvents(path: string, keys: PublicKeys): FileVerdict {
  const folder = dirname(path);
  if (!existsSync(path))
    return verdict(path, 'incomplete', 0, 0, 0, 'the audit events of this flight are missing');
  const events = readEvents(path, keys);
  if (events.bad !== null)
    return verdict(
      path,
      'tampered',
      events.count,
      events.bad.line,
      events.bad.byte,
      `the event ${events.bad.what}`,
    );
  const checkpoint = readCheckpoint(
    { checkpoint: join(folder, 'state.json'), folder, wal: '', events: path, steps: '' },
    keys,
  );
  if (typeof checkpoint === 'string')
    return verdict(path, 'tampered', events.count, events.count + 1, events.goodBytes, checkpoint);
  if (checkpoint !== null && checkpoint.audit.count > events.count)
    return verdict(
      path,
      'incomplete',
      events.count,
      events.count + 1,
      events.goodBytes,
      `there are ${events.count} events, the checkpoint knew of ${checkpoint.audit.count}`,
    );
  if (events.torn)
    return verdict(
      path,
      'incomplete',
      events.count,
      events.count + 1,
      events.goodBytes,
      'the last line is torn',
    );
  if (checkpoint === null)
    return {
      ...fine(path, events.count),
      status: 'not_established',
      notes: ['there is no checkpoint (state.json)'],
    };
  return fine(path, events.count);
}

function fine(path: string, records: number): FileVerdict {
  return { path, status: 'intact', records, first_bad: null, notes: [] };
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
