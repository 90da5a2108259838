import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OrchestrateRequest } from '../../src/cloud/index.ts';
import { azureTwin } from './azure-twin.ts';
import { setUp } from './bench-of-one.ts';

describe('both ends', () => {
  it('[CLOUD-30] "a to b" makes two tasks that know each other, each approved on its own, compared once', async () => {
    const s = await setUp();
    const started = await s.capture('web-vm-01 to redis-vm');
    expect(started.paired_task!.task_id).toMatch(/^ghost_redis-vm_/);
    expect(s.azure.count('packet-capture create')).toBe(2);
    const done = await s.check(started.task_id!);
    expect(done).toMatchObject({
      status: 'task_completed',
      state: 'COMPLETED',
      result: { mode: 'dual_end' },
      paired_task: { state: 'COMPLETED' },
    });
    expect(s.azure.count('pcap-forensics')).toBe(1);
    expect(s.azure.requests.find((r) => r.command.startsWith('pcap-forensics'))!.command).toMatch(
      /ghost_web-vm-01_\S+\.pcap --compare \S*ghost_redis-vm_/,
    );
    const partner = await s.check(started.paired_task!.task_id);
    expect(partner.result!.report_path).toBe(done.result!.report_path);
  });

  it('[CLOUD-31] neither end is analysed before both are here', async () => {
    const s = await setUp();
    const started = await s.capture('a to b');
    let downloadsAtAnalysis = -1;
    const execute = s.azure.execute;
    s.azure.execute = async (request) => {
      if (request.command.startsWith('pcap-forensics')) downloadsAtAnalysis = s.azure.count('blob download');
      return execute(request);
    };
    await s.check(started.paired_task!.task_id);
    expect(downloadsAtAnalysis).toBe(2);
  });

  it.each([
    ['create denied', (azure: ReturnType<typeof azureTwin>) => azure.deny('--vm redis-vm')],
    [
      'download denied',
      (azure: ReturnType<typeof azureTwin>) => azure.deny('--name ghost_redis-vm_20260115T143000.cap --file'),
    ],
  ])('[CLOUD-32] one end dies (%s): the other falls back to a single-end analysis', async (_, harm) => {
    const azure = azureTwin();
    harm(azure);
    const s = await setUp({}, {}, azure);
    const started = await s.capture('web-vm-01 to redis-vm');
    expect(await s.check(started.task_id!)).toMatchObject({
      status: 'task_completed',
      result: { mode: 'single_end_fallback' },
      paired_task: { state: 'CANCELLED' },
    });
    expect(s.azure.count('--compare')).toBe(0);
  });
});

