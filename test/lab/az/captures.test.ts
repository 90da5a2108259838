import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testLab } from '../lab-dir.ts';

const AT = ['-l', 'westeurope'];
const CAPTURE = ['network', 'watcher', 'packet-capture'];
const BLOB = ['--account-name', 'shopcaps', '--auth-mode', 'login'];

const create = (lab: ReturnType<typeof testLab>, name: string, ...more: string[]) =>
  lab.az(
    ...CAPTURE,
    'create',
    '-g',
    'shop-rg',
    '-n',
    name,
    '--vm',
    'web-01',
    '--storage-account',
    'shopcaps',
    ...more,
  );

describe('packet captures', () => {
  it('[LAB-21] [LAB-22] runs to its limit, leaves a pcap, and can be cleaned up', async () => {
    const lab = testLab(undefined, 60);
    const path = 'https://shopcaps.blob.core.windows.net/captures/ghost_1.pcap';
    const made = JSON.parse(
      (await create(lab, 'ghost_1', '--storage-path', path, '--time-limit', '60')).stdout,
    );
    expect(made).toMatchObject({
      name: 'ghost_1',
      provisioningState: 'Succeeded',
      storageLocation: { storagePath: path },
      timeLimitInSeconds: 60,
    });
    const status = () => lab.json(...CAPTURE, 'show-status', ...AT, '-n', 'ghost_1');
    expect(await status()).toMatchObject({
      packetCaptureStatus: 'Running',
      captureStartTime: '2026-01-15T14:30:00.000Z',
    });
    const download = () =>
      lab.az(
        'storage',
        'blob',
        'download',
        ...BLOB,
        '-c',
        'captures',
        '-n',
        'ghost_1.pcap',
        '-f',
        'out.pcap',
        '--no-progress',
      );
    expect((await download()).code).toBe(3);
    // One real second is a minute in this world.
    lab.elapsed = 1001;
    expect(await status()).toMatchObject({ packetCaptureStatus: 'Stopped', stopReason: 'TimeExceeded' });
    expect(
      await lab.json('storage', 'blob', 'list', ...BLOB, '-c', 'captures', '--query', '[].name'),
    ).toEqual(['ghost_1.pcap']);
    const got = await download();
    expect(got.stderr).toBe('');
    const bytes = readFileSync(join(lab.dir, 'out.pcap'));
    expect([0xa1b2c3d4, 0xa1b23c4d]).toContain(bytes.readUInt32LE(0));
    expect(bytes.length).toBeGreaterThan(10_000);
    expect(JSON.parse(got.stdout).properties.contentLength).toBe(bytes.length);
    await lab.az(...CAPTURE, 'delete', ...AT, '-n', 'ghost_1');
    expect(await lab.json(...CAPTURE, 'list', ...AT)).toEqual([]);
    expect((await lab.az(...CAPTURE, 'delete', ...AT, '-n', 'ghost_1')).code).toBe(3);
    // The file outlives the session, until somebody deletes it.
    expect(
      await lab.json('storage', 'blob', 'exists', ...BLOB, '-c', 'captures', '-n', 'ghost_1.pcap'),
    ).toEqual({ exists: true });
    await lab.az('storage', 'blob', 'delete', ...BLOB, '-c', 'captures', '-n', 'ghost_1.pcap');
    expect(
      await lab.json('storage', 'blob', 'exists', ...BLOB, '-c', 'captures', '-n', 'ghost_1.pcap'),
    ).toEqual({ exists: false });
  });

  it('[LAB-22] can be stopped early', async () => {
    const lab = testLab();
    await create(lab, 'short', '--time-limit', '300');
    lab.elapsed = 5000;
    expect((await lab.az(...CAPTURE, 'stop', ...AT, '-n', 'short')).code).toBe(0);
    expect(await lab.json(...CAPTURE, 'show-status', ...AT, '-n', 'short')).toMatchObject({
      packetCaptureStatus: 'Stopped',
      stopReason: 'UserStopped',
    });
    const path = await lab.json<string>(
      ...CAPTURE,
      'show',
      ...AT,
      '-n',
      'short',
      '--query',
      'storageLocation.storagePath',
    );
    expect(path).toMatch(
      /^https:\/\/shopcaps\.blob\.core\.windows\.net\/network-watcher-logs\/subscriptions\/.*\.cap$/,
    );
    const blob = path.split('/network-watcher-logs/')[1]!;
    expect(
      (
        await lab.az(
          'storage',
          'blob',
          'download',
          ...BLOB,
          '-c',
          'network-watcher-logs',
          '-n',
          blob,
          '-f',
          'a/b.cap',
        )
      ).code,
    ).toBe(0);
  });

  it('[LAB-22] filters and byte limits reach the file', async () => {
    const lab = testLab(undefined, 60);
    await create(
      lab,
      'all',
      '--storage-path',
      'https://shopcaps.blob.core.windows.net/captures/all.cap',
      '--time-limit',
      '30',
    );
    await create(
      lab,
      'few',
      '--storage-path',
      'https://shopcaps.blob.core.windows.net/captures/few.cap',
      '--time-limit',
      '30',
      '--filters',
      '[{"protocol":"TCP","remotePort":"5432"}]',
      '--capture-size',
      '96',
    );
    lab.elapsed = 600;
    const size = (name: string) =>
      lab.json<number>(
        'storage',
        'blob',
        'show',
        ...BLOB,
        '-c',
        'captures',
        '-n',
        name,
        '--query',
        'properties.contentLength',
      );
    expect(await size('few.cap')).toBeLessThan(await size('all.cap'));
    expect(await size('few.cap')).toBeGreaterThan(24);
  });

  it.each([
    [['--vm', 'web-01'], 2, 'usage error'],
    [['--storage-account', 'shopcaps'], 2, 'usage error'],
    [['--vm', 'web-01', '--storage-account', 'shoplocked'], 3, 'ResourceNotFound'],
    [['--vm', 'web-01', '--storage-account', 'shopcaps', '--time-limit', '99999'], 1, 'InvalidTimeLimit'],
    [
      [
        '--vm',
        'web-01',
        '--storage-account',
        'shopcaps',
        '--storage-path',
        'https://shopcaps.blob.core.windows.net/nope/x.cap',
      ],
      1,
      'StorageContainerNotFound',
    ],
    [['--vm', 'nobody', '--storage-account', 'shopcaps'], 3, 'ResourceNotFound'],
  ])('[LAB-17] create %j → %i', async (argv, code, words) => {
    const answer = await testLab().az(...CAPTURE, 'create', '-g', 'shop-rg', '-n', 'x', ...argv);
    expect(answer.code).toBe(code);
    expect(answer.stderr).toContain(words);
  });

  it('[LAB-22] an account in another group is given by its id; a name is taken once', async () => {
    const lab = testLab();
    const id = await lab.json<string>('storage', 'account', 'show', '-n', 'shopcaps', '--query', 'id');
    const make = () =>
      lab.az(
        ...CAPTURE,
        'create',
        '-g',
        'hub-rg',
        '-n',
        'nva',
        '--vm',
        'fw-01',
        '--storage-account',
        id,
        '--time-limit',
        '10',
      );
    expect((await make()).code).toBe(0);
    expect((await make()).stderr).toContain('PacketCaptureAlreadyExists');
    const off = await lab.az(
      ...CAPTURE,
      'create',
      '-g',
      'hub-rg',
      '-n',
      'z',
      '--vm',
      'old-01',
      '--storage-account',
      id,
    );
    expect(off.stderr).toContain('OperationNotAllowed');
  });
});
