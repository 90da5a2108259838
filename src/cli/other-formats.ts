import type { JournalFindings, OtherFormats, PublicKeys } from '../ledger/index.ts';

/** A format of another room that `audit verify` checks beside the journals: one entry each. */
interface Format {
  find(stateDir: string): Promise<readonly string[]>;
  examine(path: string, publicKeys: PublicKeys): Promise<JournalFindings>;
}

const FORMATS: readonly Format[] = [
  {
    find: async (stateDir) => (await import('../runner/index.ts')).findRunStores(stateDir),
    examine: async (path, publicKeys) => {
      const verdict = await (await import('../runner/index.ts')).verifyRunStore(path, { publicKeys });
      const { records: count } = verdict;
      return { base: path, verdicts: [verdict], id: null, listed: false, count, head: '', present: true };
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
