import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { ApprovalRecord, ApprovalStatus, DurableApprovalQueue } from '../../authority/index.ts';
import { CODES, parseJson, systemClock, visible, WritError } from '../../core/index.ts';
import { statePaths } from '../../ledger/index.ts';
import { openApprovalQueueOf } from '../approval-queue.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, type Folders, folderOptions, folders } from '../folders.ts';
import { osUser } from '../os-user.ts';

interface Flags extends FolderFlags {
  readonly json?: boolean;
  readonly status?: string;
  readonly as?: string;
  readonly role?: string;
  readonly reason?: string;
  readonly planToken?: string;
}

const STATUSES: readonly ApprovalStatus[] = ['pending', 'approved', 'rejected', 'expired', 'used'];

export const define: DefineCommand = (command, cli) => {
  const list = command
    .command('list')
    .description('every request and what became of it')
    .option('--status <status>', `only these: ${STATUSES.join(', ')}`)
    .addHelpText('after', '\nExample:\n  writ approvals list --status pending')
    .action((flags: Flags) => listCommand(cli, flags));
  const show = command
    .command('show <id>')
    .description('one request in full: what would be done, why, and what it is bound to')
    .addHelpText('after', '\nExample:\n  writ approvals show appr_1f0c…')
    .action((id: string, flags: Flags) => showCommand(cli, id, flags));
  const approve = answer(command, 'approve', 'let it happen, once')
    .addHelpText(
      'after',
      '\nExample:\n  writ approvals approve appr_1f0c… --as alice --role network-lead --reason "change 4711"',
    )
    .action((id: string, flags: Flags) => answerCommand(cli, id, flags, true));
  const reject = answer(command, 'reject', 'refuse it for good')
    .addHelpText(
      'after',
      '\nExample:\n  writ approvals reject appr_1f0c… --as alice --role network-lead --reason "not tonight"',
    )
    .action((id: string, flags: Flags) => answerCommand(cli, id, flags, false));
  for (const sub of [list, show, approve, reject]) folderOptions(sub).option('--json', 'one JSON document');
};

function answer(command: Command, name: string, description: string): Command {
  return command
    .command(`${name} <id>`)
    .description(description)
    .requiredOption('--as <name>', 'who answers')
    .option('--role <role>', 'in which role')
    .option('--reason <text>', 'why, for the record')
    .option('--plan-token <hash>', 'answer only if the request is for this plan token');
}

async function listCommand(cli: Cli, flags: Flags): Promise<void> {
  const status = statusOf(flags.status);
  const approvals = await withQueue(cli, flags, [], (queue) => [...queue.list(status ? { status } : {})]);
  if (flags.json) return cli.json({ approvals: approvals.map(listed) });
  if (approvals.length === 0)
    return cli.print(status ? `No ${status} requests.` : 'Nothing waits for a person.');
  const { style } = cli;
  for (const approval of approvals) {
    const paint = approval.status === 'pending' ? style.yellow : style.dim;
    cli.print(
      `${style.bold(visible(approval.approval_id))}  ${paint(approval.status)}  ${titleOf(approval)}`,
    );
    cli.print(`  ${visible(approval.reason)}`);
    const role = approval.required_role === null ? '' : ` · needs role ${visible(approval.required_role)}`;
    cli.print(style.dim(`  asked by ${visible(approval.requester)} · expires ${approval.expires_at}${role}`));
  }
}

async function showCommand(cli: Cli, id: string, flags: Flags): Promise<void> {
  const approval = await withQueue(cli, flags, undefined, (queue) => queue.get(id));
  if (approval === undefined) throw unknown(id);
  if (flags.json) return cli.json({ approval });
  const { style } = cli;
  const line = (name: string, value: string | null) => {
    if (value !== null && value !== '') cli.print(`${style.dim(name.padEnd(14))} ${visible(value)}`);
  };
  cli.print(`${style.bold(visible(approval.approval_id))}  ${approval.status}`);
  cli.print(`${style.dim('for'.padEnd(14))} ${titleOf(approval)}`);
  line('why a person', approval.reason);
  line('they say', approval.reasoning);
  line('asked by', approval.requester);
  line('needs role', approval.required_role);
  line('created', approval.created_at);
  line('expires', approval.expires_at);
  line('action digest', approval.action_digest);
  line('policy digest', approval.policy_digest);
  line('plan token', approval.plan_token_hash);
  line('answered by', approval.approver);
  line('in the role', approval.approver_role);
  line('asserted by', approval.asserted_by);
  line('answered at', approval.responded_at);
  line('because', approval.response_reason);
  cli.print(style.dim('action'));
  const parsed = parseJson(approval.action_json);
  const text = parsed.ok ? JSON.stringify(parsed.value, null, 2) : approval.action_json;
  for (const row of visible(text, 'newlines').split('\n')) cli.print(`  ${row}`);
}

