import type { Cli, DefineCommand } from '../cli.ts';
import { folders } from '../folders.ts';
import { dbPathOf, findRun, type RunFlags, runOptions, writePieces } from '../runs.ts';

export const define: DefineCommand = (command, cli) => {
  runOptions(command.argument('<run>', 'id of the run, or how it begins'))
    .addHelpText('after', '\nExample:\n  writ show-run run_5b1e… --json')
    .action((id: string, flags: RunFlags) => showCommand(cli, id, flags));
};

async function showCommand(cli: Cli, id: string, flags: RunFlags): Promise<void> {
  const { consoleReport, openRunReader, runDocumentText, stepDocuments } = await import(
    '../../runner/index.ts'
  );
  const reader = openRunReader(dbPathOf(cli, flags, folders(cli, flags)));
  try {
    const run = findRun(reader, id);
    if (flags.json) {
      const { plan_json, policy_json, run_id: _id, ...meta } = run;
      const extra = {
        ...meta,
        plan: JSON.parse(plan_json),
        policy: JSON.parse(policy_json),
        events: reader.events(run.run_id).map(({ event, at, detail }) => ({ event, at, detail })),
      };
      return await writePieces(cli, runDocumentText(reader, run, extra));
    }
    for (const line of consoleReport(reader, run, cli.style)) cli.print(line);
    if (!flags.verbose) return;
    for (const { record: _record, ...step } of stepDocuments(reader, run))
      cli.print(JSON.stringify(step, null, 2));
  } finally {
    reader.close();
  }
}
