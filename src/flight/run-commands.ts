import { type CommandPlan, checksOf, mustFailFirst, type Reading, unlike, wordsOf } from './command-plan.ts';
import type { CommandRunner } from './deps.ts';

/**
 * The take-off of a `command` step, through the shell.
 *
 * CP1 Only argv that the plan holds are run: commands, their preconditions, their undo, the checks.
 * CP2 Every precondition holds before the first command runs; otherwise nothing is done. So does a check that
 *     is said to fail first and passes: what was to be mended is not there any more.
 * CP3 A command that fails stops the rest; what was done is undone in reverse, as far as the plan says how. So
 *     does a check that still fails afterwards.
 * CP4 What was undone is read again: the report says whether it is as it was.
 */
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
  const run = async (reading: Reading, what: string): Promise<string | null> => {
    const words = wordsOf(reading);
    const { exitCode, output, error } = await runner.run(words, {
      ...why,
      reasoning: `${why.reasoning}: ${what}`,
    });
    ran.push({ argv: words, exit_code: exitCode, what });
    const problem =
      error === null && exitCode === 0
        ? unlike(reading, output)
        : (error ?? `ended with exit code ${exitCode}`);
    return problem === null ? null : `${what} ${JSON.stringify(words.join(' '))} ${problem}`;
  };
  const end = (ok: boolean, reason: string): CommandsDone => ({ ok, reason, ran });

  for (const { precondition } of plan.commands) {
    const unmet = precondition === undefined ? null : await run(precondition, 'precondition');
    if (unmet !== null) return end(false, `${unmet}; nothing has been done`);
  }
  const checks = checksOf(plan);
  const failing = checks.filter(mustFailFirst);
  if (failing.length > 0) {
    const passing: string[] = [];
    for (const check of failing)
      if ((await run(check, 'check')) === null) passing.push(wordsOf(check).join(' '));
    if (passing.length === failing.length)
      return end(
        false,
        `${passing.join('; ')} passes already: there is nothing to mend; nothing has been done`,
      );
  }

  const done: CommandPlan['commands'] = [];
  const undo = async (reason: string): Promise<CommandsDone> => {
    const failed: string[] = [];
    for (const command of done.toReversed()) {
      const problem =
        command.undo === undefined
          ? `${command.argv.join(' ')} has no undo`
          : await run(command.undo, 'undo');
      if (problem !== null) failed.push(problem);
    }
    if (failed.length > 0) return end(false, `${reason}; not undone: ${failed.join('; ')}`);
    const differing: string[] = [];
    for (const { precondition } of done)
      if (saysWhat(precondition) && (await run(precondition, 'reading after undo')) !== null)
        differing.push(wordsOf(precondition).join(' '));
    const as = differing.length === 0 ? '' : `, but does not read as before: ${differing.join('; ')}`;
    return end(false, `${reason}; what was done has been undone${as}`);
  };
  for (const command of plan.commands) {
    // Counted as done before it runs: a command that fails may have done half.
    done.push(command);
    const problem = await run(command.argv, 'command');
    if (problem !== null) return undo(problem);
  }
  for (const check of checks) {
    const unfixed = await run(check, 'check');
    if (unfixed !== null) return undo(unfixed);
  }
  const checked = checks.length === 0 ? '' : checks.length === 1 ? ', the check passes' : ', the checks pass';
  return end(true, `${plan.commands.length} commands done${checked}`);
}

/** A reading that knows more than whether its command ends well. */
function saysWhat(reading: Reading | undefined): reading is Reading {
  return reading !== undefined && !Array.isArray(reading) && reading.equals !== undefined;
}
