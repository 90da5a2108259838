import { dirname, join, resolve } from 'node:path';
import { ZERO_DIGEST } from '../../core/index.ts';
import type { FileVerdict } from '../types.ts';
import { checkpointName, journalsIn as namesIn } from './names.ts';
import { diskEvidence, type Evidence } from './source.ts';
import type { VerifyOptions } from './verify-file.ts';
import { type JournalFindings, verifyJournal } from './verify-journal.ts';

/** What a catalogue remembers of one journal. */
interface Remembered {
  readonly id: string;
  readonly base: string;
  readonly count: number;
  readonly head: string;
  /** Somebody said that it may be missing. */
  readonly retired: boolean;
  /** Another journal stood here before and was not retired. */
  readonly replaced: boolean;
}

/** Files in formats of other rooms: they lie among journals, and the catalogue may list them too. */
export interface OtherFormats {
  find(): Promise<readonly string[]>;
  examine(path: string): Promise<JournalFindings>;
}

const NO_OTHERS: OtherFormats = {
  find: async () => [],
  examine: (path) => Promise.reject(new Error(`${path} is in no other format`)),
};

/**
 * Everything under some folders, and everything the catalogue knows of, wherever it lies.
 *
 * A journal that is gone with its checkpoint is missed by the catalogue; one that was put back to an earlier
 * state has fewer records than the catalogue remembers; one that stands in another's place has another id.
 * A catalogue that is gone is missed by the journals, whose signed checkpoints say that they were listed.
 */
export async function verifyState(
  catalog: string,
  dirs: readonly string[],
  options: VerifyOptions,
  formats: OtherFormats = NO_OTHERS,
): Promise<readonly FileVerdict[]> {
  const evidence = options.evidence ?? diskEvidence;
  let own = await verifyJournal(catalog, options);
  const remembered = recall(evidence, catalog, own);
  // After the catalogue: what it lists was there before, and what is begun meanwhile is not missed.
  const others = new Set(await formats.find());
  const bases = new Set([...dirs.flatMap((dir) => namesIn(evidence, dir)), ...remembered.keys(), ...others]);
  bases.delete(catalog);
  const verdicts: FileVerdict[] = [];
  let unlisted: string[] = [];
  for (const base of [...bases].sort()) {
    const found = await (others.has(base) ? formats.examine(base) : verifyJournal(base, options));
    const memory = remembered.get(base);
    verdicts.push(...(memory ? compare(found, memory) : found.verdicts));
    if (!memory && found.listed) unlisted.push(base);
  }
  if (unlisted.length > 0) {
    // Perhaps it was listed while we were reading.
    own = await verifyJournal(catalog, options);
    const now = recall(evidence, catalog, own);
    unlisted = unlisted.filter((base) => !now.has(base));
  }
  return [...catalogVerdicts(catalog, own, unlisted), ...verdicts];
}

function catalogVerdicts(
  catalog: string,
  own: JournalFindings,
  unlisted: readonly string[],
): readonly FileVerdict[] {
  const [first] = unlisted;
  if (first === undefined) return own.present || own.id !== null ? own.verdicts : [];
  const what = `the catalogue does not list ${first}${unlisted.length > 1 ? ` and ${unlisted.length - 1} more` : ''}, which was listed once`;
  const records = own.verdicts.reduce((sum, verdict) => sum + verdict.records, 0);
  const first_bad = { line: records + 1, sequence: records + 1, byte: 0, what };
  return [
    { path: catalog, status: 'incomplete', records, first_bad, notes: [] },
    ...own.verdicts.filter((v) => v.status === 'tampered'),
  ];
}

/** The last word on each journal. Only believed as far as the catalogue's own chain is good. */
function recall(evidence: Evidence, catalog: string, own: JournalFindings): ReadonlyMap<string, Remembered> {
  const journals = new Map<string, Remembered>();
  for (const { path, records } of own.verdicts) {
    for (const line of goodLines(evidence, path, records)) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      if (typeof entry.path !== 'string') continue;
      const base = resolve(dirname(catalog), entry.path);
      const next = note(entry, base, journals.get(base));
      if (next) journals.set(base, next);
    }
  }
  return journals;
}

