import { CODES, EXIT, systemClock, systemIds, WritError } from '../../core/index.ts';
import { openLedger } from '../../ledger/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { folders } from '../folders.ts';
import {
  dbPathOf,
  findRun,
  groundOf,
  type RunFlags,
  readPlan,
  readPolicy,
  registryOf,
  runOptions,
  writePieces,
} from '../runs.ts';

interface Flags extends RunFlags {
  readonly verify?: boolean;
  readonly plan?: string;
  readonly policy?: string;
}

export const define: DefineCommand = (command, cli) => {
  runOptions(command.argument('<run>', 'id of the run, or how it begins'))
    .option('--verify', 'check the whole store first: every hash, the chain, the signatures')
    .option('--plan <file>', 'insist that the run was of this plan')
    .option('--policy <file>', 'insist that the run was under this policy')
    .addHelpText(
      'after',
      '\nNothing is executed: results come from the record, and a difference names the first step that has it.\n\nExamples:\n  writ replay run_5b1e… --verify\n  writ replay run_5b1e… --plan plan.yaml --json',
    )
    .action((id: string, flags: Flags) => replayCommand(cli, id, flags));
};

async function replayCommand(cli: Cli, id: string, flags: Flags): Promise<void> {
  const { createCallJudge, openRunReader, openRunStore, replayRun, runDocumentText, verifyRunStore } =
    await import('../../runner/index.ts');
  const places = folders(cli, flags);
  const dbPath = dbPathOf(cli, flags, places);
  const reader = openRunReader(dbPath);
  try {
    const original = findRun(reader, id);
    if (flags.verify) {
      const verdict = await verifyRunStore(dbPath);
      if (verdict.status === 'tampered' || verdict.status === 'incomplete')
        throw new WritError(
          CODES.integrity_broken,
          `${dbPath}: ${verdict.status}: ${verdict.first_bad?.what ?? ''}`,
          {
            suggestion: 'writ audit verify says more',
            exit: EXIT.integrity,
            context: { status: verdict.status, first_bad: verdict.first_bad?.sequence ?? null },
          },
        );
      if (flags.verbose) cli.note(`${dbPath}: ${verdict.status}, ${verdict.records} rows`);
    }
    const registry = flags.policy === undefined ? undefined : await registryOf(cli, places);
    const judge =
      registry && createCallJudge(readPolicy(cli, flags.policy, registry), registry, groundOf(cli, places));
    const plan = flags.plan === undefined ? undefined : readPlan(cli, flags.plan);
    const ledger = openLedger({ stateDir: places.state, clock: systemClock });
    const store = openRunStore({ dbPath, ledger, clock: systemClock, ids: systemIds });
    let runId: string;
    try {
      runId = await replayRun(original, {
        store,
        reader,
        ids: systemIds,
        ...(plan ? { plan } : {}),
        ...(judge ? { judge } : {}),
      });
    } finally {
      store.close();
    }
    const run = findRun(reader, runId);
    const extra = { mode: 'replay', replay_of: original.run_id, verified: flags.verify === true };
    if (flags.json) await writePieces(cli, runDocumentText(reader, run, extra));
    else {
      cli.print(
        `${cli.style.bold(runId)}  replay of ${original.run_id}  ${cli.style.green('identical')}  ${run.total_steps} steps${flags.verify ? ', store verified' : ''}`,
      );
      cli.print(cli.style.dim(`  writ report ${runId}`));
    }
  } finally {
    reader.close();
  }
}
