import { describe, expect, it } from 'vitest';
import { readTroubles, TROUBLE_KINDS, type Trouble, writeTroubles } from '../../../src/lab/az/troubles.ts';
import { testLab } from '../lab-dir.ts';

const CAPTURE = ['network', 'watcher', 'packet-capture'];
const CREATE = [...CAPTURE, 'create', '-g', 'shop-rg', '-n', 'ghost_1', '--vm', 'web-01'];
const create = [...CREATE, '--storage-account', 'shopcaps', '--time-limit', '1'];
const status = [...CAPTURE, 'show-status', '-l', 'westeurope', '-n', 'ghost_1'];
const blob = ['--account-name', 'shopcaps', '--auth-mode', 'login'];
const exists = ['storage', 'container', 'exists', ...blob, '-n', 'captures'];
const trouble = (kind: Trouble['kind'], on = '', times: number | null = null): Trouble => ({
  kind,
  on,
  times,
});

describe('trouble that Azure can make', () => {
  it.each([
    ['forbidden', create, 'AuthorizationFailed'],
    ['forbidden', exists, 'required permissions'],
    ['throttled', create, 'SubscriptionRequestsThrottled'],
    ['throttled', exists, 'ErrorCode:ServerBusy'],
    ['unreachable', exists, "host='shopcaps.blob.core.windows.net'"],
    ['unreachable', ['vm', 'list'], "host='management.azure.com'"],
    ['token_expired', ['vm', 'list'], 'az login'],
    ['quota', create, 'PacketCaptureLimitReached'],
    ['no_agent', create, 'agent'],
  ] as const)('%s: az %s fails with its words, and nothing is changed', async (kind, argv, words) => {
    const lab = testLab();
    writeTroubles(lab.dir, [trouble(kind)]);
    const answer = await lab.az(...argv);
    expect([answer.code, answer.stdout]).toEqual([1, '']);
    expect(answer.stderr).toContain(words);
    writeTroubles(lab.dir, []);
    expect(await lab.json(...CAPTURE, 'list', '-l', 'westeurope')).toEqual([]);
  });

  it('changes what a capture says of itself, and which extensions there are', async () => {
    const lab = testLab();
    await lab.az(...create);
    lab.elapsed = 60_000;
    expect(await lab.json(...status)).toMatchObject({ packetCaptureStatus: 'Stopped' });
    writeTroubles(lab.dir, [trouble('capture_stuck')]);
    expect(await lab.json(...status)).toMatchObject({ packetCaptureStatus: 'Running' });
    writeTroubles(lab.dir, [trouble('capture_error')]);
    expect(await lab.json(...status)).toMatchObject({
      packetCaptureStatus: 'Error',
      packetCaptureError: ['AgentStopped'],
    });
    writeTroubles(lab.dir, [trouble('no_agent')]);
    expect(await lab.json('vm', 'extension', 'list', '-g', 'shop-rg', '--vm-name', 'web-01')).toEqual([]);
  });

  it('happens only on the command it was set for, and only so often', async () => {
    const lab = testLab();
    writeTroubles(lab.dir, [trouble('throttled', 'vm list', 2)]);
    expect((await lab.az('group', 'list')).code).toBe(0);
    expect((await lab.az('vm', 'list')).code).toBe(1);
    expect(readTroubles(lab.dir)).toEqual([trouble('throttled', 'vm list', 1)]);
    expect((await lab.az('vm', 'list')).code).toBe(1);
    expect((await lab.az('vm', 'list')).code).toBe(0);
    expect(readTroubles(lab.dir)).toEqual([]);
  });

  it('every kind can happen to some command', async () => {
    for (const kind of TROUBLE_KINDS) {
      const lab = testLab();
      await lab.az(...create);
      lab.elapsed = 60_000;
      const calm = [await lab.az(...status), await lab.az(...create)];
      writeTroubles(lab.dir, [trouble(kind)]);
      expect([await lab.az(...status), await lab.az(...create)], kind).not.toEqual(calm);
    }
  });
});
