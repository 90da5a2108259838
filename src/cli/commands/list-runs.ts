import { existsSync } from 'node:fs';
import { CODES, EXIT, visible, WritError } from '../../core/index.ts';
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

const MAX_LISTED = 10_000;

async function listCommand(cli: Cli, flags: Flags): Promise<void> {
  const path = dbPathOf(cli, flags, folders(cli, flags));
  const limit = Number(flags.limit);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw new WritError(
      CODES.invalid_input,
      `--limit ${flags.limit} is not a number from 1 to ${MAX_LISTED}`,
      {
        suggestion: 'writ list-runs --limit 20',
        exit: EXIT.usage,
      },
    );
  let runs: readonly RunRow[] = [];
  const { holdsRuns, openRunReader } = await import('../../runner/index.ts');
  // Looking must not make a state folder. No store yet, or one with other things in it, means no runs yet.
  if (existsSync(path) ? holdsRuns(path) : flags.db !== undefined) {
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
    if (flags.verbose) cli.print(style.dim(`    ${visible(originOf(run))}`));
  }
}

/** What it was a run of: the files as they were named, and what tells their versions apart. */
function originOf(run: RunRow): string {
  const plan = `plan ${run.plan_file ?? '-'} (${run.plan_hash.slice(0, 12)})`;
  const policy = `policy ${run.policy_file ?? '-'} (${run.policy_hash.slice(0, 12)})`;
  const replayed = run.replay_of === null ? '' : `, replay of ${run.replay_of}`;
  return `${plan}, ${policy}, in ${run.working_dir}${replayed}`;
}
