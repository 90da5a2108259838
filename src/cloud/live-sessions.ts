import { join } from 'node:path';
import { journalInUse } from '../ledger/index.ts';
import { listNames } from './files.ts';
import { REGISTRY_FILE } from './registry.ts';

/** Sessions whose registry a living process holds: their tasks are in hand. */
export function liveSessions(taskDir: string): ReadonlySet<string> {
  const live = new Set<string>();
  for (const name of listNames(taskDir)) {
    const session = REGISTRY_FILE.exec(name)?.[1];
    if (session !== undefined && journalInUse(join(taskDir, name))) live.add(session);
  }
  return live;
}
