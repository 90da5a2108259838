import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { createAuthority, openStateApprovals } from '../../src/authority/index.ts';
import { type Clock, systemClock, systemIds } from '../../src/core/index.ts';
import { openLedger, statePaths } from '../../src/ledger/index.ts';
import { loadPolicy, PASSED } from '../../src/policy/index.ts';
import {
  createCallJudge,
  loadPlan,
  openRunReader,
  openRunStore,
  type RunOptions,
  replayRun,
  resumeRun,
  runDocumentText,
  runPlan,
  verifyRunStore,
} from '../../src/runner/index.ts';
import { createRegistry, defineTool, type Tool } from '../../src/tools/index.ts';

const WRIT = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));

/** A tool without effects, for plans whose steps should cost nothing. */
export const noop: Tool = defineTool({
  name: 'no.op',
  description: 'does nothing',
  effect: 'none',
  args: z.strictObject({ n: z.number().optional(), text: z.string().optional() }),
  rules: z.strictObject({ max_calls: z.int().optional() }),
  prepare: () => ({}),
  evaluator: () => () => PASSED,
  execute: async (writ) => {
    writ.use(writ.action);
    return { status: 'success', data: { ok: true, args: writ.action.detail.args ?? null } };
  },
});

export interface RunDocument {
  readonly run_id: string;
  readonly status: string;
  readonly total_steps: number;
  readonly completed_steps: number;
  readonly denied_steps: number;
  readonly failed_steps: number;
  readonly duration_ms: number;
  readonly steps: readonly {
    readonly index: number;
    readonly id: string | null;
    readonly tool: string;
    readonly status: string;
    readonly output: { readonly [key: string]: unknown } | null;
    readonly error: string | null;
    readonly decision: {
      readonly decision: string;
      readonly rule: string;
      readonly reason: string;
      readonly file: string;
      readonly line: number;
      readonly approval_id?: string;
    } | null;
    readonly started_at: string | null;
    readonly ended_at: string | null;
    readonly input_hash: string | null;
    readonly output_hash: string | null;
  }[];
}

/** A project folder with a state folder, and everything one does with runs in it. */
export function project(tools: readonly Tool[] = [noop]) {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'writ-runs-')));
  const state = join(path, '.writ');
  const registry = createRegistry(tools);
  const dbPath = statePaths(state).database;
  const ledger = () => openLedger({ stateDir: state });
  const openStore = (clock: Clock = systemClock) =>
    openRunStore({ dbPath, ledger: ledger(), clock, ids: systemIds });
  const queue = () =>
    openStateApprovals({ stateDir: state, clock: systemClock, ids: systemIds, allowSelfApproval: false });
  const optionsFor = (policy: string, more: Partial<RunOptions> = {}) => {
    const store = openStore();
    const approvals = queue();
    const options: RunOptions = {
      judge: createCallJudge(loadPolicy(policy, 'policy.yaml', registry.otherRules), registry, {
        workingDir: path,
        masked: [state],
      }),
      authority: createAuthority({ clock: systemClock, ids: systemIds, queue: approvals }),
      store,
      clock: systemClock,
      ids: systemIds,
      requester: 'tester',
      whenApprovalNeeded: 'park',
      keepGoing: false,
      durability: 'step',
      ...more,
    };
    const close = async () => {
      store.close();
      await approvals.close();
    };
    return { options, close };
  };
  const document = (runId: string): RunDocument => {
    const reader = openRunReader(dbPath);
    try {
      const run = reader.getRun(runId);
      if (!run) throw new Error(`no run ${runId}`);
      return JSON.parse([...runDocumentText(reader, run)].join('')) as RunDocument;
    } finally {
      reader.close();
    }
  };
  const file = (name: string, content: string) => {
    const target = join(path, name);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
    return target;
  };
  return {
    path,
    state,
    dbPath,
    registry,
    openStore,
    queue,
    document,
    file,
    read: (name: string) => readFileSync(join(path, name), 'utf8'),
    remove: () => rmSync(path, { recursive: true, force: true }),
    verify: () => verifyRunStore(dbPath),
    run: async (plan: string, policy: string, more: Partial<RunOptions> = {}): Promise<RunDocument> => {
      const { options, close } = optionsFor(policy, more);
      try {
        return document((await runPlan(loadPlan(plan, 'plan.yaml'), options)).run_id);
      } finally {
        await close();
      }
    },
    resume: async (
      runId: string,
      plan: string,
      policy: string,
      unknown: 'report' | 'retry' | 'skip' = 'report',
      more: Partial<RunOptions> = {},
    ): Promise<RunDocument> => {
      const { options, close } = optionsFor(policy, more);
      const reader = openRunReader(dbPath);
      try {
        const row = reader.getRun(runId);
        if (!row) throw new Error(`no run ${runId}`);
        return document(
          (await resumeRun(loadPlan(plan, 'plan.yaml'), row, reader, { ...options, unknown })).run_id,
        );
      } finally {
        reader.close();
        await close();
      }
    },
    replay: async (runId: string, more: { plan?: string; policy?: string } = {}): Promise<RunDocument> => {
      const reader = openRunReader(dbPath);
      const store = openStore();
      try {
        const row = reader.getRun(runId);
        if (!row) throw new Error(`no run ${runId}`);
        const judge =
          more.policy === undefined
            ? undefined
            : createCallJudge(loadPolicy(more.policy, 'policy.yaml', registry.otherRules), registry, {
                workingDir: path,
                masked: [],
              });
        const plan = more.plan === undefined ? undefined : loadPlan(more.plan, 'plan.yaml');
        return document(
          await replayRun(row, {
            store,
            reader,
            ids: systemIds,
            ...(judge ? { judge } : {}),
            ...(plan ? { plan } : {}),
          }),
        );
      } finally {
        store.close();
        reader.close();
      }
    },
    writ: (...args: readonly string[]) => {
      const got = spawnSync(process.execPath, [WRIT, ...args], {
        cwd: path,
        encoding: 'utf8',
        timeout: 60_000,
        env: { ...process.env, NO_COLOR: '1' },
        maxBuffer: 64 * 1024 * 1024,
      });
      return { code: got.status, stdout: got.stdout, stderr: got.stderr, json: () => JSON.parse(got.stdout) };
    },
    start: (...args: readonly string[]) =>
      spawn(process.execPath, [WRIT, ...args], { cwd: path, stdio: ['ignore', 'pipe', 'pipe'] }),
  };
}
