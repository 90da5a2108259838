import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Artifact } from './artifacts.ts';
import type { CommandRunner } from './deps.ts';
import type { ResolvedEngine } from './workflow.ts';

/**
 * The plan of a `command` step, and its take-off through the shell.
 *
 * CP1 Only argv that the plan holds are run: commands, their preconditions, their undo, the check.
 * CP2 A precondition or a command that fails stops the rest; what was done is undone in reverse, as far as
 *     the plan says how. So does a check that still fails afterwards.
 */
const argv = z.array(z.string().min(1).max(10_000)).min(1).max(1000);
export const commandPlan = z.strictObject({
  commands: z
    .array(z.strictObject({ argv, undo: argv.optional(), precondition: argv.optional() }))
    .min(1)
    .max(100),
  check: argv.optional(),
});
export type CommandPlan = z.infer<typeof commandPlan>;

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
      ...(c.precondition ? [c.precondition] : []),
    ]),
    ...(plan.check ? [plan.check] : []),
  ];
}

export interface CommandsDone {
  readonly ok: boolean;
  readonly reason: string;
  readonly ran: readonly {
    readonly argv: readonly string[];
    readonly exit_code: number | null;
    readonly what: string;
  }[];
}

export async function runCommands(
  plan: CommandPlan,
  runner: CommandRunner,
  why: { readonly reasoning: string; readonly approver: string },
): Promise<CommandsDone> {
  const ran: CommandsDone['ran'][number][] = [];
  const run = async (words: readonly string[], what: string) => {
    const { exitCode, error } = await runner.run(words, { ...why, reasoning: `${why.reasoning}: ${what}` });
    ran.push({ argv: words, exit_code: exitCode, what });
    return error === null && exitCode === 0
      ? null
      : `${what} ${JSON.stringify(words.join(' '))} ${error ?? `ended with exit code ${exitCode}`}`;
  };
  const done: CommandPlan['commands'] = [];
  const undo = async (reason: string): Promise<CommandsDone> => {
    const failed: string[] = [];
    for (const command of done.reverse()) {
      if (command.undo === undefined) failed.push(`${command.argv.join(' ')} has no undo`);
      else {
        const problem = await run(command.undo, 'undo');
        if (problem !== null) failed.push(problem);
      }
    }
    const end =
      done.length === 0
        ? 'nothing had been done'
        : failed.length === 0
          ? 'what was done has been undone'
          : `not undone: ${failed.join('; ')}`;
    return { ok: false, reason: `${reason}; ${end}`, ran };
  };
  for (const command of plan.commands) {
    const unmet = command.precondition === undefined ? null : await run(command.precondition, 'precondition');
    if (unmet !== null) return undo(unmet);
    // Counted as done before it runs: a command that fails may have done half.
    done.push(command);
    const problem = await run(command.argv, 'command');
    if (problem !== null) return undo(problem);
  }
  const unfixed = plan.check === undefined ? null : await run(plan.check, 'check');
  if (unfixed !== null) return undo(unfixed);
  return {
    ok: true,
    reason: `${plan.commands.length} commands done${plan.check ? ', the check passes' : ''}`,
    ran,
  };
}
