import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setUp } from './bench-of-one.ts';

describe('one capture, start to end', () => {
  it('[CLOUD-01] [CLOUD-06] leaves CREATED, DETECTING, APPROVED, PROVISIONING, WAITING and answers task_pending at once', async () => {
    const s = await setUp();
    const started = await s.capture();
    expect(started).toMatchObject({
      status: 'task_pending',
      state: 'WAITING',
      investigation_context: 'Intermittent 502 from web-vm-01',
      poll_count: 0,
      max_polls: 20,
      error: null,
    });
    expect(started.task_id).toMatch(/^ghost_web-vm-01_\d{8}T\d{6}$/);
    expect(s.trail(started.task_id!)).toEqual([
      'CREATED',
      'DETECTING',
      'APPROVED',
      'PROVISIONING',
      'WAITING',
    ]);
  });

  it('[CLOUD-02] goes on through download and analysis in one burst, then cleans up to DONE', async () => {
    const s = await setUp({ runningPolls: 2 });
    const { task_id } = await s.capture();
    const done = await s.check(task_id!);
    expect(done).toMatchObject({
      status: 'task_completed',
      state: 'COMPLETED',
      cleanup_status: 'pending',
      burst_polls: 3,
    });
    expect(done.burst_duration_seconds).toBe(15);
    expect(done.result!.report_path).toContain(`${task_id}_forensic_report.md`);
    expect(existsSync(done.result!.local_pcap_path)).toBe(true);
    const cleaned = await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id });
    expect(cleaned).toMatchObject({ status: 'task_completed', state: 'DONE', cleanup_status: 'completed' });
    expect(s.trail(task_id!)).toEqual([
      'CREATED',
      'DETECTING',
      'APPROVED',
      'PROVISIONING',
      'WAITING',
      'DOWNLOADING',
      'ANALYZING',
      'COMPLETED',
      'CLEANING_UP',
      'DONE',
    ]);
    expect([s.azure.captures.size, s.azure.blobs.size]).toEqual([0, 0]);
    const last = s.records().at(-1)!;
    expect(last.cleanup_plan.map((step) => [step.kind, step.executed])).toEqual([
      ['capture', true],
      ['blob', true],
      ['local', true],
    ]);
  });

  it('[CLOUD-03] the cleanup plan is on record before the create command is sent', async () => {
    const s = await setUp();
    let planned = false;
    const execute = s.azure.execute;
    s.azure.execute = async (request) => {
      if (request.command.includes('packet-capture create'))
        planned = s.records().at(-1)!.state === 'APPROVED' && s.records().at(-1)!.cleanup_plan.length === 3;
      return execute(request);
    };
    await s.capture();
    expect(planned).toBe(true);
  });

  it('[CLOUD-04] polls with backoff 5, 10, 20, 30, 30 … and returns pending when the burst is over', async () => {
    const s = await setUp({ runningPolls: 100 });
    const { task_id } = await s.capture();
    const first = await s.check(task_id!);
    expect(first).toMatchObject({ status: 'task_pending', state: 'WAITING', burst_polls: 4, poll_count: 4 });
    expect(first.burst_duration_seconds).toBe(35);
    const second = await s.check(task_id!);
    expect(second).toMatchObject({ burst_polls: 2, poll_count: 6 });
  });

  it('[CLOUD-05] twenty polls without an end: TIMED_OUT, cleaned up by itself, and said truthfully', async () => {
    const s = await setUp({ runningPolls: 1000 });
    const { task_id } = await s.capture();
    let reply = await s.check(task_id!);
    for (let i = 0; i < 20 && reply.status === 'task_pending'; i++) reply = await s.check(task_id!);
    expect(reply).toMatchObject({
      status: 'task_timed_out',
      state: 'TIMED_OUT',
      poll_count: 20,
      cleanup_status: 'completed',
    });
    expect(reply.message).toContain('cleaned up');
    expect(s.azure.captures.size).toBe(0);
  });

  it('[CLOUD-07] a poll that fails is a failed poll, an unknown status is still waiting', async () => {
    const s = await setUp({ runningPolls: 1 });
    s.azure.fail('show-status', 'temporary trouble', 1);
    const { task_id } = await s.capture();
    expect(await s.check(task_id!)).toMatchObject({ status: 'task_completed', poll_count: 3 });
  });

  it('[CLOUD-07] a status nobody knows is still waiting, and so is none at all', async () => {
    for (const finalStatus of ['Creating', 'NotStarted', 'Unknown', '']) {
      const s = await setUp({ runningPolls: 0, finalStatus });
      const { task_id } = await s.capture();
      expect(await s.check(task_id!)).toMatchObject({ status: 'task_pending', state: 'WAITING' });
    }
  });

  it('[CLOUD-08] every command carries reasoning, and create the context verbatim', async () => {
    const s = await setUp();
    const { task_id } = await s.capture();
    await s.check(task_id!);
    expect(s.azure.requests.every((r) => r.reasoning.length > 10)).toBe(true);
    expect(s.azure.requests.find((r) => r.command.includes('create'))!.reasoning).toContain(
      'Intermittent 502 from web-vm-01',
    );
  });

  it('[CLOUD-09] the blob is fetched and deleted where Azure says it is, not where it was asked to be', async () => {
    const s = await setUp({
      storedAt: () => 'https://forensicsa.blob.core.windows.net/captures/2026/01/15/real.cap',
    });
    const { task_id } = await s.capture();
    await s.check(task_id!);
    expect(
      s.azure.requests.some(
        (r) => r.command.includes('blob download') && r.command.includes('2026/01/15/real.cap'),
      ),
    ).toBe(true);
    await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id });
    expect(s.azure.blobs.size).toBe(0);
  });

  it('[CLOUD-10] a missing capture agent is explained, not fatal', async () => {
    const s = await setUp({ extensions: '[]' });
    const started = await s.capture();
    expect(started.warnings!.join(' ')).toMatch(/no Network Watcher agent.*az vm extension set/);
    expect(started.status).toBe('task_pending');
  });
});

