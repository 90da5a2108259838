import { systemClock, systemIds } from '../core/index.ts';
import type { FlightDeps } from '../flight/index.ts';
import { openApprovalQueueOf } from './approval-queue.ts';
import type { Cli } from './cli.ts';
import { durationMs } from './config.ts';
import { osUser } from './os-user.ts';
import type { ShellWish, Workspace } from './workspace.ts';

type Room = typeof import('../flight/index.ts');

/** The room of flights with all it needs, for as long as `work` takes. */
export async function withFlights<T>(
  cli: Cli,
  workspace: Workspace,
  work: (room: Room, deps: FlightDeps) => Promise<T>,
  /** Where the commands of a flight are found, when it is not the system's. */
  place: Pick<ShellWish, 'programPath' | 'env'> = {},
): Promise<T> {
  const [room, { flightCommands }] = await Promise.all([
    import('../flight/index.ts'),
    import('./flight-commands.ts'),
  ]);
  const { approvals, default_decision, aggregation } = workspace.config;
  const queue = await openApprovalQueueOf(workspace, systemClock);
  const commands = flightCommands(workspace, place);
  const stop = new AbortController();
  const interrupted = () => stop.abort();
  process.once('SIGINT', interrupted);
  try {
    return await work(room, {
      ledger: workspace.ledger,
      // A person answers in real time, also when what the flight changes is a lab whose time runs fast.
      clock: systemClock,
      ids: systemIds,
      queue,
      requester: osUser(),
      env: cli.env,
      hidden: [workspace.audit],
      commands,
      signal: stop.signal,
      ...(default_decision === undefined ? {} : { defaultVerdict: default_decision }),
      ...(aggregation === undefined ? {} : { aggregation }),
      ...(approvals?.expires === undefined ? {} : { approvalLifeMs: durationMs(approvals.expires) }),
    });
  } finally {
    process.removeListener('SIGINT', interrupted);
    await commands.close();
    await queue.close();
  }
}
