import { type Clock, canonicalJson, type Ids, type Json, sha256 } from '../core/index.ts';
import { redactJson } from '../redact/index.ts';
import type { LoadedPlan } from './plan.ts';
import { type Ending, RunningPlan } from './running-plan.ts';
import type { StepRoad } from './step.ts';
import type { CallRow, ResultStatus, RunRow, RunStatus } from './store/rows.ts';
import { lockRun } from './store/run-lock.ts';
import type { RunStore } from './store/store.ts';

/**
 * Runs a plan: policy → authority → tool → record, step by step.
 *
 * E1 The intent of a step with effects is durable before it starts. Its result becomes durable together with
 *    the next step's intent, so a step costs one flush.
 * E2 Steps without effects may share a flush (`group`); a crash then leaves a shorter record, never a wrong one.
 * E3 A step that is not a success stops the run, unless told to keep going; a step that waits for a person
 *    always stops it.
 * E4 A value is kept in memory only while a later step still needs it.
 * E5 One process at a time goes on with a run: whoever comes second is told so.
 */
export interface RunOptions extends Omit<StepRoad, 'signal'> {
  readonly store: RunStore;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly keepGoing: boolean;
  readonly durability: 'step' | 'group';
  /** Ends the run between steps, and the step that is running. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly index: number;
  readonly total: number;
  readonly tool: string;
  readonly id: string | null;
  readonly status: ResultStatus | 'waiting' | 'started';
  readonly error: string | null;
}

export interface RunSummary {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly total_steps: number;
  readonly completed_steps: number;
  readonly denied_steps: number;
  readonly failed_steps: number;
  readonly duration_ms: number;
  /** The approval the run waits for. */
  readonly waiting_for: string | null;
}

/** Where a run stands: fresh, or as its record shows it. */
export interface Standing {
  readonly runId: string;
  readonly next: number;
  readonly outputs: Map<string, Json>;
  readonly used: Map<string, number>;
  readonly counts: { completed: number; denied: number; failed: number };
  /** Ids of steps whose value a later step cannot have, and why. */
  readonly lost: Map<string, string>;
  /** The first step waits for this approval, under this call. */
  readonly approval?: { readonly approvalId: string; readonly call: CallRow };
  /** How often the first step was tried before. */
  readonly tries: number;
  /** Time the run took before it stopped. */
  readonly durationMs: number;
}

export async function runPlan(loaded: LoadedPlan, options: RunOptions): Promise<RunSummary> {
  const { plan } = loaded;
  const runId = options.ids.next('run');
  options.store.beginRun(runRow(runId, loaded, options));
  const standing: Standing = {
    runId,
    next: 0,
    outputs: new Map(),
    used: new Map(),
    counts: { completed: 0, denied: 0, failed: 0 },
    lost: new Map(),
    tries: 0,
    durationMs: 0,
  };
  await options.store.anchor(runId, 'started');
  const lock = lockRun(options.store.path, runId);
  try {
    return await goOn(loaded, options, standing, plan.steps.length);
  } finally {
    lock.release();
  }
}

/** Runs the steps from where the run stands. */
export async function goOn(
  loaded: LoadedPlan,
  options: RunOptions,
  standing: Standing,
  total: number,
): Promise<RunSummary> {
  const started = options.clock.monotonic();
  const budget = options.judge.policy.value.global_timeout_seconds * 1000;
  const over = AbortSignal.timeout(Math.ceil(budget));
  const signal = options.signal ? AbortSignal.any([options.signal, over]) : over;
  const run = new RunningPlan(loaded, { ...options, signal }, standing, total, options.signal);
  let ending: Ending = { status: 'completed' };
  for (let i = standing.next; i < total; i++) {
    const left = budget - (options.clock.monotonic() - started);
    if (options.signal?.aborted) {
      ending = { status: 'interrupted' };
      break;
    }
    const status = await run.step(i, left);
    if (status.status === 'waiting') {
      ending = status;
      break;
    }
    if (options.signal?.aborted) {
      ending = { status: 'interrupted' };
      break;
    }
    if (status.status !== 'success' && (status.final || !options.keepGoing)) break;
  }
  return run.finish(ending, options.clock.monotonic() - started);
}

function runRow(runId: string, loaded: LoadedPlan, options: RunOptions): RunRow {
  const plan = redactJson(loaded.plan as unknown as Json);
  const policy = redactJson(options.judge.policy.json);
  const planJson = canonicalJson(plan.value);
  const policyJson = canonicalJson(policy.value);
  return {
    run_id: runId,
    created_at: options.clock.now().toISOString(),
    completed_at: null,
    plan_hash: sha256(planJson),
    policy_hash: sha256(policyJson),
    plan_json: planJson,
    policy_json: policyJson,
    mode: 'run',
    status: 'running',
    total_steps: loaded.plan.steps.length,
    completed_steps: 0,
    denied_steps: 0,
    failed_steps: 0,
    replay_of: null,
    working_dir: options.judge.ground.workingDir,
    plan_file: loaded.file,
    policy_file: options.judge.policy.file,
    redactions: plan.count + policy.count,
  };
}
