import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readLeftovers, worldFile } from '../../src/lab/index.ts';
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

  const subscription = '00000000-1ab0-4a2b-8c3d-000000000001';
  const id = (group: string, type: string, name: string) =>
    `/subscriptions/${subscription}/resourceGroups/${group}/providers/${type}/${name}`;
  const vm = (group: string, name: string) => id(group, 'Microsoft.Compute/virtualMachines', name);

  it('[CLOUD-38] the two ends in two resource groups, given by their ids: compared and cleaned up', async () => {
    const b = await onLab({ scanAzure: false }, worldFile('shipyard-cad-transit'));
    const started = await b.capture(
      `${vm('shipyard-cad', 'sy-cad-03')} to ${vm('shipyard-data', 'sy-vault-01')}`,
      { storage_account: 'shipyardcaps', resource_group: undefined },
    );
    expect(started.message).toContain('Call check_task');
    const done = await b.follow(started.task_id!);
    expect(done).toMatchObject({ status: 'task_completed', result: { mode: 'dual_end' } });
    for (const task_id of [started.task_id!, started.paired_task!.task_id])
      expect(await b.cleanup(task_id)).toMatchObject({ state: 'DONE' });
    expect(readLeftovers(b.lab.dir)).toEqual(NOTHING);
    await b.close();
  });

  it('[CLOUD-38] or as group/name, with the storage account by its id; without it, what is missing is said', async () => {
    const b = await onLab({ scanAzure: false }, worldFile('shipyard-cad-transit'));
    const both = 'shipyard-cad/sy-cad-03 to shipyard-data/sy-vault-01';
    const byName = await b.capture(both, { storage_account: 'shipyardcaps', resource_group: undefined });
    // The account is in the second end's group: that end lives, the other says what it needs.
    expect(byName).toMatchObject({ status: 'task_pending', paired_task: { state: 'FAILED' } });
    await b.orchestrator().orchestrate({ intent: 'cancel_task', task_id: byName.task_id });
    const { tasks } = await b.orchestrator().orchestrate({ intent: 'list_tasks' });
    expect(tasks!.find((t) => t.state === 'FAILED')!.error_detail).toContain('give its full resource id');
    const account = id('shipyard-data', 'Microsoft.Storage/storageAccounts', 'shipyardcaps');
    const started = await b.capture(both, { storage_account: account, resource_group: undefined });
    expect(started).toMatchObject({ status: 'task_pending', paired_task: { state: 'WAITING' } });
    for (const task_id of [started.task_id, started.paired_task!.task_id])
      expect(await b.orchestrator().orchestrate({ intent: 'cancel_task', task_id })).toMatchObject({
        state: 'CANCELLED',
        cleanup_status: 'completed',
      });
    expect(readLeftovers(b.lab.dir)).toEqual(NOTHING);
    await b.close();
  });
});
