import { artifact, engine, Invalid, onlyKeys } from './contract.ts';

/**
 * `command`: an exact list of argv with undo and preconditions, and checks afterwards.
 * The plan is made here; take-off is the shell's, which runs only what the plan holds.
 *
 * config: { commands: [ { argv: […], undo?: […], precondition?: READING } ], check?: READING, checks?: [READING] }
 * READING: argv, or { argv: […], equals: JSON }; of a check also { must_fail_first: true }
 */
const CHECK_KEYS = ['argv', 'equals', 'must_fail_first'];

engine('writ/command', {
  plan: ({ config }, at) => {
    const { commands, check, checks } = config;
    if (!Array.isArray(commands) || commands.length === 0)
      throw new Invalid('config.commands is not a list of commands');
    if (checks !== undefined && !Array.isArray(checks))
      throw new Invalid('config.checks is not a list of checks');
    onlyKeys(config, ['commands', 'check', 'checks'], 'config');
    const plan = {
      commands: commands.map((given: unknown, i) => {
        const c = map(given, `commands.${i}`);
        onlyKeys(c, ['argv', 'undo', 'precondition'], `commands.${i}`);
        return {
          argv: words(c.argv, `commands.${i}.argv`),
          ...(c.undo === undefined ? {} : { undo: words(c.undo, `commands.${i}.undo`) }),
          ...(c.precondition === undefined
            ? {}
            : { precondition: reading(c.precondition, `commands.${i}.precondition`, ['argv', 'equals']) }),
        };
      }),
      ...(check === undefined ? {} : { check: reading(check, 'check', CHECK_KEYS) }),
      ...(checks === undefined
        ? {}
        : { checks: checks.map((c, i) => reading(c, `checks.${i}`, CHECK_KEYS)) }),
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

function reading(value: unknown, what: string, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return words(value, what);
  const given = map(value, what);
  onlyKeys(given, keys, what);
  return { ...given, argv: words(given.argv, `${what}.argv`) };
}

function map(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Invalid(`${what} is not a list of words or a map`);
  return value as Readonly<Record<string, unknown>>;
}

function words(value: unknown, what: string): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every((w) => typeof w === 'string' && w !== ''))
    throw new Invalid(`${what} is not a list of words`);
  return value as readonly string[];
}
