import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { CODES, EXIT, WritError } from '../core/index.ts';
import { type CatalogMemory, type Ledger, statePaths } from '../ledger/index.ts';
import {
  begun,
  coveredState,
  damaged,
  flightIds,
  flightPaths,
  type LoadedFlight,
  loadFlight,
  unknownFlight,
} from './store.ts';

/**
 * Flights in the ledger's catalogue: a folder that goes as a whole, or comes back as it once was, is missed.
 *
 * LI1 A flight is listed after its first entry is on disk and before anything runs. So what is listed and not
 *     there was taken away; what is there and not listed has done nothing, or is older than the list.
 * LI2 Its signed checkpoint says that it is listed: a catalogue that goes is missed in turn.
 * LI3 How far its log had come is told whenever a process lets go of it.
 */
export interface KnownFlight extends LoadedFlight {
  /** Entries of its log that the catalogue was told of. */
  readonly told: number;
}

export async function readFlight(ledger: Ledger, flightId: string): Promise<KnownFlight> {
  const paths = flightPaths(ledger.stateDir, flightId);
  const memory = (await ledger.catalog.remembered()).get(paths.wal);
  if (!begun(paths)) throw memory === undefined ? unknownFlight(flightId) : gone(flightId, memory);
  if (!existsSync(paths.wal)) throw damaged(flightId, 'wal.jsonl is gone');
  const loaded = loadFlight(ledger.stateDir, flightId, ledger.trustedKeys);
  const contradiction = behind(loaded.wal.entries.length, headIn(loaded), memory);
  if (contradiction !== null) throw damaged(flightId, contradiction);
  return { ...loaded, told: memory?.count ?? 0 };
}

export interface ListedFlight {
  readonly flight_id: string;
  readonly workflow_id: string | null;
  readonly state: string;
  readonly created_at: string | null;
  readonly updated_at: string | null;
}

/** Every flight; one that cannot be read is listed as damaged and one that was taken away as missing. */
export async function listFlights({ ledger }: { readonly ledger: Ledger }): Promise<readonly ListedFlight[]> {
  const remembered = await ledger.catalog.remembered();
  const there = flightIds(ledger.stateDir);
  const known = new Set(there);
  const missing = missingFrom(ledger.stateDir, remembered, known);
  return [...there, ...missing].sort().map((id) => {
    if (!known.has(id)) return nothingOf(id, 'MISSING');
    return listed(ledger, id, remembered.get(flightPaths(ledger.stateDir, id).wal));
  });
}

function missingFrom(
  stateDir: string,
  remembered: ReadonlyMap<string, CatalogMemory>,
  there: ReadonlySet<string>,
): readonly string[] {
  const { flights } = statePaths(stateDir);
  return [...remembered].flatMap(([path, { retired }]) => {
    const folder = dirname(path);
    const id = basename(folder);
    return dirname(folder) === flights && retired === null && !there.has(id) ? [id] : [];
  });
}

function listed(ledger: Ledger, id: string, memory: CatalogMemory | undefined): ListedFlight {
  const { stateDir, trustedKeys } = ledger;
  const covered = coveredState(flightPaths(stateDir, id), trustedKeys);
  if (covered !== null) {
    const { record, checkpoint } = covered;
    const { count, head } = checkpoint.wal;
    if (behind(count, (at) => (at === count ? head : undefined), memory) !== null)
      return nothingOf(id, 'DAMAGED');
    return {
      flight_id: id,
      workflow_id: String(record.workflow_id),
      state: String(record.current_state),
      created_at: String(record.created_at),
      updated_at: String(record.updated_at),
    };
  }
  try {
    const loaded = loadFlight(stateDir, id, trustedKeys);
    const { record, wal } = loaded;
    if (behind(wal.entries.length, headIn(loaded), memory) !== null) return nothingOf(id, 'DAMAGED');
    return {
      flight_id: id,
      workflow_id: record.workflowId,
      state: record.state,
      created_at: record.createdAt,
      updated_at: record.updatedAt,
    };
  } catch {
    return nothingOf(id, 'DAMAGED');
  }
}

function nothingOf(flight_id: string, state: 'DAMAGED' | 'MISSING'): ListedFlight {
  return { flight_id, workflow_id: null, state, created_at: null, updated_at: null };
}

type HeadAt = (count: number) => string | undefined;

function headIn({ wal }: LoadedFlight): HeadAt {
  return (count) => wal.entries[count - 1]?.checksum;
}

/** Why a log is not the one the catalogue remembers, or null. */
function behind(count: number, headAt: HeadAt, memory: CatalogMemory | undefined): string | null {
  if (memory === undefined || memory.count === 0) return null;
  if (count < memory.count)
    return `wal.jsonl has ${count} entries, the catalogue remembers ${memory.count}: an earlier state was put back`;
  const head = headAt(memory.count);
  return head === undefined || head === memory.head
    ? null
    : 'wal.jsonl is not the log the catalogue remembers';
}

function gone(flightId: string, { retired }: CatalogMemory): WritError {
  if (retired !== null)
    return new WritError(
      CODES.invalid_input,
      `flight ${flightId} was retired by ${retired.by}: ${retired.reason}`,
      {
        suggestion: 'writ flight list shows what there is',
        exit: EXIT.usage,
      },
    );
  return new WritError(
    CODES.integrity_broken,
    `flight ${flightId}: its folder is gone, the catalogue lists it`,
    {
      suggestion: `put it back, or say that it may be missing: writ audit retire .writ/flights/${flightId} --reason "…"`,
      exit: EXIT.integrity,
      context: { flight_id: flightId },
    },
  );
}
