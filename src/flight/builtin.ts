import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { resolveProgram } from '../sandbox/index.ts';

/** Engines that come with us. Each is a program of its own in `engines/`, launched like any other. */
export const BUILTIN_ENGINES = ['files', 'git', 'command', 'terraform'] as const;
export type BuiltinEngine = (typeof BUILTIN_ENGINES)[number];

/** The program meant: what the step names, else terraform, else tofu. */
export function terraformProgram(folder: string, named: unknown): string | undefined {
  if (typeof named !== 'string') return resolveProgram('terraform') ?? resolveProgram('tofu');
  if (!named.includes('/')) return resolveProgram(named);
  const file = resolve(folder, named);
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? realpathSync(file) : undefined;
}
