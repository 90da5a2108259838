import { type Command, Option } from 'commander';
import type { OrchestrateRequest, OrchestrateResponse } from '../../cloud/index.ts';
import { EXIT } from '../../core/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { folderOptions } from '../folders.ts';
import type { TaskFlags } from '../task-session.ts';

const EXAMPLES = `
Examples:
  writ tasks capture web-vm-01 -g prod-rg --storage-account forensicsa
  writ tasks capture "web-rg/web-01 to data-rg/redis-01" --storage-account forensicsa
  writ tasks check ghost_web-vm-01_20260115T143200 --wait
  writ tasks orphans --clean
Without a terminal, what needs a person is denied.`;

const sessions = () => import('../task-session.ts');
const reports = () => import('../task-report.ts');

export const define: DefineCommand = (command, cli) => {
  command.addHelpText('after', EXAMPLES);
  const sub = (name: string, description: string, example: string) =>
    folderOptions(command.command(name).description(description))
      .option('--json', 'one JSON document')
      .addHelpText('after', `\nExample:\n  writ tasks ${name}${example}`);
  const asking = (c: Command) =>
    c.addOption(
      new Option('--approve <when>', 'ask: a person at the terminal decides; never: deny')
        .choices(['ask', 'never'])
        .default('ask'),
    );
  const scanning = (c: Command) =>
    c.option('--no-azure-scan', 'leave out the search for captures in Azure that no registry knows');

  scanning(sub('list', 'every task of every session, and what was left behind', '')).action(
    (flags: TaskFlags) => list(cli, flags),
  );
  sub('show', 'one task in full', ' ghost_web-vm-01_20260115T143200')
    .argument('<task-id>')
    .action((id: string, flags: TaskFlags) => show(cli, flags, id));
  scanning(
    asking(
      sub('orphans', 'what earlier sessions left behind; --clean removes it, asking each time', ' --clean'),
    ),
  )
    .option('--clean', 'remove what was found; every deletion asks')
    .action((flags: OrphanFlags) => orphans(cli, flags));
  captureCommand(
    asking(
      sub(
        'capture',
        'start a packet capture on a VM, or at both ends with "a to b"',
        ' "web-rg/web-01 to data-rg/redis-01" --storage-account forensicsa',
      ),
    ),
    cli,
  );
  for (const [name, intent, description] of [
    ['check', 'check_task', 'poll a task; goes on through download and analysis when the capture is ready'],
    ['cancel', 'cancel_task', 'abort a running capture and remove what it created'],
    ['cleanup', 'cleanup_task', 'remove what a finished capture left in Azure and on disk'],
  ] as const) {
    const made = asking(sub(name, description, ' ghost_web-vm-01_20260115T143200')).argument('<task-id>');
    if (name === 'check') made.option('--wait', 'go on polling until the task has ended');
    if (name === 'cancel') made.option('--reason <text>', 'why, for the record');
    made.action((id: string, flags: TaskFlags & { reason?: string; wait?: boolean }) =>
      request(cli, flags, { intent, task_id: id, reason: flags.reason }),
    );
  }
};

interface CaptureFlags extends TaskFlags {
  readonly resourceGroup?: string;
  readonly storageAccount?: string;
  readonly duration?: string;
  readonly context?: string;
  readonly location?: string;
  readonly authMode?: string;
  readonly container?: string;
}

function captureCommand(command: Command, cli: Cli): void {
  command
    .argument('<target>', 'VM name, group/name, resource id, or "a to b"')
    .option('-g, --resource-group <name>', 'of VMs that do not say theirs (or capture.resource_group)')
    .option('--storage-account <name>', 'name or resource id (or capture.storage_account in writ.yaml)')
    .option('--duration <seconds>', 'length, at most 300', '60')
    .option('--context <text>', 'what is being investigated; shown when asking', '')
    .option('--location <region>', "the VM's region, should it not be readable")
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
          resource_group: flags.resourceGroup ?? configured?.resource_group,
          storage_account: flags.storageAccount ?? configured?.storage_account,
          duration_seconds: Number(flags.duration),
          storage_auth_mode: flags.authMode ?? configured?.storage_auth_mode,
          storage_container: flags.container ?? configured?.storage_container,
          location: flags.location ?? configured?.location,
        },
      });
    });
}

