import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '../../src/cloud/index.ts';
import { readTask } from '../../src/cloud/record.ts';
import { openJournal } from '../../src/ledger/index.ts';
import { azureTwin } from './azure-twin.ts';
import { type Setup, setUp } from './bench-of-one.ts';

const beside = (s: Setup, sessionId: string) =>
  setUp({}, { taskDir: s.folder, captureDir: join(s.folder, 'captures'), sessionId }, s.azure);

describe('one session at a time has a task in hand', () => {
  it('[CLOUD-47] another session is refused while the first lives, and takes over when it is gone', async () => {
    const s = await setUp({ runningPolls: 0 });
    const { task_id } = await s.capture();
    const other = await beside(s, 'ghost_beside');
    for (const intent of ['check_task', 'cancel_task', 'cleanup_task'])
      expect(await other.orchestrator.orchestrate({ intent, task_id })).toMatchObject({
        error: 'task_in_use',
        message: expect.stringContaining('ghost_20260115_143000'),
      });
    expect(s.azure.count('delete')).toBe(0);
    await s.orchestrator.close();
    expect(await other.check(task_id!)).toMatchObject({ status: 'task_completed' });
    // The new hand lives on: the old session, started again, is refused in turn.
    const again = await beside(s, 'ghost_20260115_143000');
    expect(await again.orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
      error: 'task_in_use',
    });
    await other.orchestrator.close();
  });

  it('[CLOUD-47] two sessions that start captures in the same second have different names', async () => {
    const s = await setUp();
    const other = await beside(s, 'ghost_beside');
    const [one, two] = await Promise.all([s.capture(), other.capture()]);
    expect(one.task_id).not.toBe(two.task_id);
    expect(s.azure.captures.size).toBe(2);
  });

  it('[CLOUD-47] the newest record wins whatever the clocks say', async () => {
    const s = await setUp();
    const { task_id } = await s.capture();
    await s.orchestrator.close();
    const later = await beside(s, 'ghost_a_later_session_with_a_smaller_name');
    await later.orchestrator.orchestrate({ intent: 'cancel_task', task_id });
    await later.orchestrator.close();
    // A third session reads both files; all clocks stood still.
    const third = await beside(s, 'ghost_third');
    const { tasks } = await third.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(tasks!.map((t) => t.state)).toEqual(['CANCELLED']);
  });
});

describe('what counts as gone', () => {
  it.each([
    'az: command not found',
    '(SubscriptionNotFound) The subscription could not be found.',
    '(ResourceGroupNotFound) Resource group NetworkWatcherRG could not be found.',
    "Failed to resolve 'management.azure.com': Name or service not found",
    'getaddrinfo ENOTFOUND management.azure.com',
  ])('[CLOUD-14] "%s" is not absence: the task stays partial', async (stderr) => {
    const s = await setUp();
    const { task_id } = await s.capture();
    await s.check(task_id!);
    s.azure.fail('packet-capture delete', stderr, 1);
    expect(await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
      state: 'CLEANING_UP',
      cleanup_status: 'partial',
    });
    expect(s.azure.captures.size).toBe(1);
  });

  it('[CLOUD-14] a deletion that was changed at the gate is not taken for done', async () => {
    const s = await setUp();
    const { task_id } = await s.capture();
    await s.check(task_id!);
    const execute = s.azure.execute;
    s.azure.execute = async (request) => ({ ...(await execute(request)), action: 'user_modified' });
    expect(await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
      cleanup_status: 'partial',
      warnings: expect.arrayContaining([expect.stringContaining('another command was run in its place')]),
    });
    s.azure.execute = execute;
    expect(await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
      state: 'DONE',
    });
  });

  it('[CLOUD-48] a capture that exists although its task says nothing was created is found by the scan', async () => {
    const s = await setUp();
    s.azure.deny('packet-capture create');
    const { task_id } = await s.capture();
    await s.orchestrator.close();
    s.azure.captures.set(task_id!, { polls: 0 });
    const next = await setUp(
      {},
      {
        taskDir: s.folder,
        sessionId: 'ghost_later',
        captureDir: join(s.folder, 'captures'),
        scanAzure: true,
      },
      s.azure,
    );
    expect((await next.orchestrator.orchestrate({ intent: 'list_tasks' })).orphans).toMatchObject([
      { bucket: 'untracked_azure', resource: task_id },
    ]);
  });

  it('[CLOUD-48] how a task ended stays its status after cleaning up', async () => {
    const s = await setUp({ finalStatus: 'Failed' });
    const { task_id } = await s.capture();
    await s.check(task_id!);
    expect(await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
      state: 'DONE',
      status: 'task_failed',
      message: expect.stringContaining('without a result'),
    });
  });
});

