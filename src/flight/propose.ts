import { stringify } from 'yaml';
import type { Json } from '../core/index.ts';
import { type CommandPlan, commandPlan } from './command-plan.ts';
import { type AzCall, readAzCall } from './remedies/az-call.ts';
import { MACHINES } from './remedies/machines.ts';
import { NETWORK } from './remedies/network.ts';
import type { Reversal } from './remedies/reversal.ts';
import { SERVICES } from './remedies/services.ts';

/**
 * From recommended commands to a `command` flight.
 *
 * PR1 Only a command whose way back is known is proposed, and only with the state it was found in: the flight
 *     reads that state again before it does anything, and stops when it is another.
 * PR2 Nothing is changed here: the present state is looked at, and a workflow is written.
 */
const REVERSALS: Readonly<Record<string, Reversal>> = { ...NETWORK, ...SERVICES, ...MACHINES };

/** Runs a command that only looks: the JSON it prints, or why there is none. */
export type Look = (
  argv: readonly string[],
) => Promise<{ readonly value: Json } | { readonly problem: string }>;

export interface PlannedRemedies {
  readonly commands: CommandPlan['commands'];
  readonly refused: readonly { readonly argv: readonly string[]; readonly why: string }[];
}

export async function planRemedies(
  actions: readonly (readonly string[])[],
  look: Look,
): Promise<PlannedRemedies> {
  const commands: CommandPlan['commands'] = [];
  const refused: PlannedRemedies['refused'][number][] = [];
  const earlier: AzCall[] = [];
  for (const argv of actions) {
    const planned = await planRemedy(argv, earlier, look);
    if (typeof planned === 'string') refused.push({ argv, why: planned });
    else {
      commands.push(planned);
      const call = readAzCall(planned.argv);
      if (call !== undefined) earlier.push(call);
    }
  }
  return { commands, refused };
}

async function planRemedy(
  argv: readonly string[],
  earlier: readonly AzCall[],
  look: Look,
): Promise<CommandPlan['commands'][number] | string> {
  const call = readAzCall(argv);
  const reversal = call && Object.hasOwn(REVERSALS, call.command) ? REVERSALS[call.command] : undefined;
  if (call === undefined || reversal === undefined) return 'there is no known way back from it';
  const read = reversal.read(call);
  if (typeof read === 'string') return read;
  const before = await look(read);
  if ('problem' in before) return `the present state could not be read: ${before.problem}`;
  const planned = reversal.plan(call, before.value, earlier);
  if (typeof planned === 'string') return planned;
  return {
    argv: [...planned.argv],
    undo: [...planned.undo],
    precondition: { argv: [...read], equals: before.value },
  };
}

export interface Proposal {
  readonly id: string;
  readonly commands: CommandPlan['commands'];
  /** What failed and must not fail afterwards, or the commands are undone. */
  readonly checks?: CommandPlan['checks'];
  readonly role?: string;
  readonly expires?: string;
  /** Why, for whoever approves. */
  readonly reason?: string;
}

/** The text of workflow.yaml. Nothing runs before preflight and, with a role, a person. */
export function proposeFlight(proposal: Proposal): string {
  const plan = commandPlan.parse({
    commands: proposal.commands,
    ...(proposal.checks === undefined ? {} : { checks: proposal.checks }),
  });
  return stringify({
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
}