function note(
  entry: Record<string, unknown>,
  base: string,
  known: Remembered | undefined,
): Remembered | null {
  const id = String(entry.journal);
  const fresh = { id, base, count: 0, head: ZERO_DIGEST, retired: false, replaced: false };
  switch (entry.event) {
    case 'opened':
      if (!known || known.retired) return fresh;
      return known.id === id ? known : { ...fresh, replaced: true };
    case 'closed':
      return { ...(known ?? fresh), id, count: Number(entry.count), head: String(entry.head) };
    case 'retired':
      return known ? { ...known, retired: true } : null;
    default:
      return null;
  }
}

/** The lines that were found good, without holding the file. */
function* goodLines(evidence: Evidence, path: string, records: number): Generator<string> {
  const source = records > 0 ? evidence.open(path) : null;
  if (!source) return;
  try {
    let rest = Buffer.alloc(0);
    for (let position = 0, left = records; left > 0; ) {
      const chunk = Buffer.alloc(256 * 1024);
      const n = source.read(chunk, position);
      if (n === 0) return;
      position += n;
      rest = Buffer.concat([rest, chunk.subarray(0, n)]);
      let from = 0;
      for (let end = rest.indexOf(10); end !== -1 && left > 0; end = rest.indexOf(10, from), left--) {
        yield rest.toString('utf8', from, end);
        from = end + 1;
      }
      rest = rest.subarray(from);
    }
  } finally {
    source.close();
  }
}

function compare(found: JournalFindings, memory: Remembered): readonly FileVerdict[] {
  const [first, ...rest] = found.verdicts;
  if (!first || (memory.retired && !found.present)) return [];
  if (memory.replaced) {
    const what = 'the catalogue listed another journal here before, which was never retired';
    return [{ ...first, status: 'tampered', first_bad: { line: 1, sequence: null, byte: 0, what } }, ...rest];
  }
  if (found.id !== null && found.id !== memory.id) {
    const what = 'another journal stands in the place of the one the catalogue lists';
    return [{ ...first, status: 'tampered', first_bad: { line: 1, sequence: null, byte: 0, what } }, ...rest];
  }
  const last = found.verdicts.at(-1) ?? first;
  if (found.verdicts.some((verdict) => verdict.status === 'tampered')) return found.verdicts;
  if (found.count < memory.count) {
    const what = `records ${found.count + 1} to ${memory.count} are missing: the catalogue remembers ${memory.count}`;
    const first_bad = { line: last.records + 1, sequence: found.count + 1, byte: 0, what };
    return [...found.verdicts.slice(0, -1), { ...last, status: 'incomplete', first_bad }];
  }
  if (found.count === memory.count && memory.count > 0 && found.head !== memory.head) {
    const what = `record ${memory.count} is not the one the catalogue remembers`;
    return [{ ...first, status: 'tampered', first_bad: { line: 1, sequence: null, byte: 0, what } }, ...rest];
  }
  return found.verdicts;
}

/** Named journals and what the catalogue remembers of each; null for one nobody has ever heard of. */
export async function verifyNamed(
  catalog: string,
  paths: readonly string[],
  options: VerifyOptions,
  formats: OtherFormats = NO_OTHERS,
): Promise<readonly (readonly FileVerdict[] | null)[]> {
  const evidence = options.evidence ?? diskEvidence;
  const remembered = recall(evidence, catalog, await verifyJournal(catalog, options));
  const others = new Set(await formats.find());
  const answers: (readonly FileVerdict[] | null)[] = [];
  for (const path of paths.map((path) => resolve(path))) {
    const found = await (others.has(path) ? formats.examine(path) : verifyJournal(path, options));
    const memory = remembered.get(found.base);
    const unknown = !memory && !found.present && !evidence.exists(checkpointName(found.base));
    answers.push(unknown ? null : memory ? compare(found, memory) : found.verdicts);
  }
  return answers;
}

/** First segments of the journals in a folder on disk. */
export function journalsIn(dir: string): readonly string[] {
  return namesIn(diskEvidence, resolve(dir));
}

/** Where journals lie that nobody named. */
export function usualDirs(stateDir: string, auditDir: string): readonly string[] {
  return [resolve(auditDir), join(resolve(stateDir), 'ledger')];
}
