import { existsSync, readFileSync } from 'node:fs';
import { createAuthority } from '../authority/index.ts';
import { CODES, EXIT, type ExitCode, invalid, messageOf, WritError } from '../core/index.ts';
import { lockFile } from '../ledger/index.ts';
import type { FlightDeps } from './deps.ts';
import { openEvents, readEvents } from './events.ts';
import { failFlight } from './fail.ts';
import { endAllLeftovers } from './interrupted.ts';
import { judgeBook } from './judges.ts';
import { type KnownFlight, readFlight } from './listing.ts';
import { type FlightLog, reopenLog, startLog } from './log.ts';
import { currentStep, type FlightRecord } from './record.ts';
import { openStandby, type Standby } from './standby.ts';
import { isEnd } from './states.ts';
import { advanceStep } from './step.ts';
import type { StepContext } from './step-context.ts';
import { coverEvents, damaged, flightPaths, makeFlightFolder } from './store.ts';
import { type LoadedWorkflow, loadWorkflow, readWorkflow, resolveEngine } from './workflow.ts';
import { readIgnore } from './workspace-hash.ts';

/**
 * A flight from its start to its end, or to where a person is needed.
 *
 * FL1 One process at a time holds a flight; what is on disk decides, never what somebody remembers.
 * FL2 It goes on from the last thing that is known to have happened.
 */
export interface FlightStatus {
  readonly flight_id: string;
  readonly workflow_id: string;
  readonly state: string;
  readonly steps: readonly {
    readonly id: string;
    readonly state: string;
    readonly decision: string | null;
    readonly plan_token: string | null;
    readonly approval_id: string | null;
  }[];
  readonly pending_approvals: readonly string[];
  readonly error: { readonly code: number; readonly message: string } | null;
}

export interface FlightAnswer {
  readonly status: FlightStatus;
  readonly exit: ExitCode;
}

export async function runFlight(deps: FlightDeps, workflowFile: string): Promise<FlightAnswer> {
  const workflow = loadWorkflow(workflowFile);
  checkSecrets(deps, workflow);
  const flightId = deps.ids.next('flt');
  const paths = flightPaths(deps.ledger.stateDir, flightId);
  makeFlightFolder(paths);
  const lock = await lockFile(paths.wal, 0);
  const standby = openStandby();
  try {
    const [step] = workflow.value.steps;
    const engine = step && resolveEngine(workflow.folder, step);
    if (engine) standby.prepareFirst({ deps, workflow, log: { paths }, step, engine });
    const first = {
      entry_type: 'workflow_started' as const,
      data: { plan_token_hash: '', initial_state: 'INIT' },
      detail: {
        flight_id: flightId,
        workflow_file: workflow.file,
        workflow_text: workflow.text,
        requester: deps.requester,
        ignore: readIgnore(workflow.workspace),
        steps: workflow.value.steps.map((s) => s.id),
      },
    };
    const message = `started by ${deps.requester}`;
    const event = { event_type: 'workflow_started', workflow_state: 'INIT' as const, message };
    const log = await startLog(deps, paths, workflow.value.id, flightId, first, [event]);
    return await fly(deps, workflow, log, standby);
  } finally {
    await standby.close();
    lock.release();
  }
}

export async function resumeFlight(deps: FlightDeps, flightId: string): Promise<FlightAnswer> {
  const paths = flightPaths(deps.ledger.stateDir, flightId);
  const lock = existsSync(paths.wal) ? await lockFile(paths.wal, 2000) : null;
  const standby = openStandby();
  try {
    const loaded = await loadOrHalt(deps, flightId);
    if (isEnd(loaded.record.state)) return await ended(deps, loaded);
    const workflow = storedWorkflow(loaded.record);
    checkSecrets(deps, workflow);
    const log = await reopenLog(deps, loaded);
    await endAllLeftovers(log);
    return await fly(deps, workflow, log, standby);
  } finally {
    await standby.close();
    lock?.release();
  }
}

/** Nothing is left to do, but perhaps to write: a crash at the very end may have kept events or the list behind. */
async function ended(deps: FlightDeps, flight: KnownFlight): Promise<FlightAnswer> {
  const { leftovers, listed, told, wal, record } = flight;
  if (leftovers.length > 0 || !listed || told < wal.entries.length)
    await (await reopenLog(deps, flight)).close();
  return answerOf(record);
}

/** The workflow as it was stored; what changed or went since is an integrity error, not a new plan. */
function storedWorkflow(record: FlightRecord): LoadedWorkflow {
  const { workflowFile: file, workflowText: text } = record;
  if (!existsSync(file)) throw damaged(record.flightId, `${file} is gone`);
  if (readFileSync(file, 'utf8') !== text)
    throw damaged(
      record.flightId,
      `${file} has changed since the flight started: put it back, or start a new flight`,
    );
  try {
    return readWorkflow(file, text);
  } catch (error) {
    // It was whole when the flight started: something it names is gone.
    throw damaged(record.flightId, messageOf(error));
  }
}

/** Damage is recorded where that is still possible, and stops everything. */
export async function loadOrHalt(deps: FlightDeps, flightId: string) {
  try {
    return await readFlight(deps.ledger, flightId);
  } catch (error) {
    if (error instanceof WritError && error.code === CODES.integrity_broken)
      await recordHalt(deps, flightId, error.message);
    throw error;
  }
}

