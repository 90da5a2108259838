import { artifact, engine, Invalid } from './contract.ts';

/**
 * `command`: an exact list of argv with undo and preconditions, and a check afterwards.
 * The plan is made here; take-off is the shell's, which runs only what the plan holds.
 *
 * config: { commands: [ { argv: […], undo?: […], precondition?: […] } ], check?: […] }
 */
engine('writ/command', {
  plan: ({ config }, at) => {
    const { commands, check } = config;
    if (!Array.isArray(commands) || commands.length === 0)
      throw new Invalid('config.commands is not a list of commands');
    const plan = {
      commands: commands.map((c: Readonly<Record<string, unknown>>, i) => ({
        argv: words(c.argv, `commands.${i}.argv`),
        ...(c.undo === undefined ? {} : { undo: words(c.undo, `commands.${i}.undo`) }),
        ...(c.precondition === undefined
          ? {}
          : { precondition: words(c.precondition, `commands.${i}.precondition`) }),
      })),
      ...(check === undefined ? {} : { check: words(check, 'check') }),
    };
    const preconditions = plan.commands.flatMap((c) =>
      c.precondition === undefined ? [] : [c.precondition],
    );
    const lines = plan.commands.map((c) => c.argv.join(' ')).join('\n');
    return [
      artifact(
        at.artifacts,
        'commands',
        'state',
        {
          artifact_type: 'commands',
          action: 'execute',
          mime: 'application/json',
          metadata: { preconditions, lines },
        },
        JSON.stringify(plan),
      ),
    ];
  },
  takeOff: () => {
    throw new Error('commands are run by the shell');
  },
});

function words(value: unknown, what: string): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every((w) => typeof w === 'string' && w !== ''))
    throw new Invalid(`${what} is not a list of words`);
  return value as readonly string[];
}
