import { basename } from 'node:path';
import type { Authority } from '../authority/index.ts';
import { actionDigest, messageOf } from '../core/index.ts';
import type { Commanded, ShellAudit } from './audit.ts';
import { classify } from './classify/index.ts';
import { type Executed, type ExecuteOptions, executePipeline, resolvePipeline } from './execute.ts';
import { type Gate, passGate } from './gate/pass.ts';
import type { Anonymizer } from './process/anonymize.ts';
import { blank, processed, refusal, type Unrecorded } from './respond.ts';
import type { Classification, ShellAction, ShellRequest, ShellResponse } from './types.ts';

/**
 * The road of one command: classify → gate → execute → process → record.
 *
 * R1 No stage can be skipped, and none runs twice, but for Modify, which starts again at classify.
 * R2 What runs is the pipeline that was classified and, if it was RISKY, approved: the same words.
 * R3 Whatever happens, the command ends as a value and leaves exactly one record; without the record of the
 *    intent nothing runs, without the record of the end no output is handed out.
 */
export interface Road {
  readonly sessionId: string;
  readonly authority: Authority;
  readonly audit: ShellAudit;
  readonly anonymizer: Anonymizer | undefined;
  readonly execute: ExecuteOptions;
  readonly signal: AbortSignal | undefined;
}

export async function travel(road: Road, request: ShellRequest): Promise<ShellResponse> {
  const command = textOf(request?.command);
  if (command.trim() === '')
    return { ...blank(null, null), status: 'error', error: 'empty_command', audit_id: null };
  const reasoning = textOf(request.reasoning);
  const auditId = road.audit.nextId();
  const decided = await decide(road, command, reasoning);
  const { classification, gate } = decided;
  const entry: Commanded = {
    auditId,
    command,
    reasoning,
    classification,
    modifiedCommand: decided.command === command ? null : decided.command,
    environment: environmentOf(classification, decided.command),
  };
  let intentId: string | undefined;
  let response: Unrecorded;
  if (gate.kind === 'go') {
    const base = blank(classification.classification, actionOf(gate, entry));
    try {
      // The disk takes the intent while the start is made ready; nothing starts before it has.
      const intending = road.audit.intend({ ...entry, digest: actionDigest(gate.action) });
      const executed = await run(road, gate, decided.pipeline, entry, intending);
      intentId = await intending;
      response = processed(base, executed, road.anonymizer);
    } catch {
      response = { ...base, status: 'error', error: 'audit_failure' };
    }
  } else response = refusal(gate, classification.classification);
  try {
    await road.audit.record({ ...entry, response, userDecision: decisionOf(response.action) });
  } catch {
    const base = blank(classification.classification, response.action);
    return { ...base, status: 'error', error: 'audit_failure', audit_id: auditId };
  }
  if (intentId !== undefined)
    road.audit.settle(intentId, response.status === 'completed' ? 'done' : 'failed');
  return { ...response, audit_id: auditId };
}

interface Decided {
  readonly command: string;
  readonly classification: Classification;
  readonly pipeline: readonly (readonly string[])[];
  readonly gate: Exclude<Gate, { kind: 'modified' }>;
}

/** Classify and gate; what the person wrote instead goes the whole way from tier 0 again. */
async function decide(road: Road, command: string, reasoning: string): Promise<Decided> {
  let current = command;
  for (;;) {
    const classification = classify(current);
    const decided = (gate: Decided['gate'], pipeline: Decided['pipeline'] = []) => ({
      command: current,
      classification,
      pipeline,
      gate,
    });
    try {
      const words = classification.pipeline;
      const pipeline = words === null ? null : resolvePipeline(words, road.execute);
      const gate = await passGate(road.authority, {
        command: current,
        classification,
        reasoning,
        requester: road.sessionId,
        cwd: road.execute.cwd,
        pipeline,
        ...(road.signal ? { signal: road.signal } : {}),
      });
      if (gate.kind !== 'modified') return decided(gate, pipeline ?? []);
      current = gate.replacement;
    } catch (error) {
      // A gate that breaks is a closed gate.
      return decided({ kind: 'denied', abandoned: true, reason: messageOf(error) });
    }
  }
}

async function run(
  road: Road,
  gate: Extract<Gate, { kind: 'go' }>,
  pipeline: Decided['pipeline'],
  { environment }: Commanded,
  intending: Promise<unknown>,
): Promise<Executed> {
  try {
    return await executePipeline(gate.granted.writ, pipeline, road.execute, {
      isAzure: environment === 'azure',
      after: intending,
      signal: road.signal,
    });
  } catch (error) {
    return { kind: 'not_started', exitCode: 126, reason: messageOf(error), seconds: 0 };
  }
}

function actionOf(gate: Extract<Gate, { kind: 'go' }>, entry: Commanded): ShellAction {
  if (entry.modifiedCommand !== null) return 'user_modified';
  return gate.granted.approval === undefined ? 'auto_approved' : 'user_approved';
}

/** Callers are told strings by types only; what an agent sends may be anything. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value);
}

/** Programs that run the one named behind them: `timeout 5 az …` is Azure's affair too. */
const CARRIERS: ReadonlySet<string> = new Set('timeout nice ionice env nohup stdbuf setsid time'.split(' '));

function environmentOf(classification: Classification, command: string): 'local' | 'azure' {
  const stages = classification.pipeline ?? [command.trim().split(/\s+/, 16)];
  const isAzure = stages.some(([program = '', ...rest]) =>
    (CARRIERS.has(basename(program)) ? rest : [program]).some((word) => basename(word) === 'az'),
  );
  return isAzure ? 'azure' : 'local';
}

function decisionOf(action: ShellAction | null): string | null {
  switch (action) {
    case 'user_approved':
      return 'approve';
    case 'user_modified':
      return 'modify';
    case 'user_denied':
      return 'deny';
    case 'user_abandoned':
      return 'abandoned';
    case 'auto_approved':
    case null:
      return null;
  }
}