async function recordHalt(deps: FlightDeps, flightId: string, what: string): Promise<void> {
  const paths = flightPaths(deps.ledger.stateDir, flightId);
  const read = existsSync(paths.events) ? readEvents(paths.events, deps.ledger.trustedKeys) : null;
  if (read !== null && read.bad === null) {
    const last = read.events.at(-1)?.workflow as { readonly workflow_id?: string } | undefined;
    const { clock, ledger } = deps;
    const events = openEvents({
      path: paths.events,
      flightId,
      workflowId: last?.workflow_id ?? '',
      clock,
      signer: ledger.signer,
      from: read,
    });
    events.append(
      [{ event_type: 'integrity_halt', workflow_state: 'FAILED', severity: 'critical', message: what }],
      read.walCount,
    );
    events.flush(true);
    events.close();
    const { count, head } = events;
    coverEvents(paths, { count, head, digest: events.digest() }, ledger.trustedKeys, ledger.signer);
  }
  // The flight's own files may be what is damaged: the ledger keeps it too.
  const journal = await deps.ledger.openJournal({
    path: `${deps.ledger.stateDir}/ledger/flights.jsonl`,
    lockWaitMs: 5000,
  });
  await journal.append({ type: 'flight.halted', flight_id: flightId, severity: 'critical', message: what });
  await journal.close();
}

async function fly(
  deps: FlightDeps,
  workflow: LoadedWorkflow,
  log: FlightLog,
  standby: Standby,
): Promise<FlightAnswer> {
  try {
    const authority = createAuthority({ clock: deps.clock, ids: deps.ids, queue: deps.queue });
    const judges = judgeBook(workflow.folder);
    for (;;) {
      const current = currentStep(log.record);
      if (current === undefined) {
        complete(log);
        return answerOf(log.record);
      }
      const step = workflow.value.steps.find((s) => s.id === current.id);
      if (step === undefined)
        throw damaged(log.record.flightId, `there is no step ${current.id} in the workflow`);
      const engine = resolveEngine(workflow.folder, step);
      if (engine === undefined) {
        const message = `step ${step.id}: engine ${step.engine} is gone`;
        const error = { code: CODES.integrity_broken, message, exit: EXIT.integrity };
        failFlight(log, step.id, error, { severity: 'critical' });
        return answerOf(log.record);
      }
      const context: StepContext = { deps, workflow, log, authority, judges, standby, step, engine };
      const went = await settled(context, () => advanceStep(context));
      if (went === 'waiting' || isEnd(log.record.state)) return answerOf(log.record);
    }
  } finally {
    await log.close();
  }
}

/** What a broken environment throws inside a step is written down before it is told. */
async function settled(
  context: StepContext,
  work: () => Promise<'on' | 'waiting'>,
): Promise<'on' | 'waiting'> {
  try {
    return await work();
  } catch (error) {
    if (isEnd(context.log.record.state)) throw error;
    const code = error instanceof WritError ? error.code : CODES.tool_failed;
    const exit = error instanceof WritError ? error.exit : EXIT.failed;
    const { id } = context.step;
    failFlight(context.log, id, { code, message: `step ${id}: ${messageOf(error)}`, exit });
    return 'on';
  }
}

function complete(log: FlightLog): void {
  const { record } = log;
  const artifacts = record.steps.flatMap((s) => s.token?.artifacts.map((a) => `${s.id}/${a.name}`) ?? []);
  log.commit(
    [{ entry_type: 'workflow_completed', data: { final_state: 'COMPLETED', artifacts } }],
    [
      {
        event_type: 'workflow_completed',
        workflow_state: 'COMPLETED',
        message: `${record.steps.length} steps completed`,
      },
    ],
  );
}

function checkSecrets(deps: FlightDeps, workflow: LoadedWorkflow): void {
  for (const step of workflow.value.steps)
    for (const name of step.secrets ?? [])
      if (deps.env[name] === undefined)
        throw invalid(
          CODES.invalid_plan,
          { file: workflow.file },
          `step ${step.id} needs the secret ${name}, which is not set`,
          `export ${name}=… before running`,
        );
}

export function statusOf(record: FlightRecord): FlightStatus {
  return {
    flight_id: record.flightId,
    workflow_id: record.workflowId,
    state: record.state,
    steps: record.steps.map((s) => ({
      id: s.id,
      state: s.state,
      decision: s.decision ?? null,
      plan_token: s.token?.token ?? null,
      approval_id: s.approval_id || null,
    })),
    pending_approvals: record.steps.flatMap((s) =>
      s.state === 'AWAITING_APPROVAL' && s.approval_id ? [s.approval_id] : [],
    ),
    error:
      record.error === null
        ? unknownNote(record)
        : { code: record.error.code, message: record.error.message },
  };
}

/** A take-off nobody knows the end of is told as what it is. */
function unknownNote(record: FlightRecord): FlightStatus['error'] {
  const step = record.steps.find((s) => s.state === 'TAKEOFF_RUNNING' && s.unknown === true);
  if (step === undefined) return null;
  return {
    code: CODES.tool_failed,
    message: `it is not known whether the take-off of step ${step.id} happened: look, then writ flight settle ${record.flightId} ${step.id} --outcome done|not-done --as NAME --reason TEXT`,
  };
}

export function answerOf(record: FlightRecord): FlightAnswer {
  return { status: statusOf(record), exit: exitOf(record) };
}

function exitOf(record: FlightRecord): ExitCode {
  if (record.state === 'COMPLETED') return EXIT.ok;
  if (record.state !== 'FAILED') return EXIT.waiting;
  return (record.error?.exit as ExitCode | undefined) ?? EXIT.failed;
}
