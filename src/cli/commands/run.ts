import { CODES, EXIT, systemClock, systemIds, visible, WritError } from '../../core/index.ts';
import { openLedger } from '../../ledger/index.ts';
import type { Progress, RunSummary } from '../../runner/index.ts';
import { openApprovalQueueOf } from '../approval-queue.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type Folders, folders } from '../folders.ts';
import {
  dbPathOf,
  exitOf,
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
  readonly policy?: string;
  readonly keepGoing?: boolean;
  readonly resume?: string;
  readonly retryUnknown?: boolean;
  readonly skipUnknown?: boolean;
  readonly approve: string;
  readonly flush: string;
}

export const define: DefineCommand = (command, cli) => {
  runOptions(command.argument('[plan]', 'the plan: YAML or JSON'))
    .option('-p, --policy <file>', 'the policy it runs under')
    .option('--keep-going', 'go on after a step that is denied or fails')
    .option('--resume <run>', 'go on with a run that waits for an approval or was cut off')
    .option('--retry-unknown', 'with --resume: run a step again whose outcome nobody knows')
    .option('--skip-unknown', 'with --resume: go on after such a step')
    .option(
      '--approve <how>',
      'when a person is needed: park (exit 4), ask at the terminal, or never',
      'park',
    )
    .option(
      '--flush <how>',
      'when records reach the disk: step, or group (steps without effects share)',
      'step',
    )
    .addHelpText('after', HELP)
    .action((plan: string | undefined, flags: Flags) => runCommand(cli, plan, flags));
};

const HELP = `
Exit codes: 0 every step done · 1 a step failed · 2 the plan or policy is not valid · 3 a step was denied · 4 waiting for approval

Examples:
  writ run examples/plans/hello/plan.yaml --policy examples/plans/hello/policy.yaml
  writ run plan.yaml -p policy.yaml --keep-going --json
  writ approvals approve appr_1f0c… --as alice && writ run --resume run_5b1e…`;

async function runCommand(cli: Cli, planFile: string | undefined, flags: Flags): Promise<void> {
  const when = oneOf('--approve', flags.approve, ['park', 'ask', 'never'] as const);
  const flush = oneOf('--flush', flags.flush, ['step', 'group'] as const);
  const places = folders(cli, flags);
  const { createCallJudge, openRunReader, openRunStore, resumeRun, runDocumentText, runPlan } = await import(
    '../../runner/index.ts'
  );
  const registry = await registryOf(cli, places);
  const dbPath = dbPathOf(cli, flags, places);
  const resumed =
    flags.resume === undefined
      ? undefined
      : await recorded(cli, dbPath, flags.resume, planFile, flags.policy);
  if (planFile === undefined && resumed === undefined)
    throw usage('there is no plan to run', 'writ run plan.yaml --policy policy.yaml');
  const plan = resumed?.plan ?? readPlan(cli, planFile as string);
  const policy = resumed?.policy(registry) ?? readPolicy(cli, flags.policy, registry);
  const ledger = openLedger({ stateDir: places.state, clock: systemClock });
  const store = openRunStore({ dbPath, ledger, clock: systemClock, ids: systemIds });
  const road = await openAuthority(cli, places, when);
  const stop = new AbortController();
  const onSignal = () => stop.abort(new Error('interrupted'));
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const options = {
      ...road,
      judge: createCallJudge(policy, registry, groundOf(cli, places, dbPath)),
      whenApprovalNeeded: when,
      store,
      clock: systemClock,
      ids: systemIds,
      keepGoing: flags.keepGoing === true,
      durability: flush,
      signal: stop.signal,
      onProgress: (progress: Progress) => showProgress(cli, progress, flags),
    };
    let summary: RunSummary;
    if (resumed) {
      const unknown = flags.retryUnknown ? 'retry' : flags.skipUnknown ? 'skip' : 'report';
      const reader = openRunReader(dbPath);
      try {
        summary = await resumeRun(plan, resumed.run, reader, { ...options, unknown });
      } finally {
        reader.close();
      }
    } else summary = await runPlan(plan, options);
    const reader = openRunReader(dbPath);
    try {
      if (flags.json) await writePieces(cli, runDocumentText(reader, findRun(reader, summary.run_id)));
      else showSummary(cli, summary);
    } finally {
      reader.close();
    }
    cli.exitCode = exitOf(summary);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    store.close();
    await road.close();
  }
}