describe('failures and denials', () => {
  it('[CLOUD-11] denied create: CANCELLED, sent once, nothing to clean', async () => {
    const s = await setUp();
    s.azure.deny('packet-capture create');
    const reply = await s.capture();
    expect(reply).toMatchObject({
      status: 'task_cancelled',
      state: 'CANCELLED',
      cleanup_status: 'skipped',
      error_detail: 'not today',
    });
    expect([s.azure.count('create'), s.azure.count('delete')]).toEqual([1, 0]);
  });

  it('[CLOUD-12] denied download: CANCELLED, sent once, the capture is cleaned', async () => {
    const s = await setUp();
    s.azure.deny('blob download');
    const { task_id } = await s.capture();
    expect(await s.check(task_id!)).toMatchObject({
      status: 'task_cancelled',
      state: 'CANCELLED',
      cleanup_status: 'completed',
    });
    expect([s.azure.count('blob download'), s.azure.captures.size]).toEqual([1, 0]);
  });

  it('[CLOUD-13] denied deletion: partial, a warning names the resource, the task stays visible and can be retried', async () => {
    const s = await setUp();
    s.azure.deny('packet-capture delete');
    const { task_id } = await s.capture();
    await s.check(task_id!);
    const partial = await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id });
    expect(partial).toMatchObject({
      status: 'task_completed',
      state: 'CLEANING_UP',
      cleanup_status: 'partial',
    });
    expect(partial.message).toContain(`packet capture ${task_id}`);
    await s.orchestrator.close();
    const next = await setUp(
      {},
      { taskDir: s.folder, sessionId: 'ghost_20260117_090000', captureDir: `${s.folder}/captures` },
    );
    const listed = await next.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(listed.orphans).toMatchObject([{ bucket: 'partially_cleaned', task_id }]);
    expect(await next.orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
      state: 'DONE',
      cleanup_status: 'completed',
    });
  });

  it('[CLOUD-14] "not found" on deletion counts as deleted', async () => {
    const s = await setUp();
    const { task_id } = await s.capture();
    await s.check(task_id!);
    s.azure.captures.clear();
    s.azure.blobs.clear();
    expect(await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
      state: 'DONE',
      cleanup_status: 'completed',
    });
  });

  it('[CLOUD-15] download is tried twice after 5 s, then FAILED and cleaned', async () => {
    const s = await setUp();
    s.azure.fail('blob download', 'connection reset', 2);
    const { task_id } = await s.capture();
    expect(await s.check(task_id!)).toMatchObject({
      status: 'task_failed',
      error: 'download_failed',
      cleanup_status: 'completed',
    });
    expect(s.azure.count('blob download')).toBe(2);
    const again = await setUp();
    again.azure.fail('blob download', 'connection reset', 1);
    const second = await again.capture();
    expect(await again.check(second.task_id!)).toMatchObject({ status: 'task_completed' });
  });

  it.each([
    ['packet-capture create', '(Forbidden) no permission', 'provisioning_failed'],
    ['pcap-forensics', 'not a capture', 'analysis_failed'],
  ])('[CLOUD-16] %s failing is FAILED with cleanup', async (command, stderr, error) => {
    const s = await setUp();
    s.azure.fail(command, stderr, 1);
    const started = await s.capture();
    const reply = started.status === 'task_pending' ? await s.check(started.task_id!) : started;
    expect(reply).toMatchObject({ status: 'task_failed', error });
    expect(['completed', 'partial']).toContain(reply.cleanup_status);
    expect(s.azure.captures.size).toBe(0);
  });

  it('[CLOUD-16] Azure reporting the capture as failed is FAILED with cleanup', async () => {
    const s = await setUp({ finalStatus: 'Failed' });
    const { task_id } = await s.capture();
    expect(await s.check(task_id!)).toMatchObject({
      status: 'task_failed',
      error: 'capture_failed',
      cleanup_status: 'completed',
    });
  });

  it('[CLOUD-17] an inaccessible container fails before anything is created', async () => {
    const s = await setUp({ container: 'false' });
    const reply = await s.capture();
    expect(reply).toMatchObject({ status: 'task_failed', state: 'FAILED', cleanup_status: 'skipped' });
    expect(reply.message).toContain('inaccessible');
    expect([s.azure.count('create'), s.azure.count('delete')]).toEqual([0, 0]);
  });

  it('[CLOUD-18] a target that cannot be found is an error without a task', async () => {
    const s = await setUp({ type: '' });
    const reply = await s.capture();
    expect(reply).toEqual({ status: 'error', error: 'detection_failed', message: expect.any(String) });
    expect(s.azure.count('az resource')).toBe(1);
  });

  it('[CLOUD-19] AKS is answered with what is supported; other types are refused', async () => {
    const aks = await (await setUp({ type: 'Microsoft.ContainerService/managedClusters' })).capture();
    expect(aks).toMatchObject({
      status: 'task_completed',
      target_type: 'aks',
      message: expect.stringContaining('AKS'),
    });
    expect(aks.task_id).toBeUndefined();
    expect(await (await setUp({ type: 'Microsoft.Network/loadBalancers' })).capture()).toMatchObject({
      status: 'error',
      error: 'unsupported_target',
    });
  });

  it('[CLOUD-20] a registry that cannot be written stops the task before anything is created', async () => {
    const s = await setUp();
    mkdirSync(join(s.folder, 'orchestrator_tasks_ghost_20260115_143000.jsonl'));
    const reply = await s.capture();
    expect(reply).toMatchObject({ status: 'error', error: 'registry_failure' });
    expect(s.azure.count('create')).toBe(0);
  });

  it('[CLOUD-21] ended tasks answer the same again and send nothing', async () => {
    const s = await setUp();
    const { task_id } = await s.capture();
    await s.check(task_id!);
    await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id });
    const sent = s.azure.requests.length;
    for (const intent of ['check_task', 'cancel_task', 'cleanup_task']) {
      expect(await s.orchestrator.orchestrate({ intent, task_id })).toMatchObject({
        status: 'task_completed',
        state: 'DONE',
      });
    }
    expect(s.azure.requests.length).toBe(sent);
  });

  it('[CLOUD-22] cancel cleans up what was created', async () => {
    const s = await setUp();
    const { task_id } = await s.capture();
    const reply = await s.orchestrator.orchestrate({
      intent: 'cancel_task',
      task_id,
      reason: 'no longer needed',
    });
    expect(reply).toMatchObject({
      status: 'task_cancelled',
      state: 'CANCELLED',
      cleanup_status: 'completed',
      error_detail: 'no longer needed',
    });
    expect(s.azure.captures.size).toBe(0);
  });
});
