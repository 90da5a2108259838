import { systemClock } from '../core/index.ts';
import type { JournalFindings, Ledger, OtherFormats, PublicKeys } from '../ledger/index.ts';

/** A format of another room that `audit verify` checks beside the journals: one entry each. */
interface Format {
  find(stateDir: string): Promise<readonly string[]>;
  examine(path: string, publicKeys: PublicKeys): Promise<JournalFindings>;
  /** Says that a file may be missing from now on; left out where the catalogue is told. */
  retire?(ledger: Ledger, path: string, reason: string, by: string): Promise<void>;
}

const FORMATS: readonly Format[] = [
  {
    find: async (stateDir) => (await import('../runner/index.ts')).findRunStores(stateDir),
    examine: async (path, publicKeys) => {
      const verdict = await (await import('../runner/index.ts')).verifyRunStore(path, { publicKeys });
      const { records: count } = verdict;
      return { base: path, verdicts: [verdict], id: null, listed: false, count, head: '', present: true };
    },
    retire: async (ledger, path, reason, by) => {
      const { retireRunStore } = await import('../runner/index.ts');
      await retireRunStore({ dbPath: path, ledger, clock: systemClock }, reason, by);
    },
  },
  {
    find: async (stateDir) => (await import('../flight/index.ts')).findFlightFiles(stateDir),
    examine: async (path, keys) => (await import('../flight/index.ts')).verifyFlightFile(path, keys),
  },
];

/** What lies in a state folder in formats of other rooms. */
export function otherFormats(stateDir: string, publicKeys: PublicKeys): OtherFormats {
  const owners = new Map<string, Format>();
  return {
    find: async () => {
      for (const format of FORMATS) for (const path of await format.find(stateDir)) owners.set(path, format);
      return [...owners.keys()];
    },
    examine: async (path) => {
      const owner = owners.get(path);
      if (owner === undefined) throw new Error(`${path} is in no format known here`);
      return owner.examine(path, publicKeys);
    },
  };
}

/** Lets a file go: by the room that knows it, or by the catalogue. */
export async function retireFile(ledger: Ledger, path: string, reason: string, by: string): Promise<void> {
  for (const format of FORMATS)
    if (format.retire && (await format.find(ledger.stateDir)).includes(path))
      return format.retire(ledger, path, reason, by);
  await ledger.catalog.retire(path, reason, by);
}
