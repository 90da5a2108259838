import { globSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Requirement } from './requirements/requirement.ts';

export type { Requirement } from './requirements/requirement.ts';

/** Every *must* of the specification, gathered from the rooms' own lists. */
export const requirements: readonly Requirement[] = (await Promise.all(lists().map(load))).flat();

function lists(): string[] {
  const folder = fileURLToPath(new URL('./requirements/', import.meta.url));
  return globSync(`${folder}*.ts`)
    .filter((file) => !file.endsWith('requirement.ts'))
    .sort();
}

async function load(file: string): Promise<readonly Requirement[]> {
  const module = (await import(pathToFileURL(file).href)) as { requirements: readonly Requirement[] };
  return module.requirements;
}
