import { type Authority, type Authorization, createAuthority, type Evaluator } from '../authority/index.ts';
import {
  type Action,
  type Approver,
  actionDigest,
  type Clock,
  digestOf,
  type Ids,
  messageOf,
  type Redacted,
  type Verdict,
} from '../core/index.ts';
import { redact } from '../redact/index.ts';
import { type OpenShellJournal, openShellAudit, type ShellAudit } from './audit.ts';
import { classify } from './classify/index.ts';
import { type Executed, type ExecuteOptions, executePipeline, resolvePipeline } from './execute.ts';
import { type Anonymizer, createAnonymizer } from './process/anonymize.ts';
import { emptyMetadata, processOutput, processStderr } from './process/process.ts';
import type {
  Classification,
  Shell,
  ShellAction,
  ShellClass,
  ShellError,
  ShellRequest,
  ShellResponse,
} from './types.ts';

export interface ShellOptions {
  readonly sessionId: string;
  readonly auditDir: string;
  readonly openJournal: OpenShellJournal;
  readonly approver: Approver;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly cwd: string;
  readonly authority?: Authority;
  readonly programPath?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly anonymize?: boolean;
  readonly timeoutMs?: number;
  readonly azTimeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly approverTimeoutMs?: number;
  /** Stops what is running and everything after. */
  readonly signal?: AbortSignal;
}

/** A shell that can be closed; rooms that only use it see `Shell`. */
export interface OwnedShell extends Shell {
  close(): Promise<void>;
}

interface Road {
  readonly options: ShellOptions;
  readonly execute: ExecuteOptions;
  readonly authority: Authority;
  readonly audit: ShellAudit;
  readonly anonymizer: Anonymizer | undefined;
}

const none = redact('').text;
const NOT_EXECUTABLE =
  'Writ starts programs, never a shell: write one command without chaining, substitution or redirection.';

/** Rules in force, for what an approval is bound to. The classifier's tables are part of the program. */
const POLICY_DIGEST = digestOf({ policy: 'safe-exec-shell', version: 1 });

export async function createShell(options: ShellOptions): Promise<OwnedShell> {
  const audit = await openShellAudit({
    sessionId: options.sessionId,
    auditDir: options.auditDir,
    clock: options.clock,
    open: options.openJournal,
  });
  const road: Road = {
    options,
    audit,
    authority:
      options.authority ??
      createAuthority({
        clock: options.clock,
        ids: options.ids,
        approver: options.approver,
        ...(options.approverTimeoutMs === undefined ? {} : { approverTimeoutMs: options.approverTimeoutMs }),
      }),
    anonymizer: options.anonymize ? createAnonymizer() : undefined,
    execute: {
      cwd: options.cwd,
      programPath: options.programPath ?? [],
      env: options.env ?? {},
      timeoutMs: options.timeoutMs ?? 30_000,
      azTimeoutMs: options.azTimeoutMs ?? 120_000,
      maxOutputBytes: options.maxOutputBytes ?? 10 * 1024 * 1024,
    },
  };
  // One command at a time: callers queue.
  let queue: Promise<unknown> = Promise.resolve();
  return {
    sessionId: options.sessionId,
    execute: (request) => {
      const answer = queue.then(() => travel(road, request));
      queue = answer.catch(() => undefined);
      return answer;
    },
    close: async () => {
      await queue;
      await audit.close();
    },
  };
}

type Unrecorded = Omit<ShellResponse, 'audit_id'>;

/** classify → gate → execute → process → record. Whatever happens in between ends as a value with a record. */
async function travel(road: Road, request: ShellRequest): Promise<ShellResponse> {
  const command = String(request.command ?? '');
  if (command.trim() === '')
    return { ...blank(null, null), status: 'error', error: 'empty_command', audit_id: null };
  const auditId = road.audit.nextId();
  let current = command;
  let modified: string | null = null;
  let classification = classify(current);
  let gate: Gate;
  for (;;) {
    gate = await passGate(road, current, classification, request.reasoning);
    if (gate.kind !== 'modified') break;
    // What the person wrote instead goes the whole road from tier 0 again.
    current = gate.replacement;
    modified = current;
    classification = classify(current);
  }
  const entry = {
    command,
    reasoning: String(request.reasoning ?? ''),
    classification,
    auditId,
    modifiedCommand: modified,
    environment: environmentOf(classification, current),
  };
  const response =
    gate.kind === 'go'
      ? await perform(road, gate, classification, current, auditId, modified !== null)
      : refusal(gate, classification);
  try {
    await road.audit.record({ ...entry, response, userDecision: decisionOf(response.action) });
  } catch {
    // The effect may have happened; without its record the output is not handed out.
    return {
      ...blank(classification.classification, response.action),
      status: 'error',
      error: 'audit_failure',
      audit_id: auditId,
    };
  }
  return { ...response, audit_id: auditId };
}

type Gate =
  | {
      readonly kind: 'go';
      readonly authorization: Extract<Authorization, { outcome: 'granted' }>;
      readonly action: Action;
      readonly pipeline: readonly (readonly string[])[];
    }
  | { readonly kind: 'modified'; readonly replacement: string }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'not_executable' }
  | { readonly kind: 'denied'; readonly abandoned: boolean; readonly reason: string };

const verdicts: Record<ShellClass, Verdict> = { SAFE: 'allow', RISKY: 'require_approval', FORBIDDEN: 'deny' };

