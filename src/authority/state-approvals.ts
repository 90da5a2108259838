import type { Clock, Ids } from '../core/index.ts';
import { ensureStateDir, statePaths } from '../ledger/index.ts';
import type { Rules } from './approval-checks.ts';
import { approvalJournal } from './approval-journal.ts';
import { openApprovalQueue } from './approval-queue.ts';
import type { DurableApprovalQueue } from './types.ts';

/** The approvals of a state folder: requests in `writ.db`, everything that happens to them in the ledger. */
export function openStateApprovals(
  options: { readonly stateDir: string; readonly clock: Clock; readonly ids: Ids } & Rules,
): DurableApprovalQueue {
  const { stateDir, clock } = options;
  const paths = statePaths(stateDir);
  ensureStateDir(paths.stateDir);
  const record = approvalJournal({ stateDir: paths.stateDir, clock });
  const queue = openApprovalQueue({ ...options, database: paths.database, record });
  return {
    ...queue,
    close: async () => {
      await queue.close();
      await record.close();
    },
  };
}
