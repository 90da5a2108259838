import type { Approver } from '../core/index.ts';
import { terminalApprover } from '../shell/index.ts';
import type { Cli } from './cli.ts';

/** Who answers when a person is needed: the one at the terminal, or nobody. */
export function approverFor(cli: Cli, when: 'ask' | 'never'): Approver {
  if (when === 'ask' && cli.interactive) return terminalApprover({ input: cli.stdin, output: cli.stderr });
  const reason =
    when === 'never' ? 'approvals are switched off (--approve never)' : 'there is no terminal to ask at';
  return { ask: async () => ({ kind: 'abandoned', reason }) };
}
