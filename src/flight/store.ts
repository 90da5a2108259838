import { verify as verifySignature } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  CODES,
  canonicalJson,
  EXIT,
  isJsonObject,
  type JsonObject,
  parseJson,
  sha256,
  WritError,
  ZERO_DIGEST,
} from '../core/index.ts';
import { type PublicKeys, type Signer, statePaths } from '../ledger/index.ts';
import { type EventsRead, readEvents } from './events.ts';
import { type FlightRecord, replay } from './record.ts';
import { readWal, type WalRead } from './wal.ts';

/** Where a flight lies, and whether what lies there is whole. */
export interface FlightPaths {
  readonly folder: string;
  readonly wal: string;
  readonly events: string;
  readonly checkpoint: string;
  readonly steps: string;
}

const ID = /^flt_[A-Za-z0-9_-]{1,80}$/;

export function flightPaths(stateDir: string, flightId: string): FlightPaths {
  if (!ID.test(flightId)) throw unknownFlight(flightId);
  return pathsIn(join(statePaths(stateDir).flights, flightId));
}

export function pathsIn(folder: string): FlightPaths {
  return {
    folder,
    wal: join(folder, 'wal.jsonl'),
    events: join(folder, 'audit.jsonl'),
    checkpoint: join(folder, 'state.json'),
    steps: join(folder, 'steps'),
  };
}

export function flightIds(stateDir: string): readonly string[] {
  const { flights } = statePaths(stateDir);
  if (!existsSync(flights)) return [];
  return readdirSync(flights)
    .filter((name) => ID.test(name) && begun(flightPaths(stateDir, name)))
    .sort();
}

/** A flight killed before its first entry was whole never was: nothing had been listed, nothing run. */
export function begun(paths: FlightPaths): boolean {
  const holds = (file: string) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (holds(paths.events) || holds(paths.checkpoint)) return true;
  return holds(paths.wal) && readFileSync(paths.wal).includes(10);
}

export function makeFlightFolder(paths: FlightPaths): void {
  mkdirSync(paths.steps, { recursive: true, mode: 0o700 });
}

/** Makes the names of a new flight durable; its content follows with each flush. */
export function syncNames(paths: FlightPaths): void {
  for (const folder of [paths.folder, dirname(paths.folder)]) {
    const fd = openSync(folder, 'r');
    fsyncSync(fd);
    closeSync(fd);
  }
}

/** How far a file had come: its lines, the last one's digest, and the digest of all its bytes. */
export interface Reach {
  readonly count: number;
  readonly head: string;
  readonly digest: string;
}

/** How far log and events had come, signed: nothing that was acknowledged can be taken away unnoticed. */
export interface Checkpoint {
  readonly wal: Reach;
  readonly audit: Reach;
  /** The catalogue has it. Flights from before there were lists do not say. */
  readonly listed?: boolean;
}

export function writeCheckpoint(
  paths: FlightPaths,
  at: Checkpoint,
  record: JsonObject,
  signer: Signer,
): void {
  const body = { checkpoint: at, key: signer.keyId, record };
  const signature = Buffer.from(signer.sign(Buffer.from(canonicalJson(body)))).toString('base64');
  const temporary = `${paths.checkpoint}.new`;
  const fd = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(fd, canonicalJson({ ...body, signature }));
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
  // A rename lost with the power leaves the older checkpoint, which recovery allows.
  renameSync(temporary, paths.checkpoint);
}

export function readCheckpoint(paths: FlightPaths, keys: PublicKeys): Checkpoint | string | null {
  const state = readState(paths, keys);
  return state === null || typeof state === 'string' ? state : state.checkpoint;
}

export interface SignedState {
  readonly checkpoint: Checkpoint;
  readonly record: JsonObject;
}

