import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createOrchestrator,
  type OrchestrateResponse,
  type Orchestrator,
  type OrchestratorOptions,
} from '../../src/cloud/index.ts';
import { systemIds } from '../../src/core/index.ts';
import { labClock, type PreparedLab, prepareLab, worldFile } from '../../src/lab/index.ts';
import { openLedger } from '../../src/ledger/index.ts';
import { createShell } from '../../src/shell/index.ts';

/** The whole road on the simulated Azure: real shell, real classification, real forensic engine. */
export interface LabBench {
  readonly lab: PreparedLab;
  readonly captures: string;
  /** Every command a person was asked about, in order. */
  readonly asked: string[];
  /** Changes the person's mind: who is asked from now on. */
  answer(approve: (command: string) => boolean): void;
  readonly orchestrator: () => Orchestrator;
  capture(target?: string, extra?: Record<string, unknown>): Promise<OrchestrateResponse>;
  /** check_task until it no longer answers task_pending. */
  follow(taskId: string): Promise<OrchestrateResponse>;
  cleanup(taskId: string): Promise<OrchestrateResponse>;
  /** The session ends, and another one starts in the same folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const SPEED = 600;
export const WORLD = 'freight-booking-queue';
const ACCOUNT = 'freightcaps';

export async function onLab(
  options: Partial<OrchestratorOptions> = {},
  world = worldFile(WORLD),
): Promise<LabBench> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-cloud-lab-'));
  const lab = await prepareLab(world, join(folder, 'lab'), { speed: SPEED });
  const clock = labClock(SPEED);
  const ledger = openLedger({ stateDir: join(folder, '.writ'), clock });
  const openJournal = (path: string) => ledger.openJournal({ path, flush: 'group' });
  const auditDir = join(folder, 'audit');
  const asked: string[] = [];
  let approve: (command: string) => boolean = () => true;

  const openSession = async (sessionId: string) => {
    const shell = await createShell({
      sessionId,
      auditDir,
      openJournal,
      approver: {
        ask: async (q) => {
          asked.push(q.action.subject);
          return approve(q.action.subject)
            ? { kind: 'approve', approver: 't' }
            : { kind: 'deny', approver: 't', reason: 'not today' };
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
      sessionId,
      taskDir: auditDir,
      captureDir: join(auditDir, 'captures'),
      clock,
      openJournal,
      ...options,
    });
    return { shell, orchestrator };
  };

  let sessions = 1;
  let session = await openSession('ghost_lab_1');
  const close = async () => {
    await session.orchestrator.close();
    await session.shell.close();
  };
  const ask = (intent: string, task_id: string) => session.orchestrator.orchestrate({ intent, task_id });
  return {
    lab,
    captures: join(auditDir, 'captures'),
    asked,
    answer: (next) => {
      approve = next;
    },
    orchestrator: () => session.orchestrator,
    capture: (target = 'fb-web-01', extra = {}) =>
      session.orchestrator.orchestrate({
        intent: 'capture_traffic',
        target,
        parameters: {
          resource_group: 'rg-freight',
          storage_account: ACCOUNT,
          duration_seconds: 30,
          ...extra,
        },
        investigation_context: 'Bookings stay in the queue',
      }),
    follow: async (taskId) => {
      let reply = await ask('check_task', taskId);
      for (let i = 0; i < 10 && reply.status === 'task_pending'; i++) reply = await ask('check_task', taskId);
      return reply;
    },
    cleanup: (taskId) => ask('cleanup_task', taskId),
    restart: async () => {
      await close();
      sessions++;
      session = await openSession(`ghost_lab_${sessions}`);
    },
    close,
  };
}
