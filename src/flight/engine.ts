import { lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Digest, digestOf, type JsonObject, sha256, type Writ } from '../core/index.ts';
import { redact } from '../redact/index.ts';
import {
  type Network,
  type NotStarted,
  type Profile,
  type ReadySandbox,
  type RunOutcome,
  type RunSpec,
  run,
  SYSTEM_PATH,
} from '../sandbox/index.ts';
import { watchDisk } from './disk-watch.ts';
import { type EngineNetwork, openEngineNetwork } from './engine-network.ts';
import type { Connection } from './host-proxy.ts';
import { type Mode, PROTOCOL_VERSION, type Receipt, readReceipt } from './protocol.ts';
import { givenIn } from './rules.ts';
import type { LoadedWorkflow, ResolvedEngine, Step } from './workflow.ts';
import { milliseconds } from './workflow.ts';
import { fileHash } from './workspace-hash.ts';

/**
 * One launch of an engine.
 *
 * EN1 Shut in: a plan may write its artifacts and its temporary folder, a take-off the workspace; never our
 *     state, and never the workflow, its policies or its engines.
 * EN2 Its environment is the contract's variables and a minimal PATH, HOME and LANG; secrets come on stdin.
 * EN3 Standard output is the receipt or the launch has failed. Nothing outlives it.
 * EN4 No network, or a proxy to the hosts the step names for this mode.
 */
export interface StepFolders {
  readonly root: string;
  readonly artifacts: string;
  readonly temp: string;
}

/** Where an engine is launched: known before it is. */
export interface LaunchPlace {
  readonly workflow: LoadedWorkflow;
  readonly step: Step;
  readonly engine: ResolvedEngine;
  readonly mode: Mode;
  readonly folders: StepFolders;
  /** Folders of ours that no engine sees. */
  readonly hidden: readonly string[];
  readonly isolation: 'bubblewrap' | 'none';
}

export interface LaunchOptions extends LaunchPlace {
  readonly secrets: Readonly<Record<string, string>>;
  readonly input: JsonObject;
  readonly signal?: AbortSignal;
  /** Told of every connection that is made or refused. */
  readonly onConnection?: (made: Connection) => void;
}

export type Launched =
  | { readonly ok: true; readonly receipt: Receipt }
  | { readonly ok: false; readonly reason: string; readonly receipt?: Receipt };

const MAX_RECEIPT_BYTES = 4 * 1024 * 1024;
const TEN_MINUTES = 600_000;

/** The words that are executed; part of what is approved. */
export function engineArgv(engine: ResolvedEngine): readonly string[] {
  return /\.(?:[cm]?js|[cm]?ts)$/.test(engine.file) ? [process.execPath, engine.file] : [engine.file];
}

/** Identity of what runs: the engine's own file and the program it needs, as they are on disk now. */
export function engineHash(engine: ResolvedEngine): Digest {
  const program = engine.kind === 'builtin' ? engine.program : undefined;
  return digestOf({
    name: engine.name,
    file: fileHash(engine.file),
    ...(program === undefined ? {} : { program: fileHash(program) }),
  });
}

export function freshFolders(root: string): StepFolders {
  empty(join(root, 'artifacts'));
  return freshTemp(root, 'flight-plan');
}

/** A take-off gets a new temporary folder, not the plan's, and the artifacts as they are. */
export function freshTemp(root: string, mode: Mode): StepFolders {
  const folders = { root, artifacts: join(root, 'artifacts'), temp: join(root, 'temp', mode) };
  empty(folders.temp);
  return folders;
}

function empty(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined)
    rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** What of a launch is known before it is to happen. */
export function engineSpec(
  place: LaunchPlace,
  network: Pick<EngineNetwork, 'profile' | 'env'> = { profile: 'none', env: {} },
): Pick<RunSpec, 'argv' | 'env' | 'cwd' | 'limits' | 'profile'> {
  return {
    argv: engineArgv(place.engine),
    env: { ...environment(place), ...network.env },
    cwd: place.workflow.workspace,
    limits: { maxOutputBytes: MAX_RECEIPT_BYTES },
    profile: profileOf(place, network.profile),
  };
}

