import { join } from 'node:path';
import type { AuditSink, Clock } from '../core/index.ts';
import { type Journal, type JournalEntry, openJournal, openLedger, statePaths } from '../ledger/index.ts';

/**
 * The ledger of approvals, `<state>/ledger/approvals.jsonl`. Many processes answer and use approvals, and a
 * journal has one writer: so it is opened for a burst of records, waiting for the lock, and let go again.
 */
export interface ApprovalJournal extends AuditSink {
  close(): Promise<void>;
}

const WAIT_FOR_LOCK_MS = 10_000;
const IDLE_MS = 200;

export function approvalJournal(options: {
  readonly stateDir: string;
  readonly clock: Clock;
}): ApprovalJournal {
  const { stateDir, clock } = options;
  let open: Journal | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  /** One after the other: opening, writing and closing never overlap in this process. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
  const letGo = () =>
    inTurn(async () => {
      const journal = open;
      open = undefined;
      await journal?.close();
    });
  const write = async (entry: JournalEntry) => {
    if (open === undefined) {
      const { signer, catalog, trustedKeys } = openLedger({ stateDir, clock });
      const path = join(statePaths(stateDir).ledger, 'approvals.jsonl');
      open = await openJournal(
        { path, clock, signer, catalog, trustedKeys, flush: 'each' },
        { lockWaitMs: WAIT_FOR_LOCK_MS },
      );
    }
    const journal = open;
    try {
      await journal.append(entry);
    } catch (error) {
      // A journal that failed once takes nothing more; the next record gets a fresh start.
      open = undefined;
      await journal.close().catch(() => {});
      throw error;
    }
  };

  return {
    append: (entry) => {
      clearTimeout(idle);
      return inTurn(() => write(entry)).finally(() => {
        clearTimeout(idle);
        idle = setTimeout(() => void letGo().catch(() => {}), IDLE_MS);
      });
    },
    close: () => {
      clearTimeout(idle);
      return letGo();
    },
  };
}
