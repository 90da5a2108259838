import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { OrchestrateResponse } from '../../src/cloud/index.ts';
import { readLeftovers, type Trouble, type TroubleKind, writeTroubles } from '../../src/lab/index.ts';
import { testAz } from './lab-az.ts';
import { type LabBench, onLab } from './on-lab.ts';

/**
 * The seed's error table, row by row, on the simulated Azure. Each case ends with the same questions: how did
 * the task end, what does the caller learn, what is still in the cloud, and does a later session know of it.
 */
const NOTHING = { captures: 0, blobs: 0 };
const CREATE = 'network watcher packet-capture create';
const STATUS = 'network watcher packet-capture show-status';
const CAPTURE_DELETE = 'network watcher packet-capture delete';

let bench: LabBench;
afterEach(() => bench.close());

async function start(options: Parameters<typeof onLab>[0] = {}): Promise<LabBench> {
  bench = await onLab({ scanAzure: false, ...options });
  return bench;
}

function set(kind: TroubleKind, on = '', times: number | null = null): void {
  writeTroubles(bench.lab.dir, [{ kind, on, times } satisfies Trouble]);
}

/** What a session that starts now finds: in the cloud, and in the reports of orphans. */
async function later(): Promise<{ left: object; orphans: readonly (string | null)[] }> {
  writeTroubles(bench.lab.dir, []);
  await bench.restart();
  const listed = await bench.orchestrator().orchestrate({ intent: 'list_tasks' });
  return {
    left: readLeftovers(bench.lab.dir),
    orphans: listed.orphans!.map((o) => `${o.bucket} ${o.task_id}`),
  };
}

const ended = (reply: OrchestrateResponse) => [reply.status, reply.state, reply.error, reply.cleanup_status];

describe('provisioning fails', () => {
  it('[CLOUD-62] for any reason: FAILED with what Azure said, cleaned, nothing left', async () => {
    const b = await start();
    const failures: readonly (readonly [TroubleKind, string, RegExp])[] = [
      ['forbidden', CREATE, /AuthorizationFailed/],
      ['quota', '', /PacketCaptureLimitReached/],
      ['throttled', CREATE, /Throttled.*try again/s],
      ['no_agent', '', /agent extension/],
    ];
    for (const [kind, on, words] of failures) {
      set(kind, on);
      const reply = await b.capture();
      expect(ended(reply), kind).toEqual(['task_failed', 'FAILED', 'provisioning_failed', 'completed']);
      expect(reply.error_detail).toMatch(words);
      expect(reply.message).toContain('What it created was cleaned up');
      if (kind === 'no_agent') expect(reply.warnings!.join()).toContain('az vm extension set');
    }
    writeTroubles(b.lab.dir, []);
    testAz(b.lab, 'vm deallocate -g rg-freight -n fb-web-01');
    const off = await b.capture();
    expect(ended(off)).toEqual(['task_failed', 'FAILED', 'provisioning_failed', 'completed']);
    expect(off.error_detail).toContain('requires the VM to be running');
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
  });

  it('[CLOUD-62] Azure reporting the capture as broken: FAILED, cleaned', async () => {
    const b = await start();
    const { task_id } = await b.capture();
    set('capture_error');
    expect(ended(await b.follow(task_id!))).toEqual(['task_failed', 'FAILED', 'capture_failed', 'completed']);
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
  });
});

describe('the download fails', () => {
  it('[CLOUD-63] once: it is tried again and the task completes', async () => {
    const b = await start();
    const { task_id } = await b.capture();
    set('unreachable', 'storage blob download', 1);
    expect(await b.follow(task_id!)).toMatchObject({ status: 'task_completed', state: 'COMPLETED' });
    expect(b.asked.filter((c) => c.includes('blob download'))).toHaveLength(2);
  });

  it('[CLOUD-63] twice: FAILED, and the cloud is cleaned', async () => {
    const b = await start();
    const { task_id } = await b.capture();
    set('unreachable', 'storage blob download');
    const reply = await b.follow(task_id!);
    expect(ended(reply)).toEqual(['task_failed', 'FAILED', 'download_failed', 'completed']);
    expect(reply.error_detail).toContain('freightcaps.blob.core.windows.net');
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
    expect(readdirSync(b.captures)).toEqual([]);
  });

  it('[CLOUD-63] the blob is gone: FAILED, and its deletion counts as done', async () => {
    const b = await start();
    const { task_id } = await b.capture();
    const blob = `--account-name freightcaps -c captures --auth-mode login -n ${task_id}.cap`;
    testAz(b.lab, `storage blob delete ${blob}`);
    const reply = await b.follow(task_id!);
    expect(ended(reply)).toEqual(['task_failed', 'FAILED', 'download_failed', 'completed']);
    expect(reply.error_detail).toContain('BlobNotFound');
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
  });
});

