import { join } from 'node:path';
import type { Authority } from '../authority/index.ts';
import type { Digest, JsonObject } from '../core/index.ts';
import { type Artifact, readArtifacts } from './artifacts.ts';
import type { FlightDeps } from './deps.ts';
import {
  engineInput,
  type LaunchOptions,
  type LaunchPlace,
  type StepFolders,
  withoutSecrets,
} from './engine.ts';
import type { Connection } from './host-proxy.ts';
import type { JudgeBook } from './judges.ts';
import type { FlightLog } from './log.ts';
import type { Mode, Read, Receipt } from './protocol.ts';
import type { StepRecord } from './record.ts';
import type { Standby } from './standby.ts';
import type { LoadedWorkflow, ResolvedEngine, Step } from './workflow.ts';
import { workspaceHash } from './workspace-hash.ts';

/** One step and all that its stages need. */
export interface StepContext {
  readonly deps: FlightDeps;
  readonly workflow: LoadedWorkflow;
  readonly log: FlightLog;
  readonly authority: Authority;
  readonly judges: JudgeBook;
  readonly standby: Standby;
  readonly step: Step;
  readonly engine: ResolvedEngine;
}

/** Where a step will be, also before there is a log of its flight. */
export type StepPlace = Pick<StepContext, 'deps' | 'workflow' | 'step' | 'engine'> & {
  readonly log: Pick<FlightLog, 'paths'>;
};

/** A stage either moved the step on (an end included), or a person is needed. */
export type Moved = 'on' | 'waiting';

export function standing({ log, step }: Pick<StepContext, 'log' | 'step'>): StepRecord {
  return log.record.steps.find((s) => s.id === step.id) ?? { id: step.id, state: 'INIT' };
}

export function secretsOf({ deps, step }: StepContext): Record<string, string> {
  return Object.fromEntries((step.secrets ?? []).map((name) => [name, deps.env[name] ?? '']));
}

export function stepRoot({ log, step }: Pick<StepPlace, 'log' | 'step'>): string {
  return join(log.paths.steps, step.id);
}

export function isolationOf({
  workflow,
  step,
}: Pick<StepContext, 'workflow' | 'step'>): 'bubblewrap' | 'none' {
  return step.isolation ?? workflow.value.isolation ?? 'bubblewrap';
}

/** What counts as workspace was decided when the flight started: no take-off can blind the next step. */
export function workspaceNow({ deps, workflow, log }: StepContext): Digest {
  const { ignore } = log.record;
  const options = { folder: workflow.workspace, except: hiddenOf(deps) };
  return workspaceHash(ignore === undefined ? options : { ...options, ignore });
}

function hiddenOf(deps: FlightDeps): readonly string[] {
  return [deps.ledger.stateDir, ...(deps.hidden ?? [])];
}

/** What the plan left on disk, read and checked again against its receipt. */
export function plannedArtifacts(context: StepContext): Read<readonly Artifact[]> {
  return readArtifacts(join(stepRoot(context), 'artifacts'), standing(context).receipt?.artifacts ?? []);
}

/** Where this step's engine is launched. */
export function placeOf(context: StepPlace, mode: Mode, folders: StepFolders): LaunchPlace {
  const { deps, workflow, step, engine } = context;
  return { workflow, step, engine, mode, folders, hidden: hiddenOf(deps), isolation: isolationOf(context) };
}

/** A launch of this step's engine. `workspaceHash` and `token` are what it is told of them. */
export function launchOptions(
  context: StepContext,
  mode: Mode,
  folders: StepFolders,
  told: { readonly runIndex: number; readonly workspaceHash: string; readonly token?: string },
): LaunchOptions {
  const { deps, workflow, log, step } = context;
  return {
    ...placeOf(context, mode, folders),
    secrets: secretsOf(context),
    input: engineInput({ workflow, step, mode, flightId: log.record.flightId, ...told }),
    onConnection: connectionRecorder(context, mode),
    ...(deps.signal === undefined ? {} : { signal: deps.signal }),
  };
}

const MAX_CONNECTION_EVENTS = 200;

/** Who an engine talked to is on record; an engine that tries without end fills no disk. */
function connectionRecorder(context: StepContext, mode: Mode): (made: Connection) => void {
  let count = 0;
  return ({ host, port, address, refused }) => {
    if (++count > MAX_CONNECTION_EVENTS) return;
    const to = `${host}:${port}`;
    const more = count === MAX_CONNECTION_EVENTS ? '; further connections of this launch are not listed' : '';
    context.log.commit(
      [],
      [
        {
          event_type: refused === null ? 'network_connection' : 'network_refused',
          workflow_state: standing(context).state,
          severity: refused === null ? 'info' : 'warning',
          message: clean(context, `${refused === null ? `${to} at ${address}` : `${to}: ${refused}`}${more}`),
          workflow: { step_id: context.step.id, mode },
        },
      ],
    );
  };
}

/** Plans not made by a model say so; a step may name the model its plan comes from. */
export function modelOf(step: Step): string {
  const named = step.context?.model;
  return typeof named === 'string' && named !== '' ? named : 'none';
}

/** Text of others, fit for the record: bounded, whole characters, without secrets. */
export function clean(context: StepContext, text: string): string {
  return withoutSecrets(text.slice(0, 4000).toWellFormed(), secretsOf(context));
}

export function auditEngine(context: StepContext, receipt: Receipt): JsonObject {
  return {
    engine_id: clean(context, receipt.engine_id),
    receipt_id: clean(context, receipt.receipt_id),
    status: receipt.status,
    ...(receipt.error === undefined ? {} : { error: clean(context, receipt.error) }),
  };
}