async function passGate(
  road: Road,
  command: string,
  classification: Classification,
  reasoning: string,
): Promise<Gate> {
  if (classification.classification === 'FORBIDDEN') return { kind: 'forbidden' };
  // Asking about something that cannot be run as written would waste the person's yes.
  if (classification.pipeline === null) return { kind: 'not_executable' };
  const pipeline = resolvePipeline(classification.pipeline, road.execute);
  const action: Action = {
    kind: 'shell.command',
    subject: command,
    detail: { pipeline: pipeline.map((argv) => [...argv]), cwd: road.execute.cwd },
  };
  const evaluator: Evaluator = {
    name: 'shell.classifier',
    evaluate: () => ({
      evaluator: 'shell.classifier',
      verdict: verdicts[classification.classification],
      rule: `tier${classification.tier}:${classification.rule}`,
      reason: classification.reason,
    }),
  };
  const authorization = await road.authority.authorize({
    action,
    evaluators: [evaluator],
    reasoning,
    requester: road.options.sessionId,
    policyDigest: POLICY_DIGEST,
    whenApprovalNeeded: 'ask',
    modifiable: true,
    subject: { kind: 'shell' },
    ...(road.options.signal ? { signal: road.options.signal } : {}),
  });
  switch (authorization.outcome) {
    case 'granted':
      return { kind: 'go', authorization, action, pipeline };
    case 'modified':
      return { kind: 'modified', replacement: authorization.replacement };
    case 'denied':
      return { kind: 'denied', abandoned: authorization.by !== 'person', reason: authorization.reason };
    case 'waiting':
      return { kind: 'denied', abandoned: true, reason: 'nobody was there to answer' };
  }
}

async function perform(
  road: Road,
  gate: Extract<Gate, { kind: 'go' }>,
  classification: Classification,
  command: string,
  auditId: string,
  modified: boolean,
): Promise<Unrecorded> {
  const action: ShellAction = modified
    ? 'user_modified'
    : gate.authorization.approval
      ? 'user_approved'
      : 'auto_approved';
  const base = blank(classification.classification, action);
  let intentId: string;
  try {
    intentId = await road.audit.intend({ auditId, command, digest: actionDigest(gate.action) });
  } catch {
    return { ...base, status: 'error', error: 'audit_failure' };
  }
  let executed: Executed;
  try {
    executed = await executePipeline(
      gate.authorization.writ,
      gate.pipeline,
      environmentOf(classification, command) === 'azure',
      road.execute,
      road.options.signal,
    );
  } catch (error) {
    executed = { kind: 'not_started', exitCode: 126, reason: messageOf(error), seconds: 0 };
  }
  await road.audit.settle(intentId, executed.kind === 'exited' ? 'done' : 'failed').catch(() => undefined);
  return processed(road, base, executed);
}

function processed(road: Road, base: Unrecorded, executed: Executed): Unrecorded {
  if (executed.kind === 'not_started') {
    return {
      ...base,
      status: 'completed',
      exit_code: executed.exitCode,
      stderr: redact(executed.reason).text,
      duration_seconds: executed.seconds,
    };
  }
  try {
    const { output } = executed;
    const out = processOutput(output.stdout, output.stdoutBytes, road.anonymizer);
    const err = processStderr(output.stderr);
    const categories = [...new Set([...out.metadata.redaction_categories, ...err.categories])].sort();
    return {
      ...base,
      status: executed.kind === 'timeout' ? 'error' : 'completed',
      error: executed.kind === 'timeout' ? 'timeout' : null,
      exit_code: executed.kind === 'timeout' ? null : executed.exitCode,
      output: out.text,
      stderr: err.text,
      duration_seconds: executed.seconds,
      output_metadata: {
        ...out.metadata,
        redaction_count: out.metadata.redaction_count + err.count,
        redactions_applied: categories.length > 0,
        redaction_categories: categories,
      },
    };
  } catch {
    return { ...base, status: 'error', error: 'redaction_failure', duration_seconds: executed.seconds };
  }
}

function refusal(
  gate: Exclude<Gate, { kind: 'go' | 'modified' }>,
  { classification }: Classification,
): Unrecorded {
  switch (gate.kind) {
    case 'forbidden':
      return { ...blank(classification, null), status: 'error', error: 'forbidden_command' };
    case 'not_executable':
      return {
        ...blank(classification, 'user_abandoned'),
        status: 'denied',
        error: 'not_executable',
        stderr: redact(NOT_EXECUTABLE).text,
      };
    case 'denied': {
      const reason: Redacted = redact(gate.reason).text;
      return {
        ...blank(classification, gate.abandoned ? 'user_abandoned' : 'user_denied'),
        status: 'denied',
        denial_reason: reason === '' ? null : reason,
      };
    }
  }
}

function blank(classification: ShellClass | null, action: ShellAction | null): Unrecorded {
  return {
    status: 'completed',
    classification,
    action,
    output: none,
    stderr: none,
    exit_code: null,
    error: null satisfies ShellError | null,
    duration_seconds: null,
    output_metadata: emptyMetadata,
    denial_reason: null,
  };
}

function environmentOf(classification: Classification, command: string): 'local' | 'azure' {
  const program = classification.pipeline?.[0]?.[0] ?? command.trimStart().split(/\s/, 1)[0] ?? '';
  return /(^|\/)az$/.test(program) ? 'azure' : 'local';
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
