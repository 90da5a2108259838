import { stringify } from 'yaml';
import { type CommandPlan, commandPlan } from './command-plan.ts';

/** Recommended commands as a `command` flight: nothing runs before preflight and, with a role, a person. */
export interface Proposal {
  readonly id: string;
  readonly commands: CommandPlan['commands'];
  /** Re-run after the commands: it must pass, or they are undone. */
  readonly check?: readonly string[];
  readonly role?: string;
  readonly expires?: string;
  /** Why, for whoever approves. */
  readonly reason?: string;
}

export interface ProposedFlight {
  /** The text of workflow.yaml. */
  readonly workflow: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

export function proposeFlight(proposal: Proposal): ProposedFlight {
  const plan = commandPlan.parse({
    commands: proposal.commands,
    ...(proposal.check === undefined ? {} : { check: [...proposal.check] }),
  });
  const workflow = stringify({
    id: proposal.id,
    steps: [
      {
        id: 'fix',
        engine: 'command',
        config: plan,
        ...(proposal.reason === undefined ? {} : { context: { reason: proposal.reason } }),
        approval: {
          ...(proposal.role === undefined ? {} : { role: proposal.role }),
          expires: proposal.expires ?? '4h',
        },
      },
    ],
  });
  return { workflow, files: [{ path: 'workflow.yaml', text: workflow }] };
}
