import type { Command } from 'commander';
import type { OrchestrateRequest, OrchestrateResponse, Orchestrator } from '../../cloud/index.ts';
import { EXIT, type ExitCode } from '../../core/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions } from '../folders.ts';

interface Flags extends FolderFlags {
  readonly json?: boolean;
  readonly approve?: 'ask' | 'never';
  readonly azureScan?: boolean;
}

const EXAMPLES = `
Examples:
  writ tasks capture web-vm-01 -g prod-rg --storage-account forensicsa
  writ tasks check ghost_web-vm-01_20260115T143200
  writ tasks orphans --json
Without a terminal, what needs a person is denied.`;

export const define: DefineCommand = (command, cli) => {
  command.addHelpText('after', EXAMPLES);
  const sub = (name: string, description: string) =>
    folderOptions(command.command(name).description(description))
      .option('--json', 'one JSON document')
      .option('--approve <when>', 'ask: a person at the terminal decides; never: deny', 'ask')
      .option('--no-azure-scan', 'leave out the search for captures in Azure that no registry knows');

  sub('list', 'every task of every session, and what was left behind').action((flags: Flags) =>
    withOrchestrator(cli, flags, async (o) =>
      listed(cli, flags, await o.orchestrate({ intent: 'list_tasks' })),
    ),
  );
  sub('show', 'one task in full')
    .argument('<task-id>')
    .action((id: string, flags: Flags) =>
      withOrchestrator(cli, { ...flags, azureScan: false }, async (o) =>
        shown(cli, flags, id, await o.orchestrate({ intent: 'list_tasks' })),
      ),
    );
  sub('orphans', 'what earlier sessions left behind; --clean removes it, asking each time')
    .option('--clean', 'remove what was found; every deletion asks')
    .action((flags: Flags & { clean?: boolean }) =>
      withOrchestrator(cli, flags, (o, shell) => orphans(cli, flags, o, shell)),
    );
  captureCommand(sub('capture', 'start a packet capture on a VM, or at both ends with "a to b"'), cli);
  for (const [name, intent, description] of [
    ['check', 'check_task', 'poll a task; goes on through download and analysis when the capture is ready'],
    ['cancel', 'cancel_task', 'abort a running capture and remove what it created'],
    ['cleanup', 'cleanup_task', 'remove what a finished capture left in Azure and on disk'],
  ] as const) {
    sub(name, description)
      .argument('<task-id>')
      .option('--reason <text>', 'why, for the record')
      .action((id: string, flags: Flags & { reason?: string }) =>
        request(cli, flags, { intent, task_id: id, reason: flags.reason }),
      );
  }
};

interface CaptureFlags extends Flags {
  readonly resourceGroup: string;
  readonly storageAccount?: string;
  readonly duration?: string;
  readonly context?: string;
  readonly authMode?: string;
  readonly container?: string;
}

function captureCommand(command: Command, cli: Cli): void {
  command
    .argument('<target>', 'VM name, resource id, or "a to b"')
    .requiredOption('-g, --resource-group <name>', 'resource group of the VM')
    .option(
      '--storage-account <name>',
      'where the capture is stored (or capture.storage_account in writ.yaml)',
    )
    .option('--duration <seconds>', 'length, at most 300', '60')
    .option('--context <text>', 'what is being investigated; shown when asking', '')
    .option('--auth-mode <mode>', 'login or key')
    .option('--container <name>', 'storage container')
    .action(async (target: string, flags: CaptureFlags) => {
      const { folders } = await import('../folders.ts');
      const configured = folders(cli, flags).config.capture;
      await request(cli, flags, {
        intent: 'capture_traffic',
        target,
        investigation_context: flags.context,
        parameters: {
          resource_group: flags.resourceGroup,
          storage_account: flags.storageAccount ?? configured?.storage_account,
          duration_seconds: Number(flags.duration),
          storage_auth_mode: flags.authMode ?? configured?.storage_auth_mode,
          storage_container: flags.container ?? configured?.storage_container,
          location: configured?.location,
        },
      });
    });
}

async function request(cli: Cli, flags: Flags, wanted: OrchestrateRequest): Promise<void> {
  await withOrchestrator(cli, { ...flags, azureScan: false }, async (orchestrator) => {
    const reply = await orchestrator.orchestrate(wanted);
    if (flags.json) cli.json(reply);
    else printReply(cli, reply);
    cli.exitCode = exitOf(reply);
  });
}

function exitOf(reply: OrchestrateResponse): ExitCode {
  switch (reply.status) {
    case 'task_pending':
    case 'task_completed':
      return EXIT.ok;
    case 'task_cancelled':
      return reply.error === 'denied' ? EXIT.denied : EXIT.ok;
    case 'task_failed':
    case 'task_timed_out':
      return EXIT.failed;
    case 'error':
      return reply.error === 'registry_failure' || reply.error === 'internal_error'
        ? EXIT.failed
        : EXIT.usage;
  }
}

