import { dirname, join, relative, resolve } from 'node:path';
import { statePaths } from './ledger.ts';
import { loadPublicKeys } from './signer.ts';
import type { PublicKeys } from './types.ts';

/** Keys to check a file with, and where they were found. */
export interface FoundKeys {
  readonly publicKeys: PublicKeys;
  readonly from: string;
  /** True for keys that lie with the evidence, not with us. */
  readonly borrowed: boolean;
}

const MAX_STEPS = 8;

/**
 * The keys of the state folder. For a file of another project, or when there are none, those that lie with
 * it: `keys` or `.writ/keys` in a folder above. Whoever could replace the journal could replace keys found
 * so: callers say where they were found, and a key can be named instead. A file of our own project is never
 * judged by keys that merely lie beside it while we have ours.
 */
export function findKeys(file: string, stateDir: string, auditDir: string): FoundKeys {
  const { keys: from } = statePaths(stateDir);
  const publicKeys = loadPublicKeys(from);
  const ours = [dirname(resolve(stateDir)), resolve(auditDir)].some((dir) => inside(dir, resolve(file)));
  if (publicKeys.size > 0 && ours) return { publicKeys, from, borrowed: false };
  const nearby = keysNear(file);
  if (!nearby) return { publicKeys, from, borrowed: false };
  return { publicKeys: new Map([...nearby.publicKeys, ...publicKeys]), from: nearby.from, borrowed: true };
}

function keysNear(file: string): { readonly publicKeys: PublicKeys; readonly from: string } | null {
  let dir = dirname(resolve(file));
  for (let step = 0; step < MAX_STEPS; step++) {
    for (const from of [join(dir, 'keys'), join(dir, '.writ', 'keys')]) {
      const publicKeys = loadLeniently(from);
      if (publicKeys.size > 0) return { publicKeys, from };
    }
    if (dirname(dir) === dir) return null;
    dir = dirname(dir);
  }
  return null;
}

/** A folder that happens to be called `keys` may hold anything. */
function loadLeniently(dir: string): PublicKeys {
  try {
    return loadPublicKeys(dir);
  } catch {
    return new Map();
  }
}

function inside(dir: string, file: string): boolean {
  const way = relative(dir, file);
  return way !== '' && !way.startsWith('..') && !way.startsWith('/');
}
