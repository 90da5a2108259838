import { systemClock } from '../../src/core/index.ts';
import { openJournal } from '../../src/ledger/index.ts';
import { openLabSession } from './lab-session.ts';

/**
 * A session of its own process on a lab, which says yes to everything and kills itself (-9) when it is about to
 * write its n-th record: what that record would have told has happened, and nobody wrote it down.
 *
 *   kill-driver.ts FOLDER SESSION N  start TARGET | follow TASK-ID… | clean TASK-ID…
 */
type Words = [folder: string, session: string, limit: string, what: string, ...operands: string[]];
const [folder, sessionId, limit, what, ...operands] = process.argv.slice(2) as Words;
let records = 0;

const yes = { ask: async () => ({ kind: 'approve', approver: 't' }) as const };
const { orchestrator, close } = await openLabSession(folder, sessionId, yes, {
  scanAzure: false,
  openJournal: async (path) => {
    const journal = await openJournal({ path, clock: systemClock, flush: 'each' });
    const append: typeof journal.append = (record) => {
      records++;
      if (records === Number(limit)) process.kill(process.pid, 'SIGKILL');
      return journal.append(record);
    };
    return Object.assign(Object.create(journal), { append, close: () => journal.close() });
  },
});
if (what === 'start') {
  await orchestrator.orchestrate({
    intent: 'capture_traffic',
    target: operands[0],
    parameters: { resource_group: 'rg-freight', storage_account: 'freightcaps', duration_seconds: 1 },
  });
} else {
  for (const task_id of operands) {
    if (what === 'follow') await orchestrator.orchestrate({ intent: 'check_task', task_id });
    await orchestrator.orchestrate({ intent: 'cleanup_task', task_id });
  }
}
await close();
