import { type Clock, systemIds } from '../core/index.ts';
import type { Config } from './config.ts';

/** The project's approval queue, with the people and the rules that `writ.yaml` gives it. */
export async function openApprovalQueueOf(
  place: { readonly state: string; readonly config: Config },
  clock: Clock,
) {
  const { openStateApprovals } = await import('../authority/index.ts');
  const { users, approvals } = place.config;
  return openStateApprovals({
    stateDir: place.state,
    clock,
    ids: systemIds,
    ...(users === undefined
      ? {}
      : { users: Object.fromEntries(Object.entries(users).map(([name, { roles }]) => [name, roles])) }),
    allowSelfApproval: approvals?.allow_self_approval === true,
  });
}