async function request(
  cli: Cli,
  flags: TaskFlags & { readonly wait?: boolean },
  wanted: OrchestrateRequest,
): Promise<void> {
  const [{ withOrchestrator }, { exitOf, printReply }] = await Promise.all([sessions(), reports()]);
  const reply = await withOrchestrator(cli, { ...flags, azureScan: false }, async (orchestrator) => {
    let last = await orchestrator.orchestrate(wanted);
    // Every check polls at least once and polls are counted, so this comes to an end.
    while (flags.wait && last.status === 'task_pending') last = await orchestrator.orchestrate(wanted);
    return last;
  });
  if (flags.json) cli.json(reply);
  else printReply(cli, reply);
  cli.exitCode = exitOf(reply);
}

async function list(cli: Cli, flags: TaskFlags): Promise<void> {
  const [{ withOrchestrator }, { printList }] = await Promise.all([sessions(), reports()]);
  const reply = await withOrchestrator(cli, { ...flags, approve: 'never' }, (orchestrator) =>
    orchestrator.orchestrate({ intent: 'list_tasks' }),
  );
  if (flags.json) cli.json(reply);
  else printList(cli, reply);
}

/** Reads the registries and nothing else: no shell, no session, nothing asked of Azure. */
async function show(cli: Cli, flags: TaskFlags, id: string): Promise<void> {
  const [{ folders }, { loadTasks }, { printReply, printTask }] = await Promise.all([
    import('../folders.ts'),
    import('../../cloud/index.ts'),
    reports(),
  ]);
  const { tasks, problems } = await loadTasks(folders(cli, flags).audit);
  const task = tasks.get(id);
  for (const problem of problems) cli.note(`${cli.style.yellow('look')}: ${problem}`);
  if (task !== undefined) {
    if (flags.json) cli.json(task);
    else printTask(cli, task);
    return;
  }
  const message = `no task ${id}; list_tasks shows what there is`;
  const reply: OrchestrateResponse = { status: 'error', error: 'unknown_task', message };
  if (flags.json) cli.json(reply);
  else printReply(cli, reply);
  cli.exitCode = EXIT.usage;
}

interface OrphanFlags extends TaskFlags {
  readonly clean?: boolean;
}

async function orphans(cli: Cli, flags: OrphanFlags): Promise<void> {
  const [{ withOrchestrator }, { byBucket, removeOrphan }, { printOrphans }] = await Promise.all([
    sessions(),
    import('../../cloud/index.ts'),
    reports(),
  ]);
  const { reply, left } = await withOrchestrator(cli, flags, async (orchestrator, shell) => {
    const listed = await orchestrator.orchestrate({ intent: 'list_tasks' });
    if (!flags.json) printOrphans(cli, listed);
    const still: { resource: string; why: string }[] = [];
    for (const orphan of (flags.clean && listed.orphans) || []) {
      const { gone, why } = await removeOrphan(orchestrator, shell, orphan);
      if (!gone) still.push({ resource: orphan.resource, why });
    }
    return { reply: listed, left: still };
  });
  const found = reply.orphans ?? [];
  const problems = reply.scan_problems ?? [];
  if (flags.json)
    cli.json({ orphans: byBucket(found), problems, ...(flags.clean ? { left_behind: left } : {}) });
  else {
    if (found.length === 0)
      cli.print(
        problems.length > 0
          ? 'Nothing was found, but not everything could be looked at.'
          : 'Nothing was left behind.',
      );
    for (const { resource, why } of left) cli.print(`still there: ${resource} (${why})`);
    if (flags.clean && found.length > left.length) cli.print(`${found.length - left.length} removed`);
  }
  if (left.length > 0 || problems.length > 0) cli.exitCode = EXIT.failed;
}
