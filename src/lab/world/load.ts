import { readFileSync } from 'node:fs';
import { readDocument } from '../../core/document.ts';
import { CODES, invalid, messageOf, WritError } from '../../core/index.ts';
import { contradictions } from './check.ts';
import { complete } from './complete.ts';
import { applyJsonPatch } from './patch.ts';
import { type WorldDocument, worldSchema } from './schema.ts';
import type { World } from './types.ts';

/** Reads a world file; refuses it with file, line, column, reason and what to write. */
export function loadWorld(file: string): World {
  return parseWorld(readWorldText(file), file);
}

export function readWorldText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new WritError(CODES.invalid_input, `${file}: ${messageOf(error)}`, {
      suggestion: 'give the path of a world file (writ lab list shows those that come with Writ)',
      exit: 2,
    });
  }
}

export function parseWorld(text: string, file: string): World {
  const { value, place } = readDocument<WorldDocument>(text, worldSchema, {
    file,
    code: CODES.invalid_input,
  });
  const world = complete(value);
  const refuse = (path: readonly (string | number)[], message: string, suggestion: string) =>
    invalid(CODES.invalid_input, { file, ...place(path) }, message, suggestion);
  const first = contradictions(world)[0];
  if (first) throw refuse(first.path, first.message, first.suggestion);
  checkChanges(value, world, refuse);
  return world;
}

/** Every change must apply to the world as it is by then, and leave a world that is right. */
function checkChanges(
  document: WorldDocument,
  world: World,
  refuse: (path: readonly (string | number)[], message: string, suggestion: string) => WritError,
): void {
  let current = world;
  for (const { patch } of world.faults_over_time) {
    const i = document.faults_over_time?.findIndex((change) => change.patch === patch) ?? 0;
    const at = ['faults_over_time', i, 'patch'] as const;
    const copy = structuredClone(current);
    const failed = applyJsonPatch(copy, patch);
    if (failed)
      throw refuse(at, `the patch does not apply: ${failed.message}`, 'check its paths: lists count from 0');
    const parsed = worldSchema.safeParse(copy);
    const issue = parsed.error?.issues[0];
    if (!parsed.success)
      throw refuse(
        at,
        `after the patch ${issue?.path.join('.')}: ${issue?.message}`,
        'correct the value in the patch',
      );
    current = complete(parsed.data);
    const wrong = contradictions(current)[0];
    if (wrong)
      throw refuse(at, `after the patch ${wrong.path.join('.')}: ${wrong.message}`, wrong.suggestion);
  }
}