describe('requests', () => {
  const capture = (target: unknown, parameters: object = {}) => ({
    intent: 'capture_traffic',
    target,
    parameters: { storage_account: 'sacct', resource_group: 'rg', ...parameters },
  });
  const refused: readonly (readonly [OrchestrateRequest, string])[] = [
    [{ intent: '' }, 'missing_parameter'],
    [{ intent: 'reboot' }, 'unknown_intent'],
    [{ intent: 'check_task' }, 'missing_parameter'],
    [{ intent: 'check_task', task_id: 'ghost_nope' }, 'unknown_task'],
    [capture(undefined), 'missing_parameter'],
    [capture('vm', { storage_account: undefined }), 'missing_parameter'],
    [capture('vm', { resource_group: '' }), 'missing_parameter'],
    [capture('vm; rm -rf /'), 'invalid_parameter'],
    [capture('-vm'), 'invalid_parameter'],
    [capture('@/etc/passwd'), 'invalid_parameter'],
    [capture('vm --filters @/etc/shadow'), 'invalid_parameter'],
    [capture('$(id)'), 'invalid_parameter'],
    [capture('vm`id`'), 'invalid_parameter'],
    [capture('a to b to c'), 'invalid_parameter'],
    [capture('../vm'), 'invalid_parameter'],
    [capture('"vm"'), 'invalid_parameter'],
    [capture('vm', { storage_account: 'sa --file-path x' }), 'invalid_parameter'],
    [capture('vm', { resource_group: '--no-wait' }), 'invalid_parameter'],
    [capture('vm', { location: '-l' }), 'invalid_parameter'],
    [capture('vm', { duration_seconds: 'x' }), 'invalid_parameter'],
    [capture('vm', { storage_auth_mode: 'none' }), 'invalid_parameter'],
  ];

  it.each(refused)('[CLOUD-33] %j is refused with %s, without a command', async (request, error) => {
    const s = await setUp();
    const reply = await s.orchestrator.orchestrate(request);
    expect(reply).toEqual({ status: 'error', error, message: expect.any(String) });
    expect(s.azure.requests).toEqual([]);
  });

  it('[CLOUD-34] the time limit is clamped, two tasks in one second have two names, long names are shortened', async () => {
    const s = await setUp();
    const first = await s.capture('vm1', { duration_seconds: 9999 });
    const second = await s.capture('vm1');
    expect(s.azure.requests.find((r) => r.command.includes('create'))!.command).toContain('--time-limit 300');
    expect(second.task_id).toBe(`${first.task_id}-2`);
    const long = await s.capture(`v${'m'.repeat(80)}x`);
    expect(long.task_id!.length).toBeLessThanOrEqual(80);
  });

  it('[CLOUD-35] an account in another group is given by its full id when that is known, and asked for when not', async () => {
    const id =
      '/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/prod-rg/providers/Microsoft.Compute/virtualMachines/web-vm-01';
    const s = await setUp({ accountGroup: 'other-rg' });
    await s.capture(id);
    expect(s.azure.requests.find((r) => r.command.includes('create'))!.command).toContain(
      '/resourceGroups/other-rg/providers/Microsoft.Storage/storageAccounts/forensicsa',
    );
    const t = await setUp({ accountGroup: 'other-rg' });
    expect(await t.capture('web-vm-01')).toMatchObject({
      status: 'task_failed',
      message: expect.stringContaining('full resource id'),
    });
  });

  it('[CLOUD-36] every storage command carries --auth-mode; location is the VM’s region', async () => {
    const s = await setUp({ vmLocation: 'swedencentral' });
    const { task_id } = await s.capture('vm1', { storage_auth_mode: 'key', location: 'westeurope' });
    await s.check(task_id!);
    await s.orchestrator.orchestrate({ intent: 'cleanup_task', task_id });
    const sent = s.azure.requests.map((r) => r.command);
    expect(
      sent.filter((c) => /storage (blob|container)/.test(c)).every((c) => c.includes('--auth-mode key')),
    ).toBe(true);
    expect(
      sent
        .filter((c) => /packet-capture (show|show-status|delete)/.test(c))
        .every((c) => c.includes('--location swedencentral') && !c.includes('--resource-group')),
    ).toBe(true);
  });

  it('[CLOUD-37] hostile answers from az change nothing but the outcome', async () => {
    const s = await setUp({ storedAt: () => 'https://evil.example/captures/x;rm -rf ~' });
    const { task_id } = await s.capture();
    s.azure.blobs.add(`${task_id}.cap`);
    const reply = await s.check(task_id!);
    expect(s.azure.requests.some((r) => r.command.includes('evil'))).toBe(false);
    expect(reply.status).toBe('task_completed');
  });
});

