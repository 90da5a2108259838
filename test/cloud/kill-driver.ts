import { join } from 'node:path';
import { createOrchestrator } from '../../src/cloud/index.ts';
import { systemIds } from '../../src/core/index.ts';
import { labClock } from '../../src/lab/index.ts';
import { openLedger } from '../../src/ledger/index.ts';
import { createShell } from '../../src/shell/index.ts';

/**
 * A session of its own process on a lab, which says yes to everything and kills itself (-9) when it is about to
 * write its n-th record: what that record would have told has happened, and nobody wrote it down.
 *
 *   kill-driver.ts FOLDER SESSION N  start TARGET | follow TASK-ID… | clean TASK-ID…
 */
type Words = [folder: string, session: string, limit: string, what: string, ...operands: string[]];
const [folder, sessionId, limit, what, ...operands] = process.argv.slice(2) as Words;
const clock = labClock(600);
const ledger = openLedger({ stateDir: join(folder, '.writ'), clock });
const auditDir = join(folder, 'audit');
const labDir = join(folder, 'lab');
let records = 0;

const shell = await createShell({
  sessionId,
  auditDir,
  openJournal: (path) => ledger.openJournal({ path, flush: 'group' }),
  approver: { ask: async () => ({ kind: 'approve', approver: 't' }) },
  clock,
  ids: systemIds,
  cwd: folder,
  programPath: [join(labDir, 'bin')],
  env: { WRIT_LAB_DIR: labDir },
});
const orchestrator = await createOrchestrator({
  shell,
  sessionId,
  taskDir: auditDir,
  captureDir: join(auditDir, 'captures'),
  clock,
  scanAzure: false,
  openJournal: async (path) => {
    const journal = await ledger.openJournal({ path, flush: 'each' });
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
await orchestrator.close();
await shell.close();
