import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { createAuthority, openApprovalQueue } from '../../src/authority/index.ts';
import { systemClock as clock, systemIds as ids } from '../../src/core/index.ts';
import { request } from './desk.ts';

const folder = mkdtempSync(join(tmpdir(), 'writ-race-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const database = join(folder, 'writ.db');
const racer = new URL('./racer.ts', import.meta.url).pathname;

async function race(id: string, what: 'approve' | 'redeem', racers: number): Promise<readonly string[]> {
  const at = String(Date.now() + 1500);
  const runs = Array.from({ length: racers }, () =>
    promisify(execFile)(process.execPath, [racer, database, id, what, at]),
  );
  return (await Promise.all(runs)).map(({ stdout }) => stdout);
}

describe('several processes at once', () => {
  it('[AUT-21] of those that answer one wins, of those that use it one wins', async () => {
    const queue = openApprovalQueue({ database, clock, ids });
    const parked = await createAuthority({ clock, ids, queue }).authorize(request());
    if (parked.outcome !== 'waiting') throw new Error(parked.outcome);
    const answers = await race(parked.approvalId, 'approve', 4);
    expect(answers.filter((a) => a === 'won').length).toBe(1);
    expect(answers.filter((a) => a === 'answered').length).toBe(3);
    const uses = await race(parked.approvalId, 'redeem', 4);
    expect(uses.filter((a) => a === 'won').length).toBe(1);
    expect(uses.filter((a) => a.startsWith('used')).length).toBe(3);
    await queue.close();
  });
});