describe('orphans', () => {
  it('[CLOUD-40] a task of another session that never ended is abandoned, and cleaning it leaves nothing', async () => {
    const s = await setUp({ runningPolls: 100 });
    const { task_id } = await s.capture();
    await s.orchestrator.close();
    const next = await setUp(
      {},
      { taskDir: s.folder, sessionId: 'ghost_later', captureDir: join(s.folder, 'captures') },
      s.azure,
    );
    const listed = await next.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(listed.orphans).toMatchObject([{ bucket: 'abandoned_tasks', task_id, state: 'WAITING' }]);
    expect(await next.orchestrator.orchestrate({ intent: 'cleanup_task', task_id })).toMatchObject({
      state: 'DONE',
      cleanup_status: 'completed',
    });
    expect(s.azure.captures.size).toBe(0);
    await next.orchestrator.close();
    const third = await setUp(
      {},
      { taskDir: s.folder, sessionId: 'ghost_third', captureDir: join(s.folder, 'captures') },
      s.azure,
    );
    expect((await third.orchestrator.orchestrate({ intent: 'list_tasks' })).orphans).toEqual([]);
  });

  it('[CLOUD-41] tasks of a session that is alive are not orphans', async () => {
    const s = await setUp({ runningPolls: 100 });
    await s.capture();
    const other = await setUp(
      {},
      { taskDir: s.folder, sessionId: 'ghost_beside', captureDir: join(s.folder, 'captures') },
    );
    expect((await other.orchestrator.orchestrate({ intent: 'list_tasks' })).orphans).toEqual([]);
    await s.orchestrator.close();
  });

  it('[CLOUD-42] completed but not cleaned is reported; DONE is not', async () => {
    const s = await setUp();
    const { task_id } = await s.capture();
    await s.check(task_id!);
    await s.orchestrator.close();
    const next = await setUp(
      {},
      { taskDir: s.folder, sessionId: 'ghost_later', captureDir: join(s.folder, 'captures') },
    );
    expect((await next.orchestrator.orchestrate({ intent: 'list_tasks' })).orphans).toMatchObject([
      { bucket: 'needs_cleanup', task_id },
    ]);
  });

  it('[CLOUD-43] captures in Azure that no registry knows are found in every region, however many', async () => {
    const azure = azureTwin({ regions: ['westeurope', 'eastus'] });
    for (let i = 0; i < 260; i++)
      azure.captures.set(`ghost_vm_20260101T${String(i).padStart(6, '0')}`, { polls: 0 });
    const s = await setUp({}, { scanAzure: true }, azure);
    const { orphans } = await s.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(orphans!.filter((o) => o.bucket === 'untracked_azure' && o.location === 'eastus')).toHaveLength(
      260,
    );
  });

  it('[CLOUD-44] a scan that could not be made is said, not passed off as clean', async () => {
    const azure = azureTwin();
    azure.fail('network watcher list', 'Please run az login', 1);
    const s = await setUp({}, { scanAzure: true }, azure);
    const listed = await s.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(listed.scan_problems!.join()).toContain('az login');
  });

  it('[CLOUD-45] old local files of ours are stale, others and young ones are not', async () => {
    const first = await setUp();
    const captures = join(first.folder, 'captures');
    mkdirSync(captures, { recursive: true });
    for (const name of ['ghost_old.pcap', 'ghost_new.pcap', 'holiday.pcap'])
      writeFileSync(join(captures, name), '');
    const old = new Date('2026-01-01T00:00:00Z');
    for (const name of ['ghost_old.pcap', 'holiday.pcap']) utimesSync(join(captures, name), old, old);
    utimesSync(
      join(captures, 'ghost_new.pcap'),
      new Date('2026-01-15T00:00:00Z'),
      new Date('2026-01-15T00:00:00Z'),
    );
    const s = await setUp({}, { taskDir: first.folder, captureDir: captures, sessionId: 'ghost_x' });
    const { orphans } = await s.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(orphans!.map((o) => o.resource)).toEqual([join(captures, 'ghost_old.pcap')]);
  });

  it('[CLOUD-46] a registry with corrupt lines or records of another version is read as far as it goes, and said', async () => {
    const s = await setUp();
    await s.capture();
    await s.orchestrator.close();
    const file = join(s.folder, 'orchestrator_tasks_other.jsonl');
    writeFileSync(file, 'not json\n{"task_id":"ghost_v9","state":"FLYING"}\n');
    const next = await setUp(
      {},
      { taskDir: s.folder, sessionId: 'ghost_next', captureDir: join(s.folder, 'captures') },
    );
    const listed = await next.orchestrator.orchestrate({ intent: 'list_tasks' });
    expect(listed.tasks).toHaveLength(1);
    expect(listed.scan_problems!.join('\n')).toContain('orchestrator_tasks_other.jsonl:1');
  });
});