/** `ready` is a sandbox made for this launch, if there is one. */
export async function launch(writ: Writ, options: LaunchOptions, ready?: ReadySandbox): Promise<Launched> {
  const { folders, mode } = options;
  const disk = watchDisk([folders.artifacts, folders.temp], [options.workflow.workspace]);
  const stop = options.signal === undefined ? disk.signal : AbortSignal.any([disk.signal, options.signal]);
  const network = await networkOf(options);
  try {
    const spec = {
      ...engineSpec(options, network),
      stdin: stdinOf(options),
      timeoutMs: milliseconds(options.step.timeout, TEN_MINUTES),
      signal: stop,
    };
    const outcome = await run(writ, spec, ready);
    if (outcome.kind === 'not_started') return failed(`the engine cannot be started: ${outcome.reason}`);
    keepLog(join(folders.root, `${mode}.log`), outcome.output.stderr, options.secrets);
    const overfull = disk.problem();
    return overfull === null ? receiptOf(outcome, options) : failed(overfull);
  } finally {
    disk.stop();
    await network.close();
  }
}

/** The receipt, or why there is none that counts. */
function receiptOf(
  outcome: Exclude<RunOutcome, NotStarted>,
  { mode, step, secrets }: LaunchOptions,
): Launched {
  if (outcome.kind === 'timeout') return failed(`the engine did not end within ${step.timeout ?? '10m'}`);
  if (outcome.kind === 'aborted') return failed('the engine was stopped from outside');
  const { exitCode, signal, output } = outcome;
  if (output.stdoutTruncated) return failed(`malformed receipt: larger than ${MAX_RECEIPT_BYTES} bytes`);
  const read = readReceipt(output.stdout, mode);
  if (exitCode !== 0 || signal !== null) {
    const exit = signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
    const said = read.ok && read.value.error !== undefined ? `: ${read.value.error}` : '';
    const what = EXITS[exitCode] ?? 'the engine ended unexpectedly';
    return { ...failed(`${what} (${exit})${said}`), ...(read.ok ? { receipt: read.value } : {}) };
  }
  if (!read.ok) return failed(`malformed receipt: ${read.reason}`);
  const { status, error, warnings: _, diagnostics: __, ...kept } = read.value;
  // These parts go on record as they are: there is no token, no approval and no event without them.
  const [told] = givenIn(JSON.stringify(kept), secrets);
  if (told !== undefined) return failed(`the receipt tells a secret: ${told}`);
  if (status === 'failure')
    return { ...failed(`the engine failed: ${error ?? 'it gives no reason'}`), receipt: read.value };
  return { ok: true, receipt: read.value };
}

const EXITS: Readonly<Record<number, string>> = { 1: 'the engine failed', 2: 'validation failed' };

/** Without isolation there is nothing that could hold an engine to the hosts it names. */
export function networkOf({ step, mode, isolation, onConnection }: LaunchOptions): Promise<EngineNetwork> {
  const hosts = isolation === 'none' ? [] : (step.network?.[mode] ?? []);
  return openEngineNetwork(hosts, onConnection ?? (() => {}));
}

/** The engine's (or the step's) probe: 0 it was done, 1 it was not, anything else nobody knows. */
export async function probe(
  writ: Writ,
  argv: readonly string[],
  options: LaunchOptions,
): Promise<'done' | 'not_done' | 'unknown'> {
  const looking: LaunchOptions = { ...options, mode: 'flight-plan' };
  const network = await networkOf(looking);
  const outcome = await run(writ, {
    argv,
    env: { ...environment(options), ...network.env },
    cwd: options.workflow.workspace,
    stdin: stdinOf(options),
    timeoutMs: Math.min(milliseconds(options.step.timeout, TEN_MINUTES), 60_000),
    profile: profileOf(looking, network.profile),
  }).finally(() => network.close());
  if (outcome.kind !== 'exited' || outcome.signal !== null) return 'unknown';
  return outcome.exitCode === 0 ? 'done' : outcome.exitCode === 1 ? 'not_done' : 'unknown';
}

