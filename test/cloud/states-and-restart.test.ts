import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffSeconds } from '../../src/cloud/drive.ts';
import { isEnded, TASK_STATES, type Task, TRANSITIONS } from '../../src/cloud/index.ts';
import { openRegistry } from '../../src/cloud/registry.ts';
import { testClock } from '../../src/core/testing.ts';
import { setUp } from './bench-of-one.ts';

const moves = TASK_STATES.flatMap((from) => TASK_STATES.map((to) => [from, to] as const));

describe('the state machine', () => {
  it('[CLOUD-50] every arrow of the table is accepted and every other refused', async () => {
    const registry = await openRegistry({
      sessionId: 's',
      taskDir: mkdtempSync(join(tmpdir(), 'writ-states-')),
      clock: testClock(),
    });
    const task = { task_id: 't', revision: 0, cleanup_plan: [], timestamps: {} } as unknown as Task;
    for (const [from, to] of moves) {
      const move = async () => registry.move({ ...task, state: from }, to);
      if (TRANSITIONS[from].includes(to)) await expect(move()).resolves.toMatchObject({ state: to });
      else await expect(move()).rejects.toThrow(`cannot go from ${from} to ${to}`);
    }
    await registry.close();
  });

  it('[CLOUD-50] every state is reachable, ended states lead only to cleaning up, DONE nowhere', () => {
    const reached = new Set(['CREATED', ...Object.values(TRANSITIONS).flat()]);
    expect([...TASK_STATES].filter((s) => !reached.has(s))).toEqual([]);
    for (const state of TASK_STATES.filter(isEnded))
      expect(TRANSITIONS[state].every((to) => to === 'CLEANING_UP' || to === 'DONE')).toBe(true);
    expect(TRANSITIONS.DONE).toEqual([]);
  });

  it('[CLOUD-04] the backoff is min(initial·2^(n-1), max) for every poll', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (n) => {
        expect(backoffSeconds(n, { pollInitialSeconds: 5, pollMaxSeconds: 30 })).toBe(
          Math.min(5 * 2 ** (n - 1), 30),
        );
      }),
    );
  });
});

describe('a restart at any point', () => {
  it('[CLOUD-51] the registry cut after any record: the next start finds the task, and nothing stays unaccounted for', async () => {
    const whole = await setUp({ runningPolls: 1 });
    const { task_id } = await whole.capture();
    await whole.check(task_id!);
    await whole.orchestrator.close();
    const lines = readFileSync(join(whole.folder, 'orchestrator_tasks_ghost_20260115_143000.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.length).toBeGreaterThan(8);
    for (let keep = 1; keep <= lines.length; keep++) {
      const folder = mkdtempSync(join(tmpdir(), 'writ-restart-'));
      cpSync(join(whole.folder, 'captures'), join(folder, 'captures'), { recursive: true });
      writeFileSync(
        join(folder, 'orchestrator_tasks_ghost_20260115_143000.jsonl'),
        `${lines.slice(0, keep).join('\n')}\n`,
        { mode: 0o600 },
      );
      const state = (JSON.parse(lines[keep - 1]!) as Task).state;
      // Azure as it was at that moment: the capture exists once create may have been sent.
      const next = await setUp(
        { runningPolls: 0 },
        { taskDir: folder, captureDir: join(folder, 'captures') },
      );
      if (!['CREATED', 'DETECTING'].includes(state)) next.azure.captures.set(task_id!, { polls: 0 });
      let reply = await next.check(task_id!);
      expect(reply.status, `cut after ${state}`).not.toBe('error');
      if (reply.status === 'task_completed')
        reply = await next.orchestrator.orchestrate({ intent: 'cleanup_task', task_id });
      expect(
        [reply.cleanup_status, next.azure.captures.size, next.azure.blobs.size],
        `cut after ${state}`,
      ).toEqual([['CREATED', 'DETECTING'].includes(state) ? 'skipped' : 'completed', 0, 0]);
      await next.orchestrator.close();
    }
  });

  it('[CLOUD-51] interrupted create that never took effect: nothing is deleted, nothing is claimed', async () => {
    const s = await setUp();
    const { task_id } = await s.capture();
    await s.orchestrator.close();
    const file = 'orchestrator_tasks_ghost_20260115_143000.jsonl';
    const lines = readFileSync(join(s.folder, file), 'utf8').trimEnd().split('\n').slice(0, 3);
    const folder = mkdtempSync(join(tmpdir(), 'writ-restart-'));
    writeFileSync(join(folder, file), `${lines.join('\n')}\n`, { mode: 0o600 });
    const next = await setUp({}, { taskDir: folder, captureDir: join(folder, 'captures') });
    expect(await next.check(task_id!)).toMatchObject({
      status: 'task_cancelled',
      state: 'ABANDONED',
      cleanup_status: 'skipped',
    });
    expect(next.azure.count('delete')).toBe(0);
  });
});
