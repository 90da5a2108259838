import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../src/cloud/index.ts';
import { systemIds } from '../../src/core/index.ts';
import { labClock, prepareLab, readLeftovers, worldFile } from '../../src/lab/index.ts';
import { openLedger } from '../../src/ledger/index.ts';
import { createShell } from '../../src/shell/index.ts';

/** The whole road on the simulated Azure: real shell, real classification, real forensic engine. */
async function onLab(world: string, answer: (command: string) => boolean = () => true) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-cloud-lab-'));
  const lab = await prepareLab(worldFile(world), join(folder, 'lab'), { speed: 600 });
  const clock = labClock(600);
  const ledger = openLedger({ stateDir: join(folder, '.writ'), clock });
  const openJournal = (path: string) => ledger.openJournal({ path, flush: 'group' });
  const auditDir = join(folder, 'audit');
  const asked: string[] = [];
  const shell = await createShell({
    sessionId: 'ghost_lab',
    auditDir,
    openJournal,
    approver: {
      ask: async (q) => {
        asked.push(q.action.subject);
        return answer(q.action.subject)
          ? { kind: 'approve', approver: 't' }
          : { kind: 'deny', approver: 't', reason: 'no' };
      },
    },
    clock,
    ids: systemIds,
    cwd: folder,
    programPath: [lab.bin],
    env: { WRIT_LAB_DIR: lab.dir },
  });
  const orchestrator = await createOrchestrator({
    shell,
    sessionId: 'ghost_lab',
    taskDir: auditDir,
    captureDir: join(auditDir, 'captures'),
    clock,
    openJournal,
  });
  const close = async () => {
    await orchestrator.close();
    await shell.close();
  };
  return { orchestrator, asked, lab, close };
}

const parameters = { resource_group: 'rg-freight', storage_account: 'freightcaps', duration_seconds: 30 };

describe('captures on the simulated Azure', () => {
  it('[CLOUD-60] both ends: captured, compared, and nothing left behind', async () => {
    const { orchestrator, asked, lab, close } = await onLab('freight-booking-queue');
    const storage = lab.world.storage.find((s) => s.containers.includes('captures'))!;
    const started = await orchestrator.orchestrate({
      intent: 'capture_traffic',
      target: 'fb-web-01 to fb-mq-01',
      parameters: { ...parameters, storage_account: storage.name },
    });
    expect(started).toMatchObject({ status: 'task_pending' });
    let done = await orchestrator.orchestrate({ intent: 'check_task', task_id: started.task_id });
    for (let i = 0; i < 5 && done.status === 'task_pending'; i++)
      done = await orchestrator.orchestrate({ intent: 'check_task', task_id: started.task_id });
    expect(done).toMatchObject({ status: 'task_completed', result: { mode: 'dual_end' } });
    expect(readFileSync(done.result!.report_path, 'utf8')).toContain('## Executive Summary');
    for (const task_id of [started.task_id, started.paired_task!.task_id]) {
      expect(await orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
        state: 'DONE',
        cleanup_status: 'completed',
      });
    }
    expect(readLeftovers(lab.dir)).toEqual({ captures: 0, blobs: 0 });
    // Create, download, and three deletions for each end; nothing else needs a person.
    expect(asked).toHaveLength(10);
    expect(existsSync(done.result!.local_pcap_path)).toBe(false);
    await close();
  });

  it('[CLOUD-61] a denied create leaves nothing in the cloud', async () => {
    const { orchestrator, lab, close } = await onLab(
      'freight-booking-queue',
      (command) => !command.includes('packet-capture create'),
    );
    const storage = lab.world.storage.find((s) => s.containers.includes('captures'))!;
    const reply = await orchestrator.orchestrate({
      intent: 'capture_traffic',
      target: 'fb-web-01',
      parameters: { ...parameters, storage_account: storage.name },
    });
    expect(reply).toMatchObject({ status: 'task_cancelled', cleanup_status: 'skipped', error_detail: 'no' });
    expect(readLeftovers(lab.dir)).toEqual({ captures: 0, blobs: 0 });
    await close();
  });
});
