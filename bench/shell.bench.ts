import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemIds } from '../src/core/index.ts';
import { openLedger } from '../src/ledger/index.ts';
import { createShell } from '../src/shell/index.ts';
import { type Bench, median } from './bench.ts';

/** What the Safe-Exec Shell adds to starting a program: a bare spawn and the whole road in turn, same minute. */
export const bench: Bench = {
  name: 'shell',
  run: async ({ quick }) => {
    const rounds = quick ? 80 : 400;
    const dir = mkdtempSync(join(tmpdir(), 'writ-bench-shell-'));
    const ledger = openLedger({ stateDir: join(dir, '.writ') });
    const shell = await createShell({
      sessionId: 'bench',
      auditDir: join(dir, 'audit'),
      openJournal: (path) => ledger.openJournal({ path }),
      approver: { ask: async () => ({ kind: 'approve', approver: 'bench' }) },
      clock: systemClock,
      ids: systemIds,
      cwd: dir,
    });
    const bare: number[] = [];
    const whole: number[] = [];
    try {
      for (let i = 0; i < rounds + 10; i++) {
        const a = await timed(bareSpawn);
        const b = await timed(() => shell.execute({ command: 'true', reasoning: 'bench' }));
        if (i < 10) continue; // warm-up
        bare.push(a);
        whole.push(b);
      }
    } finally {
      await shell.close();
      rmSync(dir, { recursive: true, force: true });
    }
    const overhead = median(whole.map((ms, i) => ms - bare[i]!));
    return [
      {
        what: 'whole pipeline over a bare spawn of true, p50',
        value: round(overhead),
        unit: 'ms',
        target: '<= 2',
        inside:
          'classify, approve, mint, durable intent, spawn, wait, redact, durable record; minus spawn and wait',
        spread: `bare ${round(median(bare))}, whole ${round(median(whole))}`,
      },
    ];
  },
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

function bareSpawn(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/usr/bin/true', [], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