describe('the engine fails', () => {
  it('[CLOUD-64] FAILED, the cloud is cleaned, and what it had written is removed', async () => {
    const b = await start();
    const { task_id } = await b.capture();
    // The real engine, with a folder where its report should go.
    mkdirSync(join(b.captures, `${task_id}_forensic_report.md`, 'in-the-way'), { recursive: true });
    const reply = await b.follow(task_id!);
    expect(ended(reply).slice(0, 3)).toEqual(['task_failed', 'FAILED', 'analysis_failed']);
    expect(readLeftovers(b.lab.dir)).toEqual(NOTHING);
    expect(existsSync(join(b.captures, `${task_id}.pcap`))).toBe(false);
    expect(existsSync(join(b.captures, `${task_id}_semantic.json`))).toBe(false);
  });
});

describe('a person says no', () => {
  const denying = (words: string) => (command: string) => !command.includes(words);

  it('[CLOUD-61] to the create: CANCELLED, nothing to clean, nothing asked twice', async () => {
    const b = await start();
    b.answer(denying(CREATE));
    const reply = await b.capture();
    expect(ended(reply)).toEqual(['task_cancelled', 'CANCELLED', 'denied', 'skipped']);
    expect(reply).toMatchObject({
      error_detail: 'not today',
      message: expect.stringContaining('Nothing had been created'),
    });
    await b.cleanup(reply.task_id!);
    expect(b.asked).toHaveLength(1);
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
  });

  it('[CLOUD-65] to the download: CANCELLED, the capture is cleaned', async () => {
    const b = await start();
    b.answer(denying('blob download'));
    const { task_id } = await b.capture();
    const reply = await b.follow(task_id!);
    expect(ended(reply)).toEqual(['task_cancelled', 'CANCELLED', 'denied', 'completed']);
    expect(b.asked.filter((c) => c.includes('blob download'))).toHaveLength(1);
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
  });

  it.each([
    ['the capture', CAPTURE_DELETE, { captures: 1, blobs: 0 }],
    ['the blob', 'storage blob delete', { captures: 0, blobs: 1 }],
    ['the local file', 'rm -- ', NOTHING],
  ])('[CLOUD-66] to deleting %s: partial, warned, found later, and cleaned then', async (_, words, left) => {
    const b = await start();
    b.answer(denying(words));
    const { task_id } = await b.capture();
    expect(await b.follow(task_id!)).toMatchObject({ status: 'task_completed' });
    const partial = await b.cleanup(task_id!);
    expect(ended(partial)).toEqual(['task_completed', 'CLEANING_UP', null, 'partial']);
    expect(partial.warnings!.join()).toMatch(/was not deleted \(denied: not today\)/);
    expect(partial.message).toMatch(/Left behind: .* Call cleanup_task again/);
    // The result is still valid.
    expect(existsSync(partial.result!.report_path)).toBe(true);
    expect(await later()).toEqual({ left, orphans: [`partially_cleaned ${task_id}`] });
    b.answer(() => true);
    expect(await b.cleanup(task_id!)).toMatchObject({ state: 'DONE', cleanup_status: 'completed' });
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
  });
});

