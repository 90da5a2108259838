import { describe, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../src/core/index.ts';

describe('the real ports', () => {
  it('[CORE-13] ids carry at least 128 random bits and never repeat', () => {
    const ids = new Set(Array.from({ length: 1000 }, () => systemIds.next('appr')));
    expect(ids.size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^appr_[0-9a-f]{32}$/);
  });

  it('[CORE-13] the clock sleeps, and stops sleeping when told', async () => {
    const before = systemClock.monotonic();
    await systemClock.sleep(20);
    expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(15);
    const stop = new AbortController();
    const nap = systemClock.sleep(60_000, stop.signal);
    stop.abort(new Error('enough'));
    await expect(nap).rejects.toThrow('enough');
    await expect(systemClock.sleep(1, stop.signal)).rejects.toThrow('enough');
  });
});
