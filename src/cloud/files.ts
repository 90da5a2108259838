import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The little the orchestrator looks at on disk. It writes nothing here itself but its folders. */
export function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

export function ensureFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

export function fileExists(path: string): boolean {
  return existsSync(path);
}

/** Files of ours in a folder that were last written before a moment. */
export function filesOlderThan(folder: string, prefix: string, before: Date): readonly string[] {
  return listNames(folder)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(folder, name))
    .filter((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat?.isFile() === true && stat.mtime < before;
    });
}
