import { Command, CommanderError } from 'commander';
import { CODES, EXIT, fileError, WritError } from '../core/index.ts';
import { type Cli, processCli } from './cli.ts';
import { COMMANDS } from './table.ts';
import { VERSION } from './version.ts';

const AFTER_HELP = `
Exit codes: 0 done · 1 failed · 2 usage or invalid input · 3 denied by policy · 4 waiting for approval · 5 integrity broken
Start here: writ doctor          Every command explains itself: writ <command> --help`;

export async function main(argv: readonly string[], cli: Cli = processCli()): Promise<number> {
  const program = new Command('writ')
    .description('A governed runtime for AI agents: nothing an agent asks for happens without a writ.')
    .version(VERSION, '-V, --version')
    .addHelpText('after', AFTER_HELP)
    .showHelpAfterError('(writ --help lists the commands)')
    .showSuggestionAfterError()
    .exitOverride();
  program.configureOutput({
    writeOut: (text) => cli.stdout.write(text),
    writeErr: (text) => cli.stderr.write(text),
  });
  const wanted = argv.find((word) => !word.startsWith('-'));
  for (const entry of COMMANDS) {
    const command = program
      .command(entry.name)
      .description(entry.summary)
      .exitOverride()
      .copyInheritedSettings(program);
    // Only the command that was called is loaded: start-up time is a feature.
    if (entry.name === wanted) (await entry.load()).define(command, cli);
  }
  try {
    await program.parseAsync(argv as string[], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    return report(error, argv, cli);
  }
}

/** Every error ends here: people get a sentence and what to do, scripts get one JSON document. */
function report(thrown: unknown, argv: readonly string[], cli: Cli): number {
  const error = fileError(thrown);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    // Commander has told the person already.
    const message = error.message.replace(/^error: /, '');
    const suggestion = 'writ --help lists the commands';
    if (argv.includes('--json'))
      cli.json({ error: new WritError(CODES.invalid_input, message, { suggestion }).toJSON() });
    return EXIT.usage;
  }
  if (error instanceof WritError) {
    if (argv.includes('--json')) cli.json({ error: error.toJSON() });
    cli.note(`${cli.style.red('error')} ${error.code}: ${error.message}`);
    if (error.suggestion) cli.note(`  ${cli.style.cyan('try')}: ${error.suggestion}`);
    return error.exit;
  }
  const text = error instanceof Error ? error.message : String(error);
  if (argv.includes('--json'))
    cli.json({ error: { code: 0, family: 'Internal', message: text, suggestion: null, context: {} } });
  cli.note(`${cli.style.red('error')}: ${text}`);
  if (error instanceof Error && cli.env.WRIT_DEBUG) cli.note(String(error.stack));
  return EXIT.failed;
}