function printReply(cli: Cli, reply: OrchestrateResponse): void {
  if (reply.task_id)
    cli.print(
      `${cli.style.bold(reply.task_id)}  ${reply.state}${reply.cleanup_status ? `  (cleanup ${reply.cleanup_status})` : ''}`,
    );
  cli.print(reply.message);
  if (reply.result)
    cli.print(`report: ${reply.result.report_path}\ncapture: ${reply.result.local_pcap_path}`);
  if (reply.paired_task) cli.print(`other end: ${reply.paired_task.task_id} (${reply.paired_task.state})`);
  for (const warning of reply.warnings ?? []) cli.note(`${cli.style.yellow('warning')}: ${warning}`);
}

function listed(cli: Cli, flags: Flags, reply: OrchestrateResponse): void {
  if (flags.json) {
    cli.json(reply);
    return;
  }
  for (const task of reply.tasks ?? [])
    cli.print(
      `${task.task_id}  ${task.state.padEnd(12)} cleanup ${task.cleanup_status ?? '–'}  ${task.target}`,
    );
  if ((reply.tasks ?? []).length === 0) cli.print('No tasks yet. Start one with: writ tasks capture');
  printOrphans(cli, reply);
}

function shown(cli: Cli, flags: Flags, id: string, reply: OrchestrateResponse): void {
  const task = reply.tasks?.find((t) => t.task_id === id);
  if (task === undefined) {
    cli.exitCode = EXIT.usage;
    if (flags.json) cli.json({ status: 'error', error: 'unknown_task', message: `no task ${id}` });
    cli.note(`no task ${id}; writ tasks list shows what there is`);
    return;
  }
  if (flags.json) cli.json(task);
  else cli.print(JSON.stringify(task, null, 2));
}

function printOrphans(cli: Cli, reply: OrchestrateResponse): void {
  for (const orphan of reply.orphans ?? [])
    cli.print(`${cli.style.yellow(orphan.bucket)}: ${orphan.resource} (${orphan.detail})`);
  for (const problem of reply.scan_problems ?? []) cli.note(`${cli.style.yellow('not scanned')}: ${problem}`);
}

type OwnedShell = Awaited<
  ReturnType<ReturnType<typeof import('../workspace.ts').openWorkspace>['openShell']>
>;

async function orphans(
  cli: Cli,
  flags: Flags & { clean?: boolean },
  orchestrator: Orchestrator,
  shell: OwnedShell,
): Promise<void> {
  const reply = await orchestrator.orchestrate({ intent: 'list_tasks' });
  const { byBucket, removalCommand } = await import('../../cloud/index.ts');
  const left: string[] = [];
  if (flags.clean) {
    for (const orphan of reply.orphans ?? []) {
      const command = removalCommand(orphan);
      const gone =
        orphan.task_id !== null
          ? (await orchestrator.orchestrate({ intent: 'cleanup_task', task_id: orphan.task_id }))
              .cleanup_status === 'completed'
          : command !== undefined &&
            (
              await shell.execute({
                command,
                reasoning: `Remove ${orphan.resource}, left behind by an earlier session.`,
              })
            ).exit_code === 0;
      if (!gone) left.push(orphan.resource);
    }
  }
  if (flags.json)
    cli.json({
      orphans: byBucket(reply.orphans ?? []),
      problems: reply.scan_problems ?? [],
      ...(flags.clean ? { left_behind: left } : {}),
    });
  else {
    printOrphans(cli, reply);
    if ((reply.orphans ?? []).length === 0) cli.print('Nothing was left behind.');
    if (flags.clean && left.length > 0) cli.print(`Still there: ${left.join(', ')}`);
  }
  if (flags.clean && left.length > 0) cli.exitCode = EXIT.failed;
}

async function withOrchestrator(
  cli: Cli,
  flags: Flags,
  work: (orchestrator: Orchestrator, shell: OwnedShell) => Promise<void>,
): Promise<void> {
  const [{ openWorkspace }, { createOrchestrator }, { approverFor }, { newSessionId }] = await Promise.all([
    import('../workspace.ts'),
    import('../../cloud/index.ts'),
    import('../approver.ts'),
    import('../../ghost/index.ts'),
  ]);
  const workspace = openWorkspace(cli, flags);
  const sessionId = `tasks_${newSessionId(workspace.clock.now(), () => false).slice('ghost_'.length)}_${process.pid}`;
  const shell = await workspace.openShell({ sessionId, approver: approverFor(cli, flags.approve ?? 'ask') });
  const orchestrator = await createOrchestrator({
    shell,
    sessionId,
    taskDir: workspace.audit,
    captureDir: `${workspace.audit}/captures`,
    clock: workspace.clock,
    scanAzure: flags.azureScan !== false,
    openJournal: (path) => workspace.ledger.openJournal({ path, flush: 'each' }),
    onProgress: (line) => cli.note(cli.style.dim(line)),
  });
  try {
    await work(orchestrator, shell);
  } finally {
    await orchestrator.close();
    await shell.close();
  }
}