function readState(paths: FlightPaths, keys: PublicKeys): SignedState | string | null {
  if (!existsSync(paths.checkpoint)) return null;
  const parsed = parseJson(readFileSync(paths.checkpoint, 'utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value)) return 'state.json is not JSON';
  const { signature, ...body } = parsed.value;
  const pem = keys.get(String(body.key));
  if (pem === undefined) return 'state.json is signed with a key that is not known';
  if (!verifySignature(null, Buffer.from(canonicalJson(body)), pem, Buffer.from(String(signature), 'base64')))
    return 'state.json has a signature that is not valid';
  return body as unknown as SignedState;
}

/**
 * The stored WorkflowStateRecord with its checkpoint, when log and events are byte for byte what its signature
 * covers; null when they are to be read in full (a flight under way, after a crash, or changed by somebody).
 */
export function coveredState(paths: FlightPaths, keys: PublicKeys): SignedState | null {
  try {
    const state = readState(paths, keys);
    if (state === null || typeof state === 'string') return null;
    const { wal, audit } = state.checkpoint;
    const same =
      sha256(readFileSync(paths.wal)) === wal.digest && sha256(readFileSync(paths.events)) === audit.digest;
    return same ? state : null;
  } catch {
    return null;
  }
}

/** Covers more events while the log stays as the checkpoint knew it: for what is recorded about damage. */
export function coverEvents(
  paths: FlightPaths,
  audit: Checkpoint['audit'],
  keys: PublicKeys,
  signer: Signer,
): void {
  const before = readState(paths, keys);
  if (before === null || typeof before === 'string') return;
  writeCheckpoint(paths, { ...before.checkpoint, audit }, before.record, signer);
}

export interface LoadedFlight {
  readonly paths: FlightPaths;
  readonly wal: WalRead;
  readonly events: EventsRead;
  readonly record: FlightRecord;
  /** Its checkpoint says that the catalogue has it. */
  readonly listed: boolean;
  /** What a crash left: torn lines, entries without events. Empty after a clean end. */
  readonly leftovers: readonly string[];
}

export interface FlightFiles {
  readonly wal: WalRead;
  readonly events: EventsRead;
  /** What is wrong with it, when it cannot be believed. */
  readonly checkpoint: Checkpoint | string | null;
}

/** Read in the order opposite to writing: no file of a flight under way seems newer than what it vouches for. */
export function readFiles(paths: FlightPaths, keys: PublicKeys): FlightFiles {
  const checkpoint = readCheckpoint(paths, keys);
  const events = existsSync(paths.events) ? readEvents(paths.events, keys) : NO_EVENTS;
  const wal = existsSync(paths.wal) ? readWal(paths.wal, keys) : NO_ENTRIES;
  return { checkpoint, events, wal };
}

export function saysListed(checkpoint: FlightFiles['checkpoint']): boolean {
  return typeof checkpoint === 'object' && checkpoint?.listed === true;
}

/** Reads and checks everything; damage is an integrity error and nothing is touched. */
export function loadFlight(stateDir: string, flightId: string, keys: PublicKeys): LoadedFlight {
  const paths = flightPaths(stateDir, flightId);
  const { wal, events, checkpoint } = readFiles(paths, keys);
  if (wal.bad !== null) throw damaged(flightId, `wal.jsonl line ${wal.bad.line} ${wal.bad.what}`);
  if (events.bad !== null) throw damaged(flightId, `audit.jsonl line ${events.bad.line} ${events.bad.what}`);
  const contradiction = contradictionOf(wal, events, checkpoint);
  if (contradiction !== null) throw damaged(flightId, contradiction);
  const record = replay(wal.entries);
  if (typeof record === 'string') throw damaged(flightId, record);
  if (record.flightId !== flightId) throw damaged(flightId, `the log is of flight ${record.flightId}`);
  const leftovers = [
    ...(wal.torn === null ? [] : [`a torn last line of ${Buffer.byteLength(wal.torn)} bytes in wal.jsonl`]),
    ...(events.torn ? ['a torn last line in audit.jsonl'] : []),
    ...(events.walCount < wal.entries.length
      ? [`${wal.entries.length - events.walCount} log entries without an audit event`]
      : []),
  ];
  return { paths, wal, events, record, listed: saysListed(checkpoint), leftovers };
}

const NO_ENTRIES: WalRead = { entries: [], head: ZERO_DIGEST, goodBytes: 0, torn: null, bad: null };

export const NO_EVENTS: EventsRead = {
  count: 0,
  head: ZERO_DIGEST,
  goodBytes: 0,
  walCount: 0,
  torn: false,
  bad: null,
  events: [],
};

/** Log, events and checkpoint must tell the same story, up to what a crash may have cut off. */
export function contradictionOf(
  wal: WalRead,
  events: EventsRead,
  checkpoint: Checkpoint | string | null,
): string | null {
  if (typeof checkpoint === 'string') return checkpoint;
  if (events.walCount > wal.entries.length)
    return `wal.jsonl has ${wal.entries.length} entries, the audit events knew of ${events.walCount}`;
  if (checkpoint === null) return null;
  if (checkpoint.wal.count > wal.entries.length)
    return `wal.jsonl has ${wal.entries.length} entries, the checkpoint knew of ${checkpoint.wal.count}`;
  const at = checkpoint.wal.count === 0 ? undefined : wal.entries[checkpoint.wal.count - 1]?.checksum;
  if (at !== undefined && at !== checkpoint.wal.head)
    return 'wal.jsonl is not the log the checkpoint was made of';
  if (checkpoint.audit.count > events.count)
    return `audit.jsonl has ${events.count} events, the checkpoint knew of ${checkpoint.audit.count}`;
  return null;
}

export function damaged(flightId: string, what: string): WritError {
  return new WritError(CODES.integrity_broken, `flight ${flightId}: ${what}`, {
    suggestion: 'writ audit verify says which line; nothing has been changed or run',
    exit: EXIT.integrity,
    context: { flight_id: flightId },
  });
}

export function unknownFlight(flightId: string): WritError {
  return new WritError(CODES.invalid_input, `there is no flight ${flightId}`, {
    suggestion: 'writ flight list shows what there is',
    exit: EXIT.usage,
  });
}
