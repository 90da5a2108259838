/** The world files there are: those that come with Writ, and any folder or file a person names. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CODES, messageOf, WritError } from '../../core/index.ts';
import { loadWorld } from './load.ts';
import { remarks } from './remarks.ts';
import type { World } from './types.ts';

/** The folder `worlds` of the package: three up from here, in a checkout as in an installation. */
const SHIPPED = fileURLToPath(new URL('../../../worlds', import.meta.url));

export interface WorldSummary {
  readonly id: string;
  readonly title: string;
  readonly symptom: string;
  readonly file: string;
  /** Why the file cannot be used; null when it can. */
  readonly problem: string | null;
}

export function listWorlds(dir: string = SHIPPED): readonly WorldSummary[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => summary(join(dir, name)));
}

function summary(file: string): WorldSummary {
  try {
    const { id, title, symptom } = loadWorld(file);
    return { id, title, symptom, file, problem: null };
  } catch (error) {
    return {
      id: file.replace(/^.*\/|\.ya?ml$/g, ''),
      title: '',
      symptom: '',
      file,
      problem: messageOf(error),
    };
  }
}

/** A path as it is, or the id of a world that came along. */
export function worldFile(nameOrPath: string, dir: string = SHIPPED): string {
  if (existsSync(nameOrPath) && statSync(nameOrPath).isFile()) return nameOrPath;
  const candidates = [join(dir, `${nameOrPath}.yaml`), join(dir, `${nameOrPath}.yml`)];
  const found = /[/\\]/.test(nameOrPath) ? undefined : candidates.find((file) => existsSync(file));
  if (found !== undefined) return found;
  const byId = listWorlds(dir).find((w) => w.id === nameOrPath);
  if (byId) return byId.file;
  throw new WritError(CODES.invalid_input, `there is no world named ${nameOrPath}`, {
    suggestion: 'writ lab list shows the worlds; or give the path of a world file',
    exit: 2,
  });
}

export interface CheckedWorld {
  readonly world: World;
  /** Not wrong, but perhaps not meant. */
  readonly remarks: readonly string[];
}

/** Throws with place, reason and advice when the file is not a world. */
export function checkWorld(file: string): CheckedWorld {
  const world = loadWorld(file);
  return { world, remarks: remarks(world) };
}