describe('polling', () => {
  it('[CLOUD-67] a capture that never ends: TIMED_OUT, cleaned', async () => {
    const b = await start({ maxPolls: 4 });
    const { task_id } = await b.capture();
    set('capture_stuck');
    const reply = await b.follow(task_id!);
    expect(ended(reply)).toEqual(['task_timed_out', 'TIMED_OUT', 'polling_timeout', 'completed']);
    expect(reply.error_detail).toContain('did not complete within polling window');
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
  });

  it('[CLOUD-67] throttled polls are failed polls; the task goes on', async () => {
    const b = await start();
    const { task_id } = await b.capture();
    set('throttled', STATUS, 2);
    const reply = await b.follow(task_id!);
    expect([reply.status, reply.warnings]).toEqual(['task_completed', undefined]);
  });

  it('[CLOUD-67] a login that expires: said while it lasts, nothing lost, and the task resumes after', async () => {
    const b = await start({ burstSeconds: 0 });
    const { task_id } = await b.capture();
    set('token_expired');
    const pending = await b.orchestrator().orchestrate({ intent: 'check_task', task_id });
    expect(pending.status).toBe('task_pending');
    expect(pending.warnings!.join()).toContain('az login');
    writeTroubles(b.lab.dir, []);
    expect(await b.follow(task_id!)).toMatchObject({ status: 'task_completed' });
  });

  it('[CLOUD-67] cleanup that Azure forbids stays visible until it is done', async () => {
    const b = await start();
    const { task_id } = await b.capture();
    await b.follow(task_id!);
    set('forbidden', CAPTURE_DELETE);
    const partial = await b.cleanup(task_id!);
    expect(partial.warnings!.join()).toMatch(/failed: .*AuthorizationFailed/);
    expect(await later()).toEqual({
      left: { captures: 1, blobs: 0 },
      orphans: [`partially_cleaned ${task_id}`],
    });
    expect(await b.cleanup(task_id!)).toMatchObject({ state: 'DONE' });
  });
});

describe('before anything is created', () => {
  it('[CLOUD-68] storage that cannot be used for any reason: FAILED at once, nobody asked', async () => {
    const b = await start();
    const refused = async (words: RegExp, extra?: Record<string, unknown>) => {
      const reply = await b.capture(undefined, extra);
      expect(ended(reply)).toEqual(['task_failed', 'FAILED', 'storage_inaccessible', 'skipped']);
      expect(reply.error_detail).toMatch(words);
      expect(reply.message).toContain('Nothing had been created');
    };
    set('forbidden', 'storage container');
    await refused(/required permissions/);
    set('unreachable', 'storage container');
    await refused(/timed out/);
    writeTroubles(b.lab.dir, []);
    await refused(/elsewhere is inaccessible: it does not exist/, { storage_container: 'elsewhere' });
    testAz(b.lab, 'storage account update -n freightcaps --default-action Deny');
    await refused(/network rules/);
    expect(b.asked).toEqual([]);
    expect(await later()).toEqual({ left: NOTHING, orphans: [] });
  });

  it('[CLOUD-69] a target that is not there, or may not be looked at: an error without a task', async () => {
    const b = await start();
    expect(await b.capture('no-such-vm')).toMatchObject({
      status: 'error',
      error: 'detection_failed',
      message: expect.stringContaining('no-such-vm'),
    });
    set('forbidden', 'resource list');
    expect(await b.capture()).toMatchObject({
      error: 'detection_failed',
      message: expect.stringContaining('AuthorizationFailed'),
    });
    const { tasks } = await b.orchestrator().orchestrate({ intent: 'list_tasks' });
    expect([tasks, b.asked]).toEqual([[], []]);
  });
});

describe('the session ends with a pending task', () => {
  it('[CLOUD-69] the next start finds it in the registry, and in Azure when the registry is lost', async () => {
    const b = await start({ scanAzure: true });
    const { task_id } = await b.capture();
    await b.restart();
    const listed = await b.orchestrator().orchestrate({ intent: 'list_tasks' });
    expect(listed.orphans).toMatchObject([{ bucket: 'abandoned_tasks', task_id }]);
    expect(await b.cleanup(task_id!)).toMatchObject({ state: 'DONE', status: 'task_cancelled' });
    expect(readLeftovers(b.lab.dir)).toEqual(NOTHING);
    testAz(b.lab, `${CREATE} -g rg-freight --vm fb-web-01 -n ghost_lost --storage-account freightcaps`);
    await b.restart();
    const again = await b.orchestrator().orchestrate({ intent: 'list_tasks' });
    expect(again.orphans).toMatchObject([{ bucket: 'untracked_azure', resource: 'ghost_lost' }]);
  });
});
