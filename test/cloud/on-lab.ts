import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrchestrateResponse, Orchestrator, OrchestratorOptions } from '../../src/cloud/index.ts';
import type { Approver } from '../../src/core/index.ts';
import { type PreparedLab, prepareLab, worldFile } from '../../src/lab/index.ts';
import { openLabSession, SPEED } from './lab-session.ts';

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

export const WORLD = 'freight-booking-queue';
const ACCOUNT = 'freightcaps';

export async function onLab(
  options: Partial<OrchestratorOptions> = {},
  world = worldFile(WORLD),
): Promise<LabBench> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-cloud-lab-'));
  const lab = await prepareLab(world, join(folder, 'lab'), { speed: SPEED });
  const asked: string[] = [];
  let approve: (command: string) => boolean = () => true;
  const approver: Approver = {
    ask: async (q) => {
      asked.push(q.action.subject);
      return approve(q.action.subject)
        ? { kind: 'approve', approver: 't' }
        : { kind: 'deny', approver: 't', reason: 'not today' };
    },
  };
  let sessions = 0;
  const next = () => openLabSession(folder, `ghost_lab_${++sessions}`, approver, options);
  let session = await next();
  const ask = (intent: string, task_id: string) => session.orchestrator.orchestrate({ intent, task_id });
  return {
    lab,
    captures: join(folder, 'audit', 'captures'),
    asked,
    answer: (decide) => {
      approve = decide;
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
      await session.close();
      session = await next();
    },
    close: () => session.close(),
  };
}
