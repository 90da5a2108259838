import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, type ExitCode, quoteArgv } from '../core/index.ts';
import { type Look, planRemedies, proposeFlight, readPrinted } from '../flight/index.ts';
import type { GhostEvent, Rca, Watch } from '../ghost/index.ts';
import { classify } from '../shell/classify/index.ts';
import type { Shell } from '../shell/index.ts';
import type { Cli } from './cli.ts';
import { withFlights } from './flights.ts';
import type { ShellWish, Workspace } from './workspace.ts';

/**
 * From cause to remedy: recommended commands become a flight that waits for a person. Nothing is changed here;
 * what the flight would change is looked at, through the investigation's own shell.
 */
export interface ProposalContext {
  readonly shell: Shell;
  readonly watch: Watch;
  readonly role: string;
  /** Where the flight's commands are found: the lab of this investigation, when it has one. */
  readonly place?: Pick<ShellWish, 'programPath' | 'env'>;
}

export async function proposeFlightFrom(
  cli: Cli,
  workspace: Workspace,
  rca: Rca,
  context: ProposalContext,
): Promise<ExitCode> {
  const actions = rca.recommended_actions.flatMap(wordsOf);
  const checks = rca.failed_checks.flatMap(({ command, expected }) =>
    wordsOf(command).map((argv) => ({
      argv: [...argv],
      equals: readPrinted(expected),
      must_fail_first: true,
    })),
  );
  const { commands, refused } = await planRemedies(actions, lookThrough(context.shell));
  const told = {
    commands: commands.map((c) => ({ command: quoteArgv(c.argv), undo: quoteArgv(c.undo ?? []) })),
    checks: rca.failed_checks.map((c) => c.command),
    refused: refused.map(({ argv, why }) => ({ command: quoteArgv(argv), why })),
  };
  const nothing = (why: string): ExitCode => {
    context.watch({ type: 'proposal', ...told, commands: [], flight: null, nothing_because: why });
    return EXIT.ok;
  };
  if (rca.verdict !== 'CONFIRMED') return nothing(`the cause is ${rca.verdict}, not CONFIRMED`);
  if (actions.length === 0) return nothing('no safe command mends this cause');
  if (commands.length === 0) return nothing('no recommended command can be taken back');
  if (checks.length === 0) return nothing('no check shows the fault, so nothing could show that it is gone');

  const folder = join(workspace.state, 'proposals', rca.session_id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'workflow.yaml');
  const workflow = proposeFlight({
    id: `remedy-${rca.session_id}`,
    commands,
    checks,
    role: context.role,
    reason: rca.summary.slice(0, 1000),
  });
  writeFileSync(file, workflow, { mode: 0o600 });
  const { status, exit } = await withFlights(
    cli,
    workspace,
    (room, deps) => room.runFlight(deps, file),
    context.place,
  );
  const lab = Object.entries(context.place?.env ?? {}).map(
    ([name, value]) => `${name}=${quoteArgv([value])} `,
  );
  const flight: NonNullable<Extract<GhostEvent, { type: 'proposal' }>['flight']> = {
    flight_id: status.flight_id,
    state: status.state,
    workflow: file,
    role: context.role,
    pending_approvals: status.pending_approvals,
    error: status.error?.message ?? null,
    how_to_go_on: [
      ...status.pending_approvals.map(
        (id) => `writ approvals approve ${id} --as NAME --role ${context.role}`,
      ),
      `${lab.join('')}writ flight resume ${status.flight_id}`,
    ],
  };
  context.watch({ type: 'proposal', ...told, flight, nothing_because: null });
  return exit;
}

/** One command of ours, or nothing: chains, pipes and prose are not proposed. */
function wordsOf(action: string): readonly (readonly string[])[] {
  const pipeline = action.startsWith('az ') ? classify(action).pipeline : null;
  return pipeline?.length === 1 ? pipeline : [];
}

function lookThrough(shell: Shell): Look {
  return async (argv) => {
    const command = quoteArgv(argv);
    const reasoning = 'Read the present state, so that the proposed change can be checked and taken back.';
    const { status, exit_code, output, stderr, output_metadata, denial_reason } = await shell.execute({
      command,
      reasoning,
    });
    if (status !== 'completed') return { problem: denial_reason || `${command} was ${status}` };
    if (exit_code !== 0) return { problem: `${command} ended with exit code ${exit_code}: ${stderr.trim()}` };
    if (output_metadata.truncation_applied) return { problem: `${command} answers too much to be compared` };
    return { value: readPrinted(output) };
  };
}
