import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, type ExitCode } from '../core/index.ts';
import { proposeFlight } from '../flight/index.ts';
import type { Person, Rca, Watch } from '../ghost/index.ts';
import { classify } from '../shell/classify/index.ts';
import type { Shell } from '../shell/index.ts';
import type { Cli } from './cli.ts';
import type { Workspace } from './workspace.ts';

/** From cause to remedy: recommended commands become a flight. Nothing is changed here. */
export interface ProposalContext {
  readonly shell: Shell;
  readonly person: Person;
  readonly watch: Watch;
  readonly json: boolean;
}

interface Remedy {
  readonly argv: readonly string[];
  readonly undo?: readonly string[];
  readonly precondition?: readonly string[];
}

export async function proposeFlightFrom(
  cli: Cli,
  workspace: Workspace,
  rca: Rca,
  context: ProposalContext,
): Promise<ExitCode> {
  const remedies = rca.recommended_actions.flatMap(remedyOf);
  if (remedies.length === 0) {
    context.watch({
      type: 'warning',
      text: 'No recommended action is a command, so there is nothing to propose.',
    });
    return EXIT.ok;
  }
  const proposed = proposeFlight({
    id: `remedy-${rca.session_id}`,
    commands: remedies.map((r) => ({
      argv: [...r.argv],
      ...(r.undo ? { undo: [...r.undo] } : {}),
      ...(r.precondition ? { precondition: [...r.precondition] } : {}),
    })),
    role: 'network-lead',
    reason: rca.summary.slice(0, 1000),
  });
  const folder = join(workspace.state, 'proposals', rca.session_id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { path, text } of proposed.files) writeFileSync(join(folder, path), text, { mode: 0o600 });
  const file = join(folder, 'workflow.yaml');
  context.watch({ type: 'progress', text: `Proposed ${remedies.length} command(s) as a flight: ${file}` });
  if (!context.json) cli.print(`Start it with: writ flight run ${file}`);
  return EXIT.ok;
}

/** A command of ours with the check that its object is still there, and the way back where there is one. */
function remedyOf(action: string): readonly Remedy[] {
  const argv = action.startsWith('az ') ? classify(action).pipeline?.[0] : undefined;
  if (argv === undefined) return [];
  const value = (option: string) => argv[argv.indexOf(option) + 1];
  const upTo = argv.findIndex((word) => word.startsWith('--'));
  const group = argv.slice(0, upTo < 0 ? argv.length : upTo);
  const identity = ['--resource-group', '--nsg-name', '--route-table-name', '--vnet-name', '--name'].flatMap(
    (o) => (argv.includes(o) ? [o, value(o)!] : []),
  );
  const verb = group.at(-1);
  const withVerb = (other: string) => [...group.slice(0, -1), other, ...identity];
  switch (verb) {
    case 'update':
    case 'delete':
      return [{ argv, precondition: withVerb('show') }];
    case 'create':
      return [{ argv, undo: withVerb('delete') }];
    case 'start':
      return [{ argv, undo: withVerb('deallocate') }];
    default:
      return [{ argv }];
  }
}
