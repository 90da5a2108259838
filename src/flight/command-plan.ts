import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { canonicalJson, type Json } from '../core/index.ts';
import type { Artifact } from './artifacts.ts';
import type { ResolvedEngine } from './workflow.ts';

/** The plan of a `command` step: what will be run, what must be so before, how to go back, what must be so after. */
const json = z.json() as z.ZodType<Json>;
const argv = z.array(z.string().min(1).max(10_000)).min(1).max(1000);

/** A command that only looks. It holds when it ends with 0 and, where `equals` is given, prints exactly that. */
const reading = z.union([argv, z.strictObject({ argv, equals: json.optional() })]);
const check = z.union([
  argv,
  z.strictObject({
    argv,
    equals: json.optional(),
    /** The fault must still be there: a check that passes beforehand stops the take-off. */
    must_fail_first: z.boolean().optional(),
  }),
]);

export const commandPlan = z.strictObject({
  commands: z
    .array(z.strictObject({ argv, undo: argv.optional(), precondition: reading.optional() }))
    .min(1)
    .max(100),
  check: check.optional(),
  checks: z.array(check).max(100).optional(),
});
export type CommandPlan = z.infer<typeof commandPlan>;
export type Reading = z.infer<typeof reading>;
type Check = z.infer<typeof check>;

export const COMMAND_ARTIFACT = 'commands';

export function readCommandPlan(artifacts: readonly Artifact[]): CommandPlan | string {
  const found = artifacts.find((a) => a.name === COMMAND_ARTIFACT);
  if (found?.bodyPath == null) return `there is no artifact ${COMMAND_ARTIFACT}`;
  try {
    return commandPlan.parse(JSON.parse(readFileSync(found.bodyPath, 'utf8')));
  } catch {
    return `the artifact ${COMMAND_ARTIFACT} is not a list of commands`;
  }
}

export function checksOf(plan: CommandPlan): readonly Check[] {
  return [...(plan.check === undefined ? [] : [plan.check]), ...(plan.checks ?? [])];
}

export function wordsOf(reading: Reading | Check): readonly string[] {
  return Array.isArray(reading) ? reading : reading.argv;
}

export function mustFailFirst(given: Check): boolean {
  return !Array.isArray(given) && given.must_fail_first === true;
}

/** Why what was printed is not what the reading wants, or null. Output that is JSON is compared as JSON. */
export function unlike(reading: Reading | Check, stdout: string): string | null {
  if (Array.isArray(reading) || reading.equals === undefined) return null;
  const printed = readPrinted(stdout);
  if (canonicalJson(printed) === canonicalJson(reading.equals)) return null;
  return `answers ${brief(printed)} where ${brief(reading.equals)} is expected`;
}

/** What a command printed: a JSON document, or a text. */
export function readPrinted(stdout: string): Json {
  const text = stdout.trim();
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function brief(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Every argv a take-off may run, for the judges; none for other engines. A plan that cannot be read denies. */
export function commandsOf(
  engine: ResolvedEngine,
  artifacts: readonly Artifact[],
): readonly (readonly string[])[] {
  if (engine.kind !== 'builtin' || engine.name !== 'command') return [];
  const plan = readCommandPlan(artifacts);
  if (typeof plan === 'string') throw new Error(plan);
  return [
    ...plan.commands.flatMap((c) => [
      c.argv,
      ...(c.undo ? [c.undo] : []),
      ...(c.precondition ? [wordsOf(c.precondition)] : []),
    ]),
    ...checksOf(plan).map(wordsOf),
  ];
}
