import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../../../src/core/testing.ts';
import { type Budgets, openBudgets } from '../../../src/gateways/llm/budget.ts';
import { ensureStateDir, openDatabase } from '../../../src/ledger/index.ts';
import { completion, gatewayTests, json } from './help.ts';

let dir: string;
let path: string;
const open: Budgets[] = [];
const opened = (clock = testClock()) => {
  const budgets = openBudgets(path, clock);
  open.push(budgets);
  return budgets;
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'writ-budget-'));
  ensureStateDir(join(dir, 'state'));
  path = join(dir, 'state', 'writ.db');
});
afterEach(() => {
  for (const budgets of open.splice(0)) budgets.close();
  rmSync(dir, { recursive: true, force: true });
});

const spentNow = (caller: string): number => {
  const db = openDatabase(path, [], { readonly: true });
  const row = db.prepare('SELECT SUM(tokens) AS tokens FROM llm_calls WHERE caller = ?').get(caller);
  const kept = db.prepare("SELECT tokens FROM llm_spent WHERE caller = ? AND period = 'day'").get(caller);
  db.close();
  expect(Number(kept?.tokens ?? 0)).toBe(Number(row?.tokens ?? 0));
  return Number(row?.tokens ?? 0);
};

describe('budgets', () => {
  it('[GW-L26] whatever is reserved, used, lost and reserved by others: never more than the budget', async () => {
    const call = fc.record({
      most: fc.integer({ min: 1, max: 60 }),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
      end: fc.constantFrom('settled', 'not_sent', 'unknown', 'crash'),
      process: fc.nat(1),
    });
    let caller = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 25 }), async (calls) => {
        const name = `c${++caller}`;
        // Two handles on one file stand for two processes.
        const processes = [opened(), opened()];
        const budget = { per: 'day', tokens: 100 } as const;
        const granted = await Promise.all(
          calls.map(async ({ most, process }, i) => {
            const reservation = {
              requestId: `${name}-${i}`,
              caller: name,
              budget,
              most: { tokens: most, usd: 0 },
              record: {},
            };
            return (await processes[process]!.reserve(reservation)).ok;
          }),
        );
        expect(spentNow(name)).toBeLessThanOrEqual(100);
        let wanted = 0;
        for (const [i, { most, used, end, process }] of calls.entries()) {
          if (!granted[i]) continue;
          const tokens = Math.floor(most * used);
          const settle = end === 'settled' ? { tokens, usd: 0 } : end === 'not_sent' ? end : undefined;
          if (end !== 'crash') processes[process]!.settle(`${name}-${i}`, settle);
          wanted += end === 'settled' ? tokens : end === 'not_sent' ? 0 : most;
        }
        // What waits to be written is written when the process ends.
        for (const budgets of open.splice(0)) budgets.close();
        expect(spentNow(name)).toBe(wanted);
      }),
      { numRuns: 15 },
    );
  });

  it('[GW-L26] a call is settled once; money and requests count as well; a new day begins anew', async () => {
    const clock = testClock();
    const budgets = opened(clock);
    const budget = { per: 'day', requests: 2, usd: 1 } as const;
    const reserve = (requestId: string, usd: number) =>
      budgets.reserve({ requestId, caller: 'a', budget, most: { tokens: 1, usd }, record: {} });
    expect((await reserve('1', 0.9)).ok).toBe(true);
    expect(await reserve('2', 0.2)).toMatchObject({ ok: false, why: expect.stringContaining('usd') });
    budgets.settle('1', { tokens: 1, usd: 0.1 });
    budgets.settle('1', 'not_sent');
    expect((await reserve('3', 0.9)).ok).toBe(true);
    expect(await reserve('4', 0)).toMatchObject({ ok: false, why: expect.stringContaining('requests') });
    // The longer period is added up from the calls when it is first asked about.
    const forever = { per: 'ever', requests: 2 } as const;
    expect(
      (
        await budgets.reserve({
          requestId: '5',
          caller: 'a',
          budget: forever,
          most: { tokens: 0, usd: 0 },
          record: {},
        })
      ).ok,
    ).toBe(false);
    clock.advance(24 * 3600 * 1000);
    expect((await reserve('6', 0.9)).ok).toBe(true);
  });
});

describe('budgets of callers', () => {
  const { start } = gatewayTests();

  it('[GW-L26] many at once, each as dear as it says: the provider is never asked for more than is left', async () => {
    let promised = 0;
    const { openai, upstream } = await start(
      ({ body }, res) => {
        const { max_tokens, n } = JSON.parse(body);
        promised += max_tokens * n + 1;
        json(res, { ...completion('ok'), usage: { prompt_tokens: 1, completion_tokens: max_tokens * n } });
      },
      {},
      { budget: { tokens: 3000 } },
    );
    const ask = (i: number) =>
      openai.chat.completions.create({
        model: 'm-1',
        n: 2,
        max_tokens: 100 + i,
        messages: [{ role: 'user', content: `${i}` }],
      });
    for (let round = 0; round < 3; round++)
      await Promise.allSettled(Array.from({ length: 20 }, (_, i) => ask(i)));
    expect(promised).toBeLessThanOrEqual(3000);
    expect(upstream.seen.length).toBeGreaterThan(5);
  });
});