async function answerCommand(cli: Cli, id: string, flags: Flags, approved: boolean): Promise<void> {
  const result = await withQueue(cli, flags, undefined, (queue, places) =>
    queue.respond(id, {
      approved,
      approver: flags.as ?? '',
      ...(flags.role === undefined ? {} : { role: flags.role }),
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      ...(flags.planToken === undefined ? {} : { planTokenHash: flags.planToken }),
      // Without configured users nothing vouches for the name: say who typed it.
      ...(places.config.users === undefined ? { assertedBy: osUser() } : {}),
    }),
  );
  if (result === undefined) throw unknown(id);
  if (!result.ok)
    throw new WritError(
      CODES.denied_approval_refused,
      `refused (${result.check}): ${visible(result.message)}`,
      {
        suggestion: SUGGESTIONS[result.check] ?? 'see `writ approvals show` for what is asked',
        context: { check: result.check, approval_id: id },
      },
    );
  if (flags.json) return cli.json({ approval: result.approval });
  const { approval } = result;
  const done = approved ? cli.style.green('approved') : cli.style.red('rejected');
  cli.print(
    `${done} ${visible(approval.approval_id)} as ${visible(approval.approver ?? '')}: ${titleOf(approval)}`,
  );
}

const SUGGESTIONS: Readonly<Record<string, string>> = {
  unknown: 'writ approvals list shows what there is; --state-dir says where to look',
  expired: 'ask again: run the command that needed it once more',
  used: 'an approval serves once; ask again',
  answered: 'the first answer stands',
  role: 'answer with --role in a role that `writ.yaml` gives you and the request needs',
  self: 'somebody else must approve what you asked for',
  token: 'the plan has changed since you looked at it: look again',
};

async function withQueue<T, E>(
  cli: Cli,
  flags: Flags,
  empty: E,
  work: (queue: DurableApprovalQueue, places: Folders) => T | Promise<T>,
): Promise<T | E> {
  const places = folders(cli, flags);
  // Looking must not make a state folder.
  if (!existsSync(statePaths(places.state).database)) return empty;
  const queue = await openApprovalQueueOf(places, systemClock);
  try {
    return await work(queue, places);
  } finally {
    await queue.close();
  }
}

/** The published fields, no others. */
function listed(approval: ApprovalRecord) {
  const { approval_id, kind, flight_id, workflow_id, step_id, reason, required_role, plan_token_hash } =
    approval;
  const { action_digest, policy_digest, created_at, expires_at, status } = approval;
  return {
    approval_id,
    kind,
    flight_id,
    workflow_id,
    step_id,
    reason,
    required_role,
    plan_token_hash,
    action_digest,
    policy_digest,
    created_at,
    expires_at,
    status,
  };
}

function titleOf(approval: ApprovalRecord): string {
  const parsed = parseJson(approval.action_json);
  const subject = parsed.ok ? (parsed.value as { readonly subject?: unknown } | null)?.subject : undefined;
  const step = [approval.workflow_id, approval.step_id].filter((part) => part !== null).join('/');
  const what = typeof subject === 'string' ? subject : approval.action_digest;
  return visible([approval.kind, step, what].filter((part) => part !== '').join(' · '));
}

function statusOf(text: string | undefined): ApprovalStatus | undefined {
  const found = STATUSES.find((status) => status === text);
  if (text === undefined || found !== undefined) return found;
  throw new WritError(CODES.invalid_input, `there is no status ${visible(text)}`, {
    suggestion: `write one of ${STATUSES.join(', ')}`,
  });
}

function unknown(id: string): WritError {
  return new WritError(
    CODES.denied_approval_refused,
    `refused (unknown): there is no approval ${visible(id)}`,
    {
      suggestion: SUGGESTIONS.unknown ?? '',
      context: { check: 'unknown', approval_id: id },
    },
  );
}