function stdinOf({ input, secrets }: LaunchOptions): string {
  return JSON.stringify({ ...input, secrets, allowed_secrets: Object.keys(secrets) });
}

export function engineInput(
  options: Pick<LaunchOptions, 'workflow' | 'step' | 'mode'> & {
    readonly flightId: string;
    readonly runIndex: number;
    readonly workspaceHash: string;
    readonly token?: string;
  },
): JsonObject {
  const { step, token } = options;
  return {
    protocol_version: PROTOCOL_VERSION,
    mode: options.mode,
    meta: { workflow_id: options.workflow.value.id, step_id: step.id },
    config: step.config ?? {},
    context: step.context ?? {},
    orchestrator: {
      run_index: options.runIndex,
      workspace_hash: options.workspaceHash,
      artifacts_salt: sha256(`${options.flightId}/${step.id}`),
    },
    ...(token === undefined ? {} : { expected_plan_token: token }),
  };
}

export function environment({ workflow, folders, mode }: LaunchPlace): Record<string, string> {
  return {
    PATH: `${SYSTEM_PATH}:${dirname(process.execPath)}`,
    HOME: folders.temp,
    LANG: 'C.UTF-8',
    CABINCREW_WORKSPACE: workflow.workspace,
    CABINCREW_ARTIFACTS_DIR: folders.artifacts,
    CABINCREW_TEMP_DIR: folders.temp,
    CABINCREW_MODE: mode,
  };
}

export function profileOf(options: LaunchPlace, network: Network = 'none'): Profile {
  if (options.isolation === 'none') return { kind: 'none' };
  const { workflow, folders, mode, engine } = options;
  const masked = options.hidden.filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined);
  const lib = engine.kind === 'builtin' ? [dirname(engine.file)] : [engine.file];
  if (mode === 'flight-plan')
    return {
      kind: 'bubblewrap',
      writable: [folders.artifacts, folders.temp],
      readonly: [...new Set([workflow.workspace, ...lib])],
      masked,
      network,
    };
  return {
    kind: 'bubblewrap',
    writable: [workflow.workspace, folders.temp],
    readonly: [...new Set([folders.artifacts, ...lib, ...governed(workflow)])],
    masked,
    network,
  };
}

/** Files that decide what later steps may do: a take-off must not rewrite them. */
function governed(workflow: LoadedWorkflow): readonly string[] {
  const named = workflow.value.steps.flatMap((step) => [
    ...(step.policies ?? []).flatMap((p) => (typeof p === 'string' ? [p] : 'path' in p ? [p.path] : [])),
    ...(step.rules ?? []),
    ...(step.models ?? []),
    ...(step.probe === undefined ? [] : [step.probe]),
    step.engine,
  ]);
  return [workflow.file, ...named.map((name) => join(workflow.folder, name))].filter(
    (path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** The human log, without what the step was given in confidence. */
export function keepLog(path: string, stderr: Uint8Array, secrets: Readonly<Record<string, string>>): void {
  const text = withoutSecrets(Buffer.from(stderr.subarray(0, 1024 * 1024)).toString('utf8'), secrets);
  if (text !== '') writeFileSync(path, text, { mode: 0o600 });
}

export function withoutSecrets(text: string, secrets: Readonly<Record<string, string>>): string {
  let out = text;
  for (const [name, value] of Object.entries(secrets))
    if (value.length >= 4) out = out.replaceAll(value, `[${name}]`);
  return redact(out).text;
}

function failed(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
