import { join } from 'node:path';
import { createOrchestrator, type Orchestrator, type OrchestratorOptions } from '../../src/cloud/index.ts';
import { type Approver, systemIds } from '../../src/core/index.ts';
import { labClock } from '../../src/lab/index.ts';
import { openLedger } from '../../src/ledger/index.ts';
import { createShell } from '../../src/shell/index.ts';

/** How many times faster time runs in the labs of these tests. */
export const SPEED = 600;

/** A session in `folder`, whose lab is `folder/lab`: real shell, real classification, real forensic engine. */
export async function openLabSession(
  folder: string,
  sessionId: string,
  approver: Approver,
  options: Partial<OrchestratorOptions> = {},
): Promise<{ orchestrator: Orchestrator; close(): Promise<void> }> {
  const clock = labClock(SPEED);
  const ledger = openLedger({ stateDir: join(folder, '.writ'), clock });
  const openJournal = (path: string) => ledger.openJournal({ path, flush: 'group' });
  const auditDir = join(folder, 'audit');
  const labDir = join(folder, 'lab');
  const shell = await createShell({
    sessionId,
    auditDir,
    openJournal,
    approver,
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
    openJournal,
    ...options,
  });
  const close = async () => {
    await orchestrator.close();
    await shell.close();
  };
  return { orchestrator, close };
}
