import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readLeftovers } from '../../src/lab/index.ts';
import { onLab } from './on-lab.ts';

const NOTHING = { captures: 0, blobs: 0 };

describe('captures on the simulated Azure', () => {
  it('[CLOUD-60] both ends: captured, compared, and nothing left behind', async () => {
    const b = await onLab();
    const started = await b.capture('fb-web-01 to fb-mq-01');
    expect(started).toMatchObject({ status: 'task_pending' });
    const done = await b.follow(started.task_id!);
    expect(done).toMatchObject({ status: 'task_completed', result: { mode: 'dual_end' } });
    expect(readFileSync(done.result!.report_path, 'utf8')).toContain('## Executive Summary');
    for (const task_id of [started.task_id!, started.paired_task!.task_id])
      expect(await b.cleanup(task_id)).toMatchObject({ state: 'DONE', cleanup_status: 'completed' });
    expect(readLeftovers(b.lab.dir)).toEqual(NOTHING);
    // Create, download, and three deletions for each end; nothing else needs a person.
    expect(b.asked).toHaveLength(10);
    expect(existsSync(done.result!.local_pcap_path)).toBe(false);
    await b.close();
  });
});
