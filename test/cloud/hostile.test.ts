import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commands, createOrchestrator } from '../../src/cloud/index.ts';
import { cleanContext, isAzureName, newTaskId, parseTarget } from '../../src/cloud/names.ts';
import { readTask } from '../../src/cloud/record.ts';
import { systemClock, systemIds } from '../../src/core/index.ts';
import { testClock } from '../../src/core/testing.ts';
import { openLedger } from '../../src/ledger/index.ts';
import { classify } from '../../src/shell/classify/index.ts';
import { createShell } from '../../src/shell/index.ts';
import { azureTwin } from './azure-twin.ts';
import { setUp } from './bench-of-one.ts';

const RUNS = process.env.WRIT_LONG ? 5000 : 150;

/** Text that would do something if it were ever read as more than text. */
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '-vm',
    '--no-wait',
    '@/etc/passwd',
    'vm;id',
    '$(id)',
    '`id`',
    'vm|tee x',
    'vm\nrm -rf ~',
    'vm\u0000x',
    'vm\u202egnp.exe',
    'ｖｍ',
    'vm –filters',
    '../../etc',
    'a/b/c',
    '/subscriptions/-x/resourceGroups/g/providers/M.C/v/n',
    '/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/-g/providers/Microsoft.Compute/virtualMachines/vm',
    '/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/@vm',
    ' '.repeat(5000),
    `a${' '.repeat(50_000)}to${' '.repeat(50_000)}b`,
  ),
);

describe('requests', () => {
  it('[CLOUD-80] whatever is asked for, it is answered, and what is sent is one program with plain words', async () => {
    await fc.assert(
      fc.asyncProperty(nasty, nasty, nasty, nasty, async (target, group, account, context) => {
        const s = await setUp();
        const reply = await s.orchestrator.orchestrate({
          intent: 'capture_traffic',
          target,
          investigation_context: context,
          parameters: { resource_group: group, storage_account: account },
        });
        expect(reply.status).toBeTypeOf('string');
        for (const { command } of s.azure.requests) {
          const { pipeline } = classify(command);
          expect(pipeline).toHaveLength(1);
          expect(pipeline![0]![0]).toBe('az');
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('[CLOUD-80] requests of any shape are answered, never thrown at', async () => {
    const s = await setUp();
    await fc.assert(
      fc.asyncProperty(fc.anything({ withNullPrototype: true, withBigInt: true }), async (request) => {
        const reply = await s.orchestrator.orchestrate(request as { intent: string });
        expect(reply.status).toBe('error');
      }),
      { numRuns: RUNS },
    );
    expect(s.azure.requests).toEqual([]);
  });

  it('[CLOUD-80] a name that is accepted begins with no dash and no at, and keeps its words apart', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const target = parseTarget(text);
        if (target === undefined) return;
        for (const part of [target.name, target.group ?? 'g']) expect(isAzureName(part)).toBe(true);
        expect(newTaskId(target.name, testClock(), () => false)).toMatch(/^ghost_[A-Za-z0-9_.-]{1,74}$/);
      }),
      { numRuns: RUNS * 5 },
    );
    expect(() => commands.deleteCapture({ location: '-l', name: 'x', subscription: null })).toThrow();
  });

  it('[CLOUD-80] context loses what drives a terminal or turns text around, and stays well-formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5000 }), (text) => {
        const clean = cleanContext(text);
        expect(clean.length).toBeLessThanOrEqual(2000);
        expect(clean.isWellFormed()).toBe(true);
        expect(clean).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: RUNS * 5 },
    );
  });
});

/** Answers no az would give: wrong types, keys that pollute, depth, length, noise. */
const answers = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    '{"__proto__":{"location":"westeurope","polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    '{"location":{"toString":"x"},"os":{"toString":null},"blob":["https://x/"],"group":{"a":1}}',
    '{"location":"westeurope; rm -rf ~","os":"$(id)","blob":"javascript:alert(1)","group":"--no-wait"}',
    'https://forensicsa.blob.core.windows.net/captures/@x',
    'https://forensicsa.blob.core.windows.net/captures/%2e%2e/%2e%2e/etc/passwd',
    `https://forensicsa.blob.core.windows.net/captures/${'%'.repeat(100)}`,
    'https://forensicsa.evil.example/captures/-x',
    '['.repeat(100_000),
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
    'True',
    'Stopped',
    'Microsoft.Compute/virtualMachines',
    'x'.repeat(1_000_000),
    '\u001b]0;title\u0007\ud800',
  ),
);

describe('what az answers', () => {
  it('[CLOUD-81] any answer to any command leaves a task that says how it stands, and no foreign word in a command', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(answers, fc.integer({ min: 0, max: 3 })), { minLength: 20, maxLength: 20 }),
        fc.integer({ min: 0, max: 6 }),
        async (said, honest) => {
          const azure = azureTwin();
          const execute = azure.execute;
          let n = 0;
          azure.execute = async (request) => {
            const honestly = await execute(request);
            const [output, exit] = said[n++ % said.length]!;
            return n <= honest ? honestly : { ...honestly, output: output as never, exit_code: exit };
          };
          const s = await setUp({}, { maxPolls: 3 }, azure);
          const started = await s.capture();
          expect(started.status).toBeTypeOf('string');
          if (started.task_id) {
            expect((await s.check(started.task_id)).status).not.toBe('error');
            const cleaned = await s.orchestrator.orchestrate({
              intent: 'cleanup_task',
              task_id: started.task_id,
            });
            expect(cleaned.error).not.toBe('internal_error');
            for (const record of s.records()) expect(readTask({ ...record })).toMatchObject({ ok: true });
          }
          for (const { command } of azure.requests) {
            expect(command.length).toBeLessThan(2000);
            expect(classify(command).pipeline).toHaveLength(1);
          }
          expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
          await s.orchestrator.close();
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('[CLOUD-81] 100 MB from az are cut off on the way; the answer comes, and memory does not grow with it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-cloud-flood-'));
    const az = join(folder, 'az');
    writeFileSync(az, '#!/bin/sh\nhead -c 104857600 /dev/zero | tr "\\0" "x"\n');
    chmodSync(az, 0o755);
    const ledger = openLedger({ stateDir: join(folder, '.writ'), clock: systemClock });
    const shell = await createShell({
      sessionId: 'flood',
      auditDir: join(folder, 'audit'),
      openJournal: (path) => ledger.openJournal({ path, flush: 'group' }),
      approver: { ask: async () => ({ kind: 'deny', approver: 't', reason: 'no' }) },
      clock: systemClock,
      ids: systemIds,
      cwd: folder,
      programPath: [folder],
    });
    const orchestrator = await createOrchestrator({
      shell,
      sessionId: 'flood',
      taskDir: join(folder, 'audit'),
      captureDir: join(folder, 'audit', 'captures'),
      clock: systemClock,
      scanAzure: false,
    });
    const before = process.memoryUsage().rss;
    const reply = await orchestrator.orchestrate({
      intent: 'capture_traffic',
      target: 'vm',
      parameters: { resource_group: 'rg', storage_account: 'forensicsa' },
    });
    expect(reply.status).toBe('error');
    expect(JSON.stringify(reply).length).toBeLessThan(5000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
    await orchestrator.close();
    await shell.close();
  }, 60_000);
});
