import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CODES, EXIT, visible, WritError } from '../../core/index.ts';
import type { FlightAnswer, FlightDeps } from '../../flight/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions, folders } from '../folders.ts';
import { osUser } from '../os-user.ts';

interface Flags extends FolderFlags {
  readonly json?: boolean;
  readonly outcome?: string;
  readonly as?: string;
  readonly reason?: string;
}

export const define: DefineCommand = (command, cli) => {
  const run = command
    .command('run <workflow>')
    .description('plan, judge, ask, take off: until the end, or until a person is needed (exit 4)')
    .addHelpText('after', '\nExample:\n  writ flight run workflow.yaml --json')
    .action((file: string, flags: Flags) =>
      fly(cli, flags, (room, deps) => room.runFlight(deps, resolve(cli.cwd, file))),
    );
  const resume = command
    .command('resume <id>')
    .description('go on with a flight that waited or was interrupted')
    .addHelpText('after', '\nExample:\n  writ flight resume flt_1f0c…')
    .action((id: string, flags: Flags) => fly(cli, flags, (room, deps) => room.resumeFlight(deps, id)));
  const status = command
    .command('status <id>')
    .description('where a flight stands')
    .addHelpText('after', '\nExample:\n  writ flight status flt_1f0c… --json')
    .action((id: string, flags: Flags) =>
      look(cli, flags, async (room, deps) => {
        const answer = await room.flightStatus(deps, id);
        // Asking is not running: the answer is given whatever it is.
        tell(cli, flags, answer);
        cli.exitCode = EXIT.ok;
      }),
    );
  const list = command
    .command('list')
    .description('every flight on record')
    .addHelpText('after', '\nExample:\n  writ flight list')
    .action((flags: Flags) => listCommand(cli, flags));
  const show = command
    .command('show <id>')
    .description('one flight in full: its log, decisions and audit events')
    .addHelpText('after', '\nExample:\n  writ flight show flt_1f0c… --json')
    .action((id: string, flags: Flags) => showCommand(cli, id, flags));
  const settle = command
    .command('settle <id> <step>')
    .description('say how an interrupted take-off ended')
    .requiredOption('--outcome <outcome>', 'done or not-done')
    .requiredOption('--as <name>', 'who says so')
    .requiredOption('--reason <text>', 'how you know')
    .addHelpText(
      'after',
      '\nExample:\n  writ flight settle flt_1f0c… fix --outcome done --as alice --reason "the route is there"',
    )
    .action((id: string, step: string, flags: Flags) => settleCommand(cli, id, step, flags));
  for (const sub of [run, resume, status, list, show, settle])
    folderOptions(sub).option('--json', 'one JSON document');
};

type Room = typeof import('../../flight/index.ts');

async function fly(
  cli: Cli,
  flags: Flags,
  work: (room: Room, deps: FlightDeps) => Promise<FlightAnswer>,
): Promise<void> {
  await look(cli, flags, async (room, deps) => tell(cli, flags, await work(room, deps)));
}

async function look(
  cli: Cli,
  flags: Flags,
  work: (room: Room, deps: FlightDeps) => Promise<void>,
): Promise<void> {
  const [{ openWorkspace }, { withFlights }] = await Promise.all([
    import('../workspace.ts'),
    import('../flights.ts'),
  ]);
  await withFlights(cli, openWorkspace(cli, flags), work);
}

function tell(cli: Cli, flags: Flags, { status, exit }: FlightAnswer): void {
  cli.exitCode = exit;
  if (flags.json) {
    cli.json(status);
    return;
  }
  const { style } = cli;
  cli.print(`${style.bold(status.flight_id)}  ${visible(status.workflow_id)}  ${status.state}`);
  for (const step of status.steps) {
    const decision = step.decision === null ? '' : ` · ${step.decision}`;
    const token = step.plan_token === null ? '' : style.dim(` · plan ${step.plan_token.slice(0, 12)}`);
    cli.print(`  ${visible(step.id)}  ${step.state}${decision}${token}`);
  }
  if (status.error !== null) cli.print(style.red(visible(status.error.message)));
  for (const id of status.pending_approvals) {
    cli.print(`waits for a person: writ approvals approve ${id} --as NAME --role ROLE`);
    cli.print(`then:               writ flight resume ${status.flight_id}`);
  }
}

async function listCommand(cli: Cli, flags: Flags): Promise<void> {
  // Looking must not make a state folder.
  if (!existsSync(folders(cli, flags).state)) {
    if (flags.json) cli.json({ flights: [] });
    else cli.print('No flights.');
    return;
  }
  await look(cli, flags, async (room, deps) => {
    const flights = await room.listFlights(deps);
    if (flights.some((f) => f.state === 'DAMAGED' || f.state === 'MISSING')) cli.exitCode = EXIT.integrity;
    if (flags.json) return cli.json({ flights });
    if (flights.length === 0) cli.print('No flights.');
    for (const f of flights)
      cli.print(
        `${f.flight_id}  ${f.state.padEnd(18)} ${visible(f.workflow_id ?? '?')}  ${f.updated_at ?? ''}`,
      );
  });
}

async function showCommand(cli: Cli, id: string, flags: Flags): Promise<void> {
  await look(cli, flags, async (room, deps) => {
    const { record, wal, events } = await room.readFlight(deps.ledger, id);
    const answer = room.answerOf(record);
    if (flags.json)
      return cli.json({
        ...answer.status,
        steps_in_full: record.steps,
        wal: wal.entries,
        events: events.events,
      });
    tell(cli, flags, answer);
    cli.exitCode = EXIT.ok;
    for (const step of record.steps)
      for (const e of step.evaluations ?? [])
        cli.print(`  ${visible(step.id)}: ${e.verdict} by ${visible(e.evaluator)}: ${visible(e.reason)}`);
    for (const event of events.events)
      cli.print(cli.style.dim(visible(`${event.timestamp} ${event.event_type}: ${event.message}`)));
  });
}

async function settleCommand(cli: Cli, id: string, step: string, flags: Flags): Promise<void> {
  const { outcome, as = '', reason = '' } = flags;
  if ((outcome !== 'done' && outcome !== 'not-done') || as.trim() === '' || reason.trim() === '')
    throw new WritError(
      CODES.invalid_input,
      '--outcome is done or not-done; --as and --reason are not empty',
      {
        suggestion: `writ flight settle ${id} ${step} --outcome done --as NAME --reason TEXT`,
        exit: EXIT.usage,
      },
    );
  await look(cli, flags, async (room, deps) => {
    const answer = await room.settleFlight(deps, id, { step, outcome, by: as, assertedBy: osUser(), reason });
    tell(cli, flags, answer);
    cli.exitCode = EXIT.ok;
  });
}