describe('records from disk', () => {
  async function oneTask(): Promise<{ s: Setup; task: Task }> {
    const s = await setUp();
    await s.capture();
    await s.orchestrator.close();
    return { s, task: s.records().at(-1)! };
  }

  it('[CLOUD-49] a cleanup command that is not the task’s own is refused and never run', async () => {
    const { s, task } = await oneTask();
    const [first, ...rest] = task.cleanup_plan;
    const forged: Task = {
      ...task,
      task_id: 'ghost_forged_1',
      cleanup_plan: [{ ...first!, command: 'cat /etc/passwd' }, ...rest],
    };
    expect(readTask({ ...forged })).toMatchObject({ ok: false });
    const file = join(s.folder, 'orchestrator_tasks_evil.jsonl');
    const journal = await openJournal({ path: file, clock: s.clock, flush: 'each' });
    const {
      sequence: _s,
      timestamp: _t,
      prev_hash: _p,
      hash: _h,
      ...body
    } = forged as Task & Record<string, unknown>;
    await journal.append(body as never);
    await journal.append({ ...body, task_id: 'ghost_v2', version: 2 } as never);
    await journal.close();
    appendFileSync(file, '{"torn');
    const next = await beside(s, 'ghost_next');
    const listed = await next.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(listed.scan_problems).toEqual([
      expect.stringContaining(
        "orchestrator_tasks_evil.jsonl:1: a cleanup command that is not the task's own",
      ),
      expect.stringContaining('orchestrator_tasks_evil.jsonl:2: a record of another version of Writ'),
      expect.stringContaining('orchestrator_tasks_evil.jsonl:3:'),
    ]);
    expect(
      await next.orchestrator.orchestrate({ intent: 'cleanup_task', task_id: 'ghost_forged_1' }),
    ).toMatchObject({ error: 'unknown_task' });
  });

  it('[CLOUD-49] a file full of rubbish is one short report, and the others are read', async () => {
    const { s } = await oneTask();
    writeFileSync(join(s.folder, 'orchestrator_tasks_rubbish.jsonl'), 'x\n'.repeat(5000));
    const next = await beside(s, 'ghost_next');
    const listed = await next.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(listed.tasks).toHaveLength(1);
    expect(listed.scan_problems!.length).toBeLessThan(60);
    expect(listed.scan_problems!.at(-1)).toContain('more lines like these');
  });
});

describe('a pair that was cut apart', () => {
  it('[CLOUD-32] the comparison is not made again when only the record of it is missing at one end', async () => {
    const s = await setUp({ runningPolls: 0 });
    const started = await s.capture('a-vm to b-vm');
    await s.check(started.task_id!);
    await s.orchestrator.close();
    const file = join(s.folder, 'orchestrator_tasks_ghost_20260115_143000.jsonl');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect((JSON.parse(lines.at(-1)!) as Task).state).toBe('COMPLETED');
    writeFileSync(file, `${lines.slice(0, -1).join('\n')}\n`);
    const next = await beside(s, 'ghost_next');
    const reply = await next.check(started.paired_task!.task_id);
    expect(reply).toMatchObject({ status: 'task_completed', result: { mode: 'dual_end' } });
    expect(s.azure.count('pcap-forensics')).toBe(1);
  });
});

describe('targets', () => {
  const subscription = '00000000-1111-2222-3333-444444444444';
  const id = `/subscriptions/${subscription}/resourceGroups/far-rg/providers/Microsoft.Compute/virtualMachines/far-vm`;

  it('[CLOUD-38] every command about a machine given by its id names its subscription', async () => {
    const s = await setUp({}, {}, azureTwin({ accountGroup: 'far-rg' }));
    const { task_id } = await s.capture(id, { resource_group: undefined });
    await s.check(task_id!);
    await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id });
    const sent = s.azure.requests.map((r) => r.command).filter((c) => c.startsWith('az '));
    expect(sent.filter((c) => !c.includes(subscription))).toEqual([]);
    expect(sent.filter((c) => c.includes(`--subscription ${subscription}`)).length).toBe(sent.length - 1);
  });

  it('[CLOUD-38] group/name goes before the request’s group; both ends the same is refused', async () => {
    const s = await setUp({ accountGroup: 'other-rg' });
    await s.capture('other-rg/vm1');
    expect(s.azure.requests.find((r) => r.command.includes('create'))!.command).toContain(
      '--resource-group other-rg --vm vm1',
    );
    expect(await s.capture('vm1 to prod-rg/VM1')).toMatchObject({ error: 'invalid_parameter' });
    expect(await s.capture('vm1', { resource_group: undefined })).toMatchObject({
      error: 'missing_parameter',
    });
  });
});
