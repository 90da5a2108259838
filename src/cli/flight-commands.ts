import { type Approver, type Evaluation, quoteArgv, systemIds, type Verdict } from '../core/index.ts';
import type { CommandRunner } from '../flight/index.ts';
import { classify, type OwnedShell, type ShellClass } from '../shell/index.ts';
import type { ShellWish, Workspace } from './workspace.ts';

const VERDICTS: Readonly<Record<ShellClass, Verdict>> = {
  SAFE: 'allow',
  RISKY: 'require_approval',
  FORBIDDEN: 'deny',
};

/**
 * The commands of a flight through the Safe-Exec Shell: it judges them at preflight, and runs them at take-off.
 * What the shell would ask a person for was asked before take-off; the approver here answers for that approval,
 * and for the command that is being run alone.
 */
export function flightCommands(
  workspace: Workspace,
  place: Pick<ShellWish, 'programPath' | 'env'> = {},
): CommandRunner & { close(): Promise<void> } {
  let shell: OwnedShell | undefined;
  let expected: { readonly command: string; readonly approver: string } | undefined;
  const approver: Approver = {
    ask: async ({ action }) =>
      expected !== undefined && action.subject.includes(expected.command)
        ? { kind: 'approve', approver: expected.approver }
        : { kind: 'abandoned', reason: 'this command is not part of the approved flight' },
  };
  return {
    judge: (argv): Evaluation => {
      const command = quoteArgv(argv);
      const { classification, rule, reason } = classify(command);
      return { evaluator: 'shell', verdict: VERDICTS[classification], rule, reason: `${command}: ${reason}` };
    },
    run: async (argv, { reasoning, approver: who }) => {
      shell ??= await workspace.openShell({ ...place, sessionId: systemIds.next('flight'), approver });
      const command = quoteArgv(argv);
      expected = { command, approver: who };
      const { status, exit_code, output, error } = await shell.execute({ command, reasoning });
      expected = undefined;
      const problem = status === 'completed' ? null : (error ?? `was ${status} by the shell`);
      return { exitCode: exit_code, output, error: problem };
    },
    close: async () => {
      await shell?.close();
    },
  };
}