/** A recorded run with its plan and policy: from the files that were named, or from the record itself. */
async function recorded(
  cli: Cli,
  dbPath: string,
  id: string,
  planFile: string | undefined,
  policyFile: string | undefined,
) {
  const { loadPlan, openRunReader } = await import('../../runner/index.ts');
  const { policyFromJson } = await import('../../policy/index.ts');
  const reader = openRunReader(dbPath);
  try {
    const run = findRun(reader, id);
    if (run.redactions > 0 && (planFile === undefined || policyFile === undefined))
      throw usage(
        'secrets were taken out of the stored plan or policy, so it cannot be run from there',
        `writ run PLAN --policy POLICY --resume ${run.run_id}`,
      );
    const plan =
      planFile === undefined
        ? loadPlan(run.plan_json, run.plan_file ?? 'the stored plan')
        : readPlan(cli, planFile);
    return {
      run,
      plan,
      policy: (registry: Parameters<typeof readPolicy>[2]) =>
        policyFile === undefined
          ? policyFromJson(
              JSON.parse(run.policy_json),
              run.policy_file ?? 'the stored policy',
              registry.otherRules,
            )
          : readPolicy(cli, policyFile, registry),
    };
  } finally {
    reader.close();
  }
}

async function openAuthority(cli: Cli, places: Folders, when: 'park' | 'ask' | 'never') {
  const { createAuthority } = await import('../../authority/index.ts');
  const { osUser } = await import('../os-user.ts');
  const queue = await openApprovalQueueOf(places, systemClock);
  const approver = when === 'ask' ? (await import('../approver.ts')).approverFor(cli, 'ask') : undefined;
  const authority = createAuthority({
    clock: systemClock,
    ids: systemIds,
    queue,
    ...(approver ? { approver } : {}),
  });
  return { authority, requester: osUser(), close: async () => queue.close() };
}

function showProgress(cli: Cli, progress: Progress, flags: Flags): void {
  const { style } = cli;
  const place = style.dim(`[${progress.index + 1}/${progress.total}]`);
  const name = `${visible(progress.tool)}${progress.id === null ? '' : ` (${visible(progress.id)})`}`;
  if (progress.status === 'started') {
    if (flags.verbose) cli.note(`${place} ${name} …`);
    return;
  }
  // A long plan that goes well would drown everything else.
  if (progress.status === 'success' && progress.total > 200 && !flags.verbose) return;
  const paint =
    progress.status === 'success'
      ? style.green
      : progress.status === 'waiting' || progress.status === 'skipped'
        ? style.yellow
        : style.red;
  cli.note(
    `${place} ${name} ${paint(progress.status)}${progress.error === null ? '' : `  ${visible(progress.error)}`}`,
  );
}

function showSummary(cli: Cli, summary: RunSummary): void {
  const { style } = cli;
  const paint =
    summary.status === 'completed' ? style.green : summary.status === 'failed' ? style.red : style.yellow;
  cli.print(
    `${style.bold(summary.run_id)}  ${paint(summary.status)}  ${summary.completed_steps} of ${summary.total_steps} done · ${summary.denied_steps} denied · ${summary.failed_steps} failed · ${summary.duration_ms} ms`,
  );
  if (summary.waiting_for !== null) {
    cli.print(`  waiting for ${summary.waiting_for}: writ approvals show ${summary.waiting_for}`);
    cli.print(`  then: writ run --resume ${summary.run_id}`);
  } else if (summary.status === 'interrupted') cli.print(`  go on with: writ run --resume ${summary.run_id}`);
  else cli.print(style.dim(`  writ report ${summary.run_id}`));
}

function oneOf<const T extends string>(option: string, value: string, known: readonly T[]): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw usage(`${option} ${value} is not known`, `one of ${known.join(', ')}`);
  return found;
}

function usage(message: string, suggestion: string): WritError {
  return new WritError(CODES.invalid_input, message, { suggestion, exit: EXIT.usage });
}
