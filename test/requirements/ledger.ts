import type { Requirement } from './requirement.ts';

const met = (id: string, source: string, text: string): Requirement => ({ id, source, text, state: 'met' });

export const requirements: readonly Requirement[] = [
  met(
    'LED-01',
    'overview.md The spine',
    'A record is one line of canonical JSON whose last member is the SHA-256 of the bytes before it.',
  ),
  met(
    'LED-02',
    'engineering.md Habits: what is persisted is frozen',
    'The record and checkpoint formats are held by golden files; a spoiled golden file fails.',
  ),
  met(
    'LED-03',
    'shell.md Record',
    'Records are chained from sequence 1 with the entry at top level; entries that cannot be recorded faithfully are refused.',
  ),
  met(
    'LED-04',
    'toolchain.md Durable writes',
    'Appends that meet share a flush, or each has its own; nothing is acknowledged before it is on disk and signed for.',
  ),
  met(
    'LED-05',
    'engineering.md Durability',
    'A journal has one writer at a time; a second one is told who holds it and what to do; a dead holder blocks nobody.',
  ),
  met(
    'LED-06',
    'engineering.md Durability',
    'A failed write or flush, or a file changed under the writer, stops the journal for good; no record is lost silently; memory is bounded.',
  ),
  met(
    'LED-07',
    'flight.md WAL and recovery',
    'A torn last line is the one tolerated damage: kept aside, recorded, reported; records not yet signed for are taken over and counted.',
  ),
  met(
    'LED-08',
    'flight.md WAL and recovery',
    'Any other damage refuses to open with file, place and what to do; nothing is changed or truncated.',
  ),
  met(
    'LED-09',
    'overview.md On disk',
    'Journals with unsafe names, behind links or in folders others can write are refused.',
  ),
  met(
    'LED-10',
    'overview.md Command line: audit verify',
    'A change of any single byte of a journal or its checkpoint is detected, at or before its place.',
  ),
  met(
    'LED-11',
    'overview.md Command line: audit verify',
    'A removed, repeated, added, moved or swapped record is detected, at or before its place.',
  ),
  met(
    'LED-12',
    'overview.md Command line: audit verify',
    'A cut tail is detected against the checkpoint, at any byte; so is a chain rewritten with right hashes.',
  ),
  met(
    'LED-13',
    'overview.md Command line: audit verify',
    'A journal swapped with another or renamed is detected.',
  ),
  met(
    'LED-14',
    'overview.md Command line: audit verify',
    'Without a trusted signature of the end the answer is not_established, never intact.',
  ),
  met(
    'LED-15',
    'overview.md Command line: audit verify',
    'A torn last line is incomplete; an empty signed journal is intact.',
  ),
  met(
    'LED-16',
    'overview.md Ledger',
    'Rotation continues the chain in a next segment; a missing, emptied or foreign segment is detected.',
  ),
  met('LED-17', 'overview.md Ledger', 'A journal can be verified while it is being written.'),
  met(
    'LED-18',
    'engineering.md Habits: unknown is unproven',
    'The verifier judges hostile files with bounded memory and never calls them intact.',
  ),
  met(
    'LED-20',
    'engineering.md Habits: fault at every step',
    'With the disk failing at any call n, nothing acknowledged is lost, nothing is tampered, and opening again settles it.',
  ),
  met(
    'LED-21',
    'overview.md Ledger',
    'Random kill -9 of a process appending intents and outcomes loses nothing that was acknowledged.',
  ),
  met(
    'LED-22',
    'overview.md Command line: audit verify',
    'A removed whole file, a journal put back to an earlier state, and a removed catalogue are detected.',
  ),
  met(
    'LED-30',
    'flight.md Audit events',
    'Signing keys are Ed25519, 0600 in a 0700 folder; a key others can read, or that is none, is refused with what to do.',
  ),
  met(
    'LED-31',
    'overview.md On disk',
    'A state folder is made 0700 and refused when another user can write it, with what to type.',
  ),
  met(
    'LED-40',
    'overview.md Rooms: ledger',
    'SQLite is WAL, flushed at each commit, 0600, with transactional migrations by room; a newer schema is refused.',
  ),
  met(
    'LED-41',
    'engineering.md Errors by what the caller does next',
    'A locked, full, unreadable or unsound database is a coded error that says what to do.',
  ),
  met(
    'LED-50',
    'overview.md Rooms: ghost, console',
    'Readers have a door of their own that streams with bounded memory and reports damage instead of failing.',
  ),
  met(
    'LED-51',
    'overview.md The spine',
    'An intent is durable before its effect may start; an intent without an outcome is unknown and listed.',
  ),
  met(
    'LED-60',
    'overview.md Command line: audit verify',
    'verify prints status, files, records and first bad place; anything but intact exits 5; a missing file is an error; with no file everything known is checked.',
  ),
  met(
    'LED-61',
    'overview.md Command line: audit verify',
    'Signatures count by known keys; keys that merely lie beside a file of our own project do not.',
  ),
  met(
    'LED-62',
    'overview.md Command line: audit show',
    'show prints records with nothing in them that can steer a terminal.',
  ),
  met(
    'LED-63',
    'overview.md Command line: audit export',
    'export makes one file that can be verified elsewhere; changes, cuts and removed files show.',
  ),
  met('LED-64', 'overview.md Command line', 'Every audit command has help with an example.'),
  {
    id: 'LED-70',
    source: 'scale.md Store and ledger: PostgreSQL',
    text: 'The ledger can live in PostgreSQL, appends linearised by the database, moved there with its chain intact.',
    state: 'open',
  },
];
