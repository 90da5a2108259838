import { existsSync } from 'node:fs';
import type { RunRow } from '../../runner/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { folders } from '../folders.ts';
import { dbPathOf, type RunFlags, runOptions } from '../runs.ts';

interface Flags extends RunFlags {
  readonly limit: string;
}

export const define: DefineCommand = (command, cli) => {
  runOptions(command)
    .option('--limit <n>', 'how many, newest first', '50')
    .addHelpText('after', '\nExample:\n  writ list-runs --limit 10 --json')
    .action((flags: Flags) => listCommand(cli, flags));
};

async function listCommand(cli: Cli, flags: Flags): Promise<void> {
  const path = dbPathOf(cli, flags, folders(cli, flags));
  const limit = Math.min(10_000, Math.max(1, Number.parseInt(flags.limit, 10) || 50));
  let runs: readonly RunRow[] = [];
  // Looking must not make a state folder; no store yet means no runs yet.
  if (flags.db !== undefined || existsSync(path)) {
    const { openRunReader } = await import('../../runner/index.ts');
    const reader = openRunReader(path);
    try {
      runs = reader.listRuns(limit);
    } finally {
      reader.close();
    }
  }
  if (flags.json)
    return cli.json({ runs: runs.map(({ plan_json: _plan, policy_json: _policy, ...run }) => run) });
  if (runs.length === 0) return cli.print('No runs yet: writ run PLAN --policy POLICY');
  const { style } = cli;
  for (const run of runs) {
    const paint =
      run.status === 'completed' ? style.green : run.status === 'failed' ? style.red : style.yellow;
    const counts = `${run.completed_steps}/${run.total_steps} done, ${run.denied_steps} denied, ${run.failed_steps} failed`;
    cli.print(
      `${run.run_id}  ${run.created_at}  ${run.mode.padEnd(6)}  ${paint(run.status.padEnd(11))}  ${counts}`,
    );
  }
}
