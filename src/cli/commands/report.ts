import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CODES, EXIT, systemClock, WritError } from '../../core/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { folders } from '../folders.ts';
import { dbPathOf, findRun, type RunFlags, runOptions, writePieces } from '../runs.ts';

interface Flags extends RunFlags {
  readonly format?: string;
  readonly out?: string;
}

export const define: DefineCommand = (command, cli) => {
  runOptions(command.argument('<run>', 'id of the run, or how it begins'))
    .option('--format <format>', 'console, json or html (default console, json with --json)')
    .option('-o, --out <file>', 'write the report there')
    .addHelpText(
      'after',
      '\nExamples:\n  writ report run_5b1e…\n  writ report run_5b1e… --format html -o run.html',
    )
    .action((id: string, flags: Flags) => reportCommand(cli, id, flags));
};

async function reportCommand(cli: Cli, id: string, flags: Flags): Promise<void> {
  const format = flags.format ?? (flags.json ? 'json' : 'console');
  const { consoleReport, htmlReport, jsonReport, openRunReader } = await import('../../runner/index.ts');
  const reader = openRunReader(dbPathOf(cli, flags, folders(cli, flags)));
  try {
    const run = findRun(reader, id);
    const pieces = () => {
      switch (format) {
        case 'console':
          return lines(consoleReport(reader, run, cli.style));
        case 'json':
          return jsonReport(reader, run, systemClock.now());
        case 'html':
          return [htmlReport(reader, run, systemClock.now())];
        default:
          throw new WritError(CODES.invalid_input, `there is no report format ${format}`, {
            suggestion: 'console, json or html',
            exit: EXIT.usage,
          });
      }
    };
    if (flags.out === undefined) return await writePieces(cli, pieces());
    const file = resolve(cli.cwd, flags.out);
    writeFileSync(file, [...pieces()].join(''), { mode: 0o600 });
    if (flags.json && format !== 'json') cli.json({ run_id: run.run_id, format, file });
    else if (!flags.json) cli.print(file);
  } finally {
    reader.close();
  }
}

function* lines(texts: Iterable<string>): Iterable<string> {
  for (const text of texts) yield `${text}\n`;
}
